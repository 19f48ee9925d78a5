//! The channel dependency graph.
//!
//! Its vertices are the lanes of the usable switch-switch channels; there is an arc from `c` to `d` if some route takes
//! `d` right after `c`. Routes cannot deadlock if the graph has no cycle (Dally and Seitz 1987); with static routes a
//! cycle is a proof that buffers can wait for each other in a ring. Channels to and from nodes are left out: they end or
//! begin every route, so no cycle goes through them.

use crate::ids::{ChannelId, SwitchId};
use crate::machine::SwitchGraph;

/// A lane of a channel: a buffer that packets wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneOf {
    /// The channel.
    pub channel: ChannelId,
    /// The virtual lane.
    pub vl: u8,
}

/// Dependencies as one bit row a channel and lane, over the channels (and, where lanes change, lanes) that leave its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cdg {
    lanes: usize,
    /// Lanes that a dependency may lead to: 1 (the same) or all.
    fan: usize,
    /// First word of lane 0 of each channel; channels that are not usable have none.
    row: Vec<u32>,
    bits: Vec<u64>,
}

const NO_ROW: u32 = u32::MAX;

impl Cdg {
    /// The graph without dependencies over `lanes` lanes; routes may change lanes only if `lanes_change`.
    #[must_use]
    pub fn new(graph: &SwitchGraph<'_>, lanes: u8, lanes_change: bool) -> Self {
        let lanes = usize::from(lanes);
        let fan = if lanes_change { lanes } else { 1 };
        let mut row = vec![NO_ROW; graph.machine().channel_count()];
        let mut words = 0usize;
        for switch in (0..graph.switch_count() as u32).map(SwitchId) {
            for (channel, head) in graph.neighbours(switch) {
                row[channel.index()] = words as u32;
                words += lanes * (graph.channels(head).len() * fan).div_ceil(64);
            }
        }
        Cdg { lanes, fan, row, bits: vec![0; words] }
    }

    /// Adds "`after` right after `before`". `after` leaves the switch at which `before` arrives.
    #[inline]
    pub fn add(&mut self, graph: &SwitchGraph<'_>, before: LaneOf, after: LaneOf) {
        debug_assert_eq!(
            graph.machine().tail(after.channel).vertex,
            graph.machine().head(before.channel).vertex
        );
        debug_assert!(self.fan > 1 || before.vl == after.vl);
        let lane = if self.fan == 1 { 0 } else { usize::from(after.vl) };
        let bit = graph.position(after.channel) * self.fan + lane;
        let row = self.first_word(graph, before);
        self.bits[row + bit / 64] |= 1 << (bit % 64);
    }

    #[inline]
    fn first_word(&self, graph: &SwitchGraph<'_>, of: LaneOf) -> usize {
        let row = self.row[of.channel.index()] as usize;
        if of.vl == 0 {
            return row;
        }
        let head = SwitchId(graph.machine().head(of.channel).vertex.0);
        row + usize::from(of.vl) * (graph.channels(head).len() * self.fan).div_ceil(64)
    }

    /// Adds all dependencies of `other`.
    pub fn merge(&mut self, other: &Cdg) {
        for (word, more) in self.bits.iter_mut().zip(&other.bits) {
            *word |= more;
        }
    }

    /// What routes take right after `of`, in port order.
    pub fn after<'g>(
        &'g self,
        graph: &'g SwitchGraph<'_>,
        of: LaneOf,
    ) -> impl Iterator<Item = LaneOf> + 'g {
        let head = SwitchId(graph.machine().head(of.channel).vertex.0);
        let channels = graph.channels(head);
        let row = self.first_word(graph, of);
        (0..channels.len() * self.fan).filter_map(move |bit| {
            let set = self.bits[row + bit / 64] >> (bit % 64) & 1 == 1;
            let vl = if self.fan == 1 { of.vl } else { (bit % self.fan) as u8 };
            set.then(|| LaneOf { channel: channels[bit / self.fan], vl })
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
    pub fn cycle(&self, graph: &SwitchGraph<'_>) -> Option<Vec<LaneOf>> {
        let found = self.some_cycle(graph)?;
        let shortest = found
            .iter()
            .take(MOST_TRIED)
            .filter_map(|&of| self.shortest_cycle_through(graph, of))
            .min_by_key(Vec::len);
        Some(shortest.unwrap_or(found))
    }

    /// Number of a lane of a channel among all vertices.
    fn number(&self, of: LaneOf) -> usize {
        of.channel.index() * self.lanes + usize::from(of.vl)
    }

    /// All vertices, ascending.
    fn vertices(&self) -> impl Iterator<Item = LaneOf> + '_ {
        let channels = (0..self.row.len()).filter(|&channel| self.row[channel] != NO_ROW);
        channels.flat_map(|channel| {
            let channel = ChannelId::from_index(channel);
            (0..self.lanes as u8).map(move |vl| LaneOf { channel, vl })
        })
    }

    fn some_cycle(&self, graph: &SwitchGraph<'_>) -> Option<Vec<LaneOf>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnPath,
            Done,
        }
        let mut mark = vec![Mark::New; self.row.len() * self.lanes];
        for start in self.vertices() {
            if mark[self.number(start)] != Mark::New {
                continue;
            }
            mark[self.number(start)] = Mark::OnPath;
            let mut path = vec![(start, self.after(graph, start))];
            while let Some((of, successors)) = path.last_mut() {
                let of = *of;
                match successors.next() {
                    Some(next) if mark[self.number(next)] == Mark::New => {
                        mark[self.number(next)] = Mark::OnPath;
                        path.push((next, self.after(graph, next)));
                    }
                    Some(next) if mark[self.number(next)] == Mark::OnPath => {
                        let from = path.iter().position(|(of, _)| *of == next)?;
                        return Some(path[from..].iter().map(|(of, _)| *of).collect());
                    }
                    Some(_) => {}
                    None => {
                        mark[self.number(of)] = Mark::Done;
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
        start: LaneOf,
    ) -> Option<Vec<LaneOf>> {
        let mut before = vec![None; self.row.len() * self.lanes];
        let mut queue = vec![start];
        let mut front = 0;
        while let Some(&of) = queue.get(front) {
            front += 1;
            for next in self.after(graph, of) {
                if next == start {
                    let mut cycle = vec![of];
                    while cycle.last() != Some(&start) {
                        let last = self.number(*cycle.last()?);
                        cycle.push(before[last]?);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                let known = &mut before[self.number(next)];
                if known.is_none() {
                    *known = Some(of);
                    queue.push(next);
                }
            }
        }
        None
    }
}

/// Vertices of the first cycle from which a shorter one is looked for.
const MOST_TRIED: usize = 64;
