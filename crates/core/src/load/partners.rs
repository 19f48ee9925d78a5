//! Who sends to whom.
//!
//! Partners are kept as distances in ranks, and ranks whose partners are at the same distances share them: the ranks inside of a
//! stencil all do. Where there are few distances, partners at the same distance have the same number, also at the edges, so
//! that what ranks that move together do to their messages is seen number by number.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::Rank;
use crate::traffic::Traffic;

/// Who sends to whom, by rank; messages to oneself cross no channel and are left out.
#[derive(Clone, Debug)]
pub struct Partners {
    ranks: usize,
    pub(super) targets: Neighbours,
    /// `None`: they are the same ranks as the targets, for each rank.
    pub(super) sources: Option<Neighbours>,
}

/// The partners of each rank.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// By rank: its row.
    row: Vec<u32>,
    /// By row: distances, modulo 2^32; [`NONE`] where a rank has no partner of that number.
    rows: Vec<Box<[u32]>>,
}

/// Further than any rank.
const NONE: u32 = 1 << 31;

impl Partners {
    /// Those of a traffic; sizes do not matter, every message counts as one.
    #[must_use]
    pub fn new(traffic: &Traffic) -> Self {
        let messages = traffic.messages.iter().filter(|one| one.source != one.target);
        let mut sent: Vec<_> = messages.map(|one| (one.source.0, one.target.0)).collect();
        let mut received: Vec<_> = sent.iter().map(|&(source, target)| (target, source)).collect();
        sent.sort_unstable();
        received.sort_unstable();
        let sources = (sent != received).then(|| Neighbours::new(traffic.ranks, &received));
        let ranks = traffic.ranks as usize;
        Partners { ranks, targets: Neighbours::new(traffic.ranks, &sent), sources }
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Ranks that a rank sends to, in order.
    pub fn targets(&self, rank: Rank) -> impl Iterator<Item = Rank> + '_ {
        let partners = self.targets.of(rank.index());
        partners.filter(|&target| target < self.ranks).map(|target| Rank(target as u32))
    }
}

impl Neighbours {
    /// Distances between partners up to which each has its own number.
    const DISTANCES_MAX: usize = 64;

    /// Of ordered pairs.
    fn new(ranks: u32, pairs: &[(u32, u32)]) -> Self {
        let distance = |pair: &(u32, u32)| i64::from(pair.1) - i64::from(pair.0);
        let numbers = numbers(pairs.iter().map(distance), Self::DISTANCES_MAX);
        // One that sends twice to another has two partners at one distance.
        let once = pairs.is_sorted_by(|one, next| one < next);
        let numbers = numbers.filter(|_| once);
        let mut made = Neighbours { row: Vec::new(), rows: Vec::new() };
        let mut known = BTreeMap::new();
        let mut rest = pairs;
        for rank in 0..ranks {
            let (own, others) = rest.split_at(rest.partition_point(|pair| pair.0 == rank));
            rest = others;
            let row: Box<[u32]> = match &numbers {
                None => own.iter().map(|pair| distance(pair) as u32).collect(),
                Some(numbers) => {
                    let mut row = vec![NONE; numbers.len()].into_boxed_slice();
                    for pair in own {
                        row[numbers.partition_point(|&one| one < distance(pair))] =
                            distance(pair) as u32;
                    }
                    row
                }
            };
            let row = *known.entry(row).or_insert_with_key(|row| {
                made.rows.push(row.clone());
                made.rows.len() as u32 - 1
            });
            made.row.push(row);
        }
        made
    }

    /// The partners of a rank, by number; more than there are ranks where it has none.
    #[inline(always)]
    pub(super) fn of(&self, rank: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let distances = &self.rows[self.row[rank] as usize];
        distances.iter().map(move |distance| (rank as u32).wrapping_add(*distance) as usize)
    }
}

/// All distances there are in order, unless there are too many.
fn numbers(distances: impl Iterator<Item = i64>, most: usize) -> Option<Vec<i64>> {
    let mut all = BTreeSet::new();
    for distance in distances {
        if all.insert(distance) && all.len() > most {
            return None;
        }
    }
    Some(all.into_iter().collect())
}
