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
            channels: vec![(2 * Q * nodes) as u32],
            most: 0,
        }
    }

    /// Puts a message on its channels.
    #[inline]
    pub fn add(&mut self, from: NodeId, to: NodeId) {
        self.each(from, to, |load, channel| {
            let before = usize::from(load.messages[channel]);
            // INVARIANT: a channel of more messages than are counted would be far from anything a grid can carry.
            assert!(before < usize::from(u16::MAX), "more than 65,535 messages on a channel");
            load.messages[channel] += 1;
            load.channels[before] -= 1;
            if before + 1 == load.channels.len() {
                load.channels.push(0);
            }
            load.channels[before + 1] += 1;
            load.most = load.most.max(before + 1);
        });
    }

    /// Takes a message that was added off its channels.
    #[inline]
    pub fn remove(&mut self, from: NodeId, to: NodeId) {
        self.each(from, to, |load, channel| {
            let before = usize::from(load.messages[channel]);
            load.messages[channel] -= 1;
            load.channels[before] -= 1;
            load.channels[before - 1] += 1;
        });
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
        self.channels.clear();
        self.channels.extend_from_slice(&state.channels);
        self.most = state.most;
    }

    /// Number of channels that have each load, from 0.
    #[must_use]
    pub fn channels_by_load(&self) -> &[u32] {
        &self.channels
    }

    #[inline]
    fn each(&mut self, from: NodeId, to: NodeId, mut one: impl FnMut(&mut Self, usize)) {
        let (source, target) = (self.places[from.index()], self.places[to.index()]);
        for dimension in 0..Q {
            let (at, end) = (u32::from(source.at[dimension]), u32::from(target.at[dimension]));
            if at == end {
                continue;
            }
            let length = self.lengths[dimension];
            let line = target.low[dimension] + source.high[dimension];
            let up = (end + length - at) % length;
            let (is_up, steps) = match self.torus {
                true if 2 * up > length => (false, length - up),
                true => (true, up),
                false => (end > at, end.abs_diff(at)),
            };
            let base = self.bases[dimension][usize::from(!is_up)] + line;
            let mut here = at;
            for _ in 0..steps {
                one(self, (base + here) as usize);
                here = match is_up {
                    true if here + 1 == length => 0,
                    true => here + 1,
                    false if here == 0 => length - 1,
                    false => here - 1,
                };
            }
        }
    }
}
