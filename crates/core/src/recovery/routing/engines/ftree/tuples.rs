//! The place of every switch among those of its rank: OpenSM's index.
//!
//! A switch gets a tuple of its rank and one digit a level. The first leaf has zeros; every neighbour of a switch that has
//! a tuple takes it over and changes the digit of the level the cable crosses to the first value that is free. Switches
//! below one parent end up beside each other, which is what makes neighbouring destinations leave by different cables.

use std::collections::BTreeSet;

use super::rank::Part;
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;

/// Rank, then the digit of each level.
pub type Tuple = [u32; 9];

/// The digit of the cables between switches of two ranks, at most one apart.
#[must_use]
pub fn digit_between(one: u32, other: u32) -> usize {
    one.max(other).max(1) as usize
}

/// The switches of `part` in the order of their tuples: by rank, then digits.
///
/// # Complexity
/// Linear in channels, and for each switch in how many values of its digit are taken.
#[must_use]
pub fn in_tuple_order(
    graph: &SwitchGraph<'_>,
    part: &Part,
    rank: &[u32],
) -> Vec<(SwitchId, Tuple)> {
    let is_leaf = |switch: &&SwitchId| rank[switch.index()] == part.leaf_rank;
    let first = part.switches.iter().find(is_leaf).copied().unwrap_or(part.switches[0]);
    let mut tuple: Vec<Option<Tuple>> = vec![None; graph.switch_count()];
    let mut start = [0; 9];
    start[0] = rank[first.index()];
    tuple[first.index()] = Some(start);
    let mut taken = BTreeSet::from([start]);
    let mut queue = vec![(first, start)];
    let mut front = 0;
    while let Some(&(switch, known)) = queue.get(front) {
        front += 1;
        for &head in graph.heads(switch) {
            if tuple[head.index()].is_some() {
                continue;
            }
            let mut new = known;
            new[0] = rank[head.index()];
            let digit = digit_between(known[0], new[0]);
            new[digit] = 0;
            while !taken.insert(new) {
                new[digit] += 1;
            }
            tuple[head.index()] = Some(new);
            queue.push((head, new));
        }
    }
    queue.sort_unstable_by_key(|&(_, tuple)| tuple);
    queue
}
