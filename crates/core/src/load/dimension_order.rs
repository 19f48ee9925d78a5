//! Messages on the channels of a grid under dimension-order routing, kept up to date as ranks move.
//!
//! A message goes along x first, then y, and so on; on a torus the shorter way around, both being as long upwards. Loads are
//! 16-bit counts (24 x 24 x 24 nodes have 82,944 channels: they stay in the cache), and how many channels have each load is
//! counted too, so that the largest is always known.
//!
//! Source: Hori et al. 2016 (static XY routing; message collisions on directed channels).

use crate::grid::Grid;
use crate::ids::NodeId;

/// Messages on each channel of a grid with `Q` dimensions.
#[derive(Clone, Debug)]
pub struct GridLoad<const Q: usize> {
    lengths: [u32; Q],
    torus: bool,
    places: Vec<Place<Q>>,
    /// First channel of the channels along a dimension, up and down.
    bases: [[u32; 2]; Q],
    /// Line after line along its dimension.
    messages: Vec<u16>,
    /// How many channels have each load.
    channels: Vec<u32>,
    most: usize,
}

/// Where a node is, as routes need it.
#[derive(Clone, Copy, Debug)]
struct Place<const Q: usize> {
    at: [u16; Q],
    /// Parts of the number of a line along each dimension: from the lower and from the higher coordinates.
    low: [u32; Q],
    high: [u32; Q],
}

impl<const Q: usize> GridLoad<Q> {
    /// No message yet.
    ///
    /// # Panics
    /// If the grid has not `Q` dimensions.
    #[must_use]
    pub fn new(grid: &Grid) -> Self {
        let lengths = grid.lengths().try_into().unwrap_or_else(|_| panic!("a grid of {Q} dimensions"));
        let nodes = grid.node_count();
        let place = |node: usize| {
            let node = NodeId::from_index(node);
            let (mut at, mut low, mut high) = ([0; Q], [0; Q], [0; Q]);
            for dimension in 0..Q {
                let (stride, length) = (grid.stride(dimension), grid.lengths()[dimension]);
                at[dimension] = grid.coordinate(node, dimension) as u16;
                low[dimension] = node.0 % stride * length;
                high[dimension] = node.0 / (stride * length) * stride * length;
            }
            Place { at, low, high }
        };
        let base = |number: usize| (number * nodes) as u32;
        GridLoad {
            lengths,
            torus: grid.is_torus(),
            places: (0..nodes).map(place).collect(),
            bases: std::array::from_fn(|dimension| [base(2 * dimension), base(2 * dimension + 1)]),
            messages: vec![0; 2 * Q * nodes],
            channels: std::iter::once((2 * Q * nodes) as u32).chain([0; 65_535]).collect(),
            most: 0,
        }
    }

    /// Puts a message on its channels.
    pub fn add(&mut self, from: NodeId, to: NodeId) {
        let route = self.route(from, to);
        route.into_iter().for_each(|run| self.change::<true>(run));
    }

    /// Takes a message that was added off its channels.
    pub fn remove(&mut self, from: NodeId, to: NodeId) {
        let route = self.route(from, to);
        route.into_iter().for_each(|run| self.change::<false>(run));
    }

    /// Takes a message off the channels from `old.0` to `old.1`, and puts it on those from `new.0` to `new.1`.
    #[inline]
    pub fn reroute(&mut self, old: (NodeId, NodeId), new: (NodeId, NodeId)) {
        let (old, new) = (self.route(old.0, old.1), self.route(new.0, new.1));
        for (old, new) in old.into_iter().zip(new) {
            if old == new {
                continue;
            }
            if old.line != new.line || old.end <= new.at || new.end <= old.at {
                self.change::<false>(old);
                self.change::<true>(new);
                continue;
            }
            // What both have stays as it is.
            let line = old.line;
            self.change::<false>(Run { line, at: old.at, end: new.at });
            self.change::<true>(Run { line, at: new.at, end: old.at });
            self.change::<false>(Run { line, at: new.end, end: old.end });
            self.change::<true>(Run { line, at: old.end, end: new.end });
        }
    }

    /// The largest collision: most messages on one channel; 1 is none.
    #[inline]
    pub fn collision_max(&mut self) -> u32 {
        while self.channels[self.most] == 0 {
            self.most -= 1;
        }
        self.most as u32
    }

    /// Goes back to a state kept before, of the same grid.
    pub fn restore(&mut self, state: &Self) {
        self.messages.copy_from_slice(&state.messages);
        let most = self.most.max(state.most);
        self.channels[..=most].copy_from_slice(&state.channels[..=most]);
        self.most = state.most;
    }

    /// Number of channels that have each load, from 0.
    #[must_use]
    pub fn channels_by_load(&self) -> &[u32] {
        &self.channels
    }

    /// The channels of a message, one run of them a dimension.
    #[inline]
    fn route(&self, from: NodeId, to: NodeId) -> [Run; Q] {
        let (source, target) = (&self.places[from.index()], &self.places[to.index()]);
        std::array::from_fn(|dimension| {
            let (at, end) = (u32::from(source.at[dimension]), u32::from(target.at[dimension]));
            if at == end {
                return Run { line: u32::MAX, at: 0, end: 0 };
            }
            let line = target.low[dimension] + source.high[dimension];
            let length = self.lengths[dimension];
            let [up, down] = self.bases[dimension].map(|base| base + line);
            if self.torus {
                // Positions beyond the end are those around it.
                let steps = (end + length - at) % length;
                return match 2 * steps <= length {
                    true => Run { line: up, at, end: at + steps },
                    false => Run { line: down, at: end + 1, end: end + 1 + length - steps },
                };
            }
            match at < end {
                true => Run { line: up, at, end },
                false => Run { line: down, at: end + 1, end: at + 1 },
            }
        })
    }

    /// Adds one to the channels of a run, or takes one off.
    #[inline]
    fn change<const ADD: bool>(&mut self, run: Run) {
        if run.at >= run.end {
            return;
        }
        if self.torus {
            let dimension = (0..Q).rev().find(|&dimension| self.bases[dimension][0] <= run.line);
            let length = self.lengths[dimension.unwrap_or(0)];
            let within = |from: u32, to: u32| (run.line + from) as usize..(run.line + to) as usize;
            let (at, end) = match run.at < length {
                true => (run.at, run.end),
                false => (run.at - length, run.end - length),
            };
            self.change_all::<ADD>(within(at, end.min(length)));
            self.change_all::<ADD>(within(0, end.saturating_sub(length)));
        } else {
            self.change_all::<ADD>((run.line + run.at) as usize..(run.line + run.end) as usize);
        }
    }

    #[inline]
    fn change_all<const ADD: bool>(&mut self, channels: std::ops::Range<usize>) {
        for messages in &mut self.messages[channels] {
            let before = usize::from(*messages);
            self.channels[before] -= 1;
            if ADD {
                // INVARIANT: no grid carries anything like as many messages over one channel.
                assert!(before + 1 < self.channels.len(), "more than 65,535 messages on a channel");
                *messages += 1;
                self.channels[before + 1] += 1;
                self.most = self.most.max(before + 1);
            } else {
                *messages -= 1;
                self.channels[before - 1] += 1;
            }
        }
    }
}

/// Channels one behind the other, on a line of them along one dimension in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// Its first channel.
    line: u32,
    /// The first one of the run, and the one behind its last, along the line.
    at: u32,
    end: u32,
}
