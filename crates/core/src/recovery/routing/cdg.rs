//! The channel dependency graph of one virtual lane.
//!
//! Its vertices are the usable switch-switch channels; there is an arc from `c` to `d` if some route of the lane takes `d`
//! right after `c`. Routes of a lane cannot deadlock if the graph has no cycle (Dally and Seitz 1987); with static routes a
//! cycle is a proof that buffers can wait for each other in a ring. Channels to and from nodes are left out: they end or
//! begin every route, so no cycle goes through them.

use crate::ids::{ChannelId, SwitchId};
use crate::machine::SwitchGraph;

/// Dependencies as one bit row a channel, over the channels that leave its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cdg {
    /// First word of each row, by channel; channels that are not usable have none.
    row: Vec<u32>,
    bits: Vec<u64>,
}

const NO_ROW: u32 = u32::MAX;

impl Cdg {
    /// The graph without dependencies.
    #[must_use]
    pub fn new(graph: &SwitchGraph<'_>) -> Self {
        let mut row = vec![NO_ROW; graph.machine().channel_count()];
        let mut words = 0usize;
        for switch in (0..graph.switch_count() as u32).map(SwitchId) {
            for (channel, head) in graph.neighbours(switch) {
                row[channel.index()] = words as u32;
                words += graph.channels(head).len().div_ceil(64);
            }
        }
        Cdg { row, bits: vec![0; words] }
    }

    /// Adds "`after` right after `before`". `after` leaves the switch at which `before` arrives.
    #[inline]
    pub fn add(&mut self, graph: &SwitchGraph<'_>, before: ChannelId, after: ChannelId) {
        debug_assert_eq!(graph.machine().tail(after).vertex, graph.machine().head(before).vertex);
        let position = graph.position(after);
        self.bits[self.row[before.index()] as usize + position / 64] |= 1 << (position % 64);
    }

    /// Adds all dependencies of `other`.
    pub fn merge(&mut self, other: &Cdg) {
        for (word, more) in self.bits.iter_mut().zip(&other.bits) {
            *word |= more;
        }
    }

    /// Channels that routes take right after `channel`, in port order.
    pub fn after<'g>(
        &'g self,
        graph: &'g SwitchGraph<'_>,
        channel: ChannelId,
    ) -> impl Iterator<Item = ChannelId> + 'g {
        let head = SwitchId(graph.machine().head(channel).vertex.0);
        let row = self.row[channel.index()] as usize;
        graph.channels(head).iter().enumerate().filter_map(move |(position, &next)| {
            (self.bits[row + position / 64] >> (position % 64) & 1 == 1).then_some(next)
        })
    }

    /// Number of dependencies.
    #[must_use]
    pub fn dependency_count(&self) -> u64 {
        self.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// A cycle, if there is one: each channel is followed by the next, the last by the first.
    ///
    /// Depth-first search finds one; the answer is the shortest through any channel of it, since that is what a person
    /// can follow on the floor.
    ///
    /// # Complexity
    /// Linear in dependencies, times the length of the cycle first found (at most 64).
    #[must_use]
    pub fn cycle(&self, graph: &SwitchGraph<'_>) -> Option<Vec<ChannelId>> {
        let found = self.some_cycle(graph)?;
        let shortest = found
            .iter()
            .take(MOST_TRIED)
            .filter_map(|&channel| self.shortest_cycle_through(graph, channel))
            .min_by_key(Vec::len);
        Some(shortest.unwrap_or(found))
    }

    fn some_cycle(&self, graph: &SwitchGraph<'_>) -> Option<Vec<ChannelId>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnPath,
            Done,
        }
        let mut mark = vec![Mark::New; self.row.len()];
        for start in (0..self.row.len()).filter(|&channel| self.row[channel] != NO_ROW) {
            if mark[start] != Mark::New {
                continue;
            }
            let start = ChannelId::from_index(start);
            mark[start.index()] = Mark::OnPath;
            let mut path = vec![(start, self.after(graph, start))];
            while let Some((channel, successors)) = path.last_mut() {
                match successors.next() {
                    Some(next) if mark[next.index()] == Mark::New => {
                        mark[next.index()] = Mark::OnPath;
                        path.push((next, self.after(graph, next)));
                    }
                    Some(next) if mark[next.index()] == Mark::OnPath => {
                        let from = path.iter().position(|(channel, _)| *channel == next)?;
                        return Some(path[from..].iter().map(|(channel, _)| *channel).collect());
                    }
                    Some(_) => {}
                    None => {
                        mark[channel.index()] = Mark::Done;
                        path.pop();
                    }
                }
            }
        }
        None
    }

    fn shortest_cycle_through(
        &self,
        graph: &SwitchGraph<'_>,
        start: ChannelId,
    ) -> Option<Vec<ChannelId>> {
        let mut before = vec![u32::MAX; self.row.len()];
        let mut queue = vec![start];
        let mut front = 0;
        while let Some(&channel) = queue.get(front) {
            front += 1;
            for next in self.after(graph, channel) {
                if next == start {
                    let mut cycle = vec![channel];
                    while cycle.last() != Some(&start) {
                        let last = cycle.last()?.index();
                        cycle.push(ChannelId(before[last]));
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if before[next.index()] == u32::MAX {
                    before[next.index()] = channel.0;
                    queue.push(next);
                }
            }
        }
        None
    }
}

/// Channels of the first cycle from which a shorter one is looked for.
const MOST_TRIED: usize = 64;
