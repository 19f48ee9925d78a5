//! Cables by the two switches they join, with the number of routes that go up and down each.

use super::rank::Part;
use super::tuples::{self, Tuple};
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::Refusal;

/// All cables between two neighbouring switches, and how many routes use them.
#[derive(Clone, Debug)]
pub struct Group {
    /// The switch of lower rank, nearer to the roots; of two of one rank either.
    pub upper: SwitchId,
    /// The other switch.
    pub lower: SwitchId,
    /// Routes from `lower` to `upper`.
    pub up: u32,
    /// Routes from `upper` to `lower`.
    pub down: u32,
    /// The cables, by the port at the switch that was looked at first.
    pub cables: Vec<Cable>,
}

/// One cable of a group.
#[derive(Clone, Copy, Debug)]
pub struct Cable {
    /// Its port at the upper switch.
    pub upper_port: u8,
    /// Its port at the lower switch.
    pub lower_port: u8,
    /// Routes that go up.
    pub up: u32,
    /// Routes that go down.
    pub down: u32,
}

/// A neighbour and the group that leads to it.
pub type Way = (SwitchId, u32);

/// The groups of every switch, neighbours in order.
#[derive(Clone, Debug)]
pub struct Groups {
    /// All groups.
    pub all: Vec<Group>,
    /// Of each switch, those to switches of lower rank.
    pub above: Vec<Vec<Way>>,
    /// Of each switch, those to switches of higher rank.
    pub below: Vec<Vec<Way>>,
    /// Of each switch, those to switches of its own rank.
    pub beside: Vec<Vec<Way>>,
}

impl Groups {
    /// The groups between ranked switches, given `order`, all of them in tuple order, and their tuples.
    ///
    /// Neighbours stand in tuple order too; `by_digit`: in the order of the digit that cables to them change, which is
    /// the same if ports are numbered alike everywhere, and better if not: only this digit is sure to agree between the
    /// branches of a tree.
    #[must_use]
    pub fn new(
        graph: &SwitchGraph<'_>,
        rank: &[u32],
        order: &[(SwitchId, Tuple)],
        by_digit: bool,
    ) -> Self {
        let machine = graph.machine();
        let [above, below, beside] = [(); 3].map(|()| vec![Vec::new(); graph.switch_count()]);
        let mut groups = Groups { all: Vec::new(), above, below, beside };
        let mut place = vec![0u32; graph.switch_count()];
        for (new, (switch, _)) in order.iter().enumerate() {
            place[switch.index()] = new as u32;
        }
        for &(switch, _) in order {
            let own_rank = rank[switch.index()];
            let mut group_of: Vec<Way> = Vec::new();
            for (channel, head) in graph.neighbours(switch) {
                let head_rank = rank[head.index()];
                // Each group is made at its upper end, or, between equals, at the one that comes first.
                if (head_rank, place[head.index()]) < (own_rank, place[switch.index()]) {
                    continue;
                }
                let number = match group_of.iter().find(|(known, _)| *known == head) {
                    Some(&(_, number)) => number,
                    None => {
                        let number = groups.all.len() as u32;
                        group_of.push((head, number));
                        groups.join(switch, head, own_rank == head_rank);
                        number
                    }
                };
                let [upper, lower] = [machine.tail(channel), machine.head(channel)];
                groups.all[number as usize].cables.push(Cable {
                    upper_port: upper.port,
                    lower_port: lower.port,
                    up: 0,
                    down: 0,
                });
            }
        }
        for list in [&mut groups.above, &mut groups.below, &mut groups.beside] {
            for &(switch, own) in order {
                list[switch.index()].sort_by_key(|(head, _)| {
                    let place = place[head.index()];
                    let tuple = order[place as usize].1;
                    let digit = tuple[tuples::digit_between(own[0], tuple[0])];
                    (if by_digit { digit } else { 0 }, place)
                });
            }
        }
        groups
    }

    fn join(&mut self, upper: SwitchId, lower: SwitchId, equals: bool) {
        let number = self.all.len() as u32;
        self.all.push(Group { upper, lower, up: 0, down: 0, cables: Vec::new() });
        let [of_upper, of_lower] = [(upper, (lower, number)), (lower, (upper, number))];
        if equals {
            self.beside[of_upper.0.index()].push(of_upper.1);
            self.beside[of_lower.0.index()].push(of_lower.1);
        } else {
            self.below[of_upper.0.index()].push(of_upper.1);
            self.above[of_lower.0.index()].push(of_lower.1);
        }
    }

    /// Whether switches of one rank look alike: as many neighbours above, as many below unless they are leaves, and as
    /// many cables to each.
    ///
    /// # Errors
    /// The first switch that differs from the first of its rank.
    pub fn purity(&self, part: &Part, rank: &[u32]) -> Result<(), Refusal> {
        let mut models: Vec<Option<[(usize, usize); 2]>> = Vec::new();
        for &switch in &part.switches {
            let own = rank[switch.index()];
            let mut sides = [&self.above, &self.below].map(|ways| self.cable_counts(ways, switch));
            if own >= part.leaf_rank {
                sides[1].clear();
            }
            models.resize(models.len().max(own as usize + 1), None);
            let model = models[own as usize].get_or_insert_with(|| {
                [0, 1].map(|side| (sides[side].len(), sides[side].first().copied().unwrap_or(0)))
            });
            for (side, (cables, (neighbours, each))) in sides.iter().zip(*model).enumerate() {
                let place = ["above", "below"][side];
                let odd = cables.iter().find(|&&count| count != each);
                let reason = if cables.len() != neighbours {
                    format!(
                        "this switch has {} neighbours {place} it, the first of rank {own} has \
                         {neighbours}",
                        cables.len()
                    )
                } else if let Some(odd) = odd {
                    format!(
                        "this switch has {odd} cables to a neighbour {place} it, the first of rank \
                         {own} has {each}"
                    )
                } else {
                    continue;
                };
                let reason = format!("{reason}; give roots to route a tree that is not even");
                return Err(Refusal { reason, switch: Some(switch) });
            }
        }
        Ok(())
    }

    /// Cables to each neighbour of `switch` on one side.
    fn cable_counts(&self, ways: &[Vec<Way>], switch: SwitchId) -> Vec<usize> {
        let ways = ways[switch.index()].iter();
        ways.map(|&(_, group)| self.all[group as usize].cables.len()).collect()
    }
}
