//! 0D sliding: the nearest free node takes the rank of the failed one.
//!
//! Goes outwards dimension by dimension, only where free nodes are, and only as far as a nearer one can still be.
//!
//! Source: Hori et al. 2016, "0D sliding": the shortest Manhattan distance, around the ends of a torus. Which of several equally
//! near nodes it is, is left open there.

use super::line::{self, Outward};
use super::occupancy::Occupancy;
use crate::grid::DIMENSIONS_MAX;
use crate::ids::NodeId;
use crate::rng::Stream;

/// Which of several equally near free nodes is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tie {
    /// The lowest id.
    #[default]
    Lowest,
    /// The highest id.
    Highest,
    /// Any.
    Random,
    /// One that shares the most coordinates with the failed node; of those the lowest id.
    Aligned,
    /// One on the side with the most free nodes left, so that sides are used in turn; of those the lowest id. A node that a job
    /// has left is on none.
    Balanced,
}

/// The nearest free node; `None` if no node is free.
pub fn nearest(
    occupancy: &Occupancy,
    from: NodeId,
    tie: Tie,
    stream: &mut Stream,
) -> Option<NodeId> {
    let nothing = Found { node: from, hops: u32::MAX, shared: 0, left: 0, equal: 0 };
    let sides = if tie == Tie::Balanced { occupancy.free_by_side() } else { Vec::new() };
    let grid = occupancy.grid();
    let mut levels = [Level::default(); DIMENSIONS_MAX];
    for (dimension, level) in levels.iter_mut().enumerate().take(grid.dimensions()) {
        let (length, stride) = (grid.lengths()[dimension], grid.stride(dimension));
        let at = occupancy.coordinate(from, dimension);
        *level = Level { at, length, stride, wraps: grid.wraps(dimension) };
    }
    let last = grid.dimensions() - 1;
    let mut search = Search { occupancy, levels, last, tie, sides, stream, found: nothing };
    search.beyond(0, 0, 0, 0);
    (search.found.hops < u32::MAX).then_some(search.found.node)
}

struct Search<'s> {
    occupancy: &'s Occupancy,
    /// By dimension, and the last one.
    levels: [Level; DIMENSIONS_MAX],
    last: usize,
    tie: Tie,
    /// Free nodes by side, if that matters.
    sides: Vec<u32>,
    stream: &'s mut Stream,
    found: Found,
}

/// A dimension, and where the search begins along it.
#[derive(Clone, Copy, Default)]
struct Level {
    at: u32,
    length: u32,
    stride: u32,
    wraps: bool,
}

/// The best so far, and how many were as good.
struct Found {
    node: NodeId,
    hops: u32,
    shared: u32,
    left: u32,
    equal: u64,
}

impl Search<'_> {
    /// Looks among the nodes whose coordinates before `dimension` make up `prefix`, which is `spent` hops away and shares
    /// `shared` coordinates.
    fn beyond(&mut self, dimension: usize, prefix: u32, spent: u32, shared: u32) {
        if dimension == self.last {
            return self.on_line(prefix, spent, shared);
        }
        let Level { at, length, stride, wraps } = self.levels[dimension];
        let some = self.occupancy.free_beyond(dimension, prefix as usize);
        if line::holds(some, at) {
            self.beyond(dimension + 1, prefix + at * stride, spent, shared + 1);
        }
        if spent >= self.found.hops {
            return;
        }
        for (steps, to) in Outward::new(some, at, length, wraps) {
            if spent + steps > self.found.hops {
                return;
            }
            self.beyond(dimension + 1, prefix + to * stride, spent + steps, shared);
        }
    }

    /// Looks along a line of the last dimension.
    #[inline]
    fn on_line(&mut self, prefix: u32, spent: u32, shared: u32) {
        let Level { at, length, stride, wraps } = self.levels[self.last];
        let free = self.occupancy.free_on(self.last, prefix as usize);
        if line::holds(free, at) {
            return self.candidate(NodeId(prefix + at * stride), spent, shared + 1);
        }
        if spent >= self.found.hops {
            return;
        }
        let mut outward = Outward::new(free, at, length, wraps);
        let Some((least, to)) = outward.next() else { return };
        if spent + least > self.found.hops {
            return;
        }
        self.candidate(NodeId(prefix + to * stride), spent + least, shared);
        if let Some((steps, to)) = outward.next()
            && steps == least
        {
            self.candidate(NodeId(prefix + to * stride), spent + least, shared);
        }
    }

    #[inline]
    fn candidate(&mut self, node: NodeId, hops: u32, shared: u32) {
        let found = &mut self.found;
        if hops > found.hops {
            return;
        }
        let equal = if hops == found.hops { found.equal + 1 } else { 1 };
        let side = if self.tie == Tie::Balanced { self.occupancy.side(node) } else { None };
        let left = side.map_or(0, |side| self.sides[side]);
        let better = equal == 1
            || match self.tie {
                Tie::Lowest => node < found.node,
                Tie::Highest => node > found.node,
                Tie::Random => self.stream.below(equal) == 0,
                Tie::Aligned => (shared, found.node) > (found.shared, node),
                Tie::Balanced => (left, found.node) > (found.left, node),
            };
        if better {
            *found = Found { node, hops, shared, left, equal };
        }
        found.equal = equal;
    }
}
