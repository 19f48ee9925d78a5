//! 0D sliding: the nearest free node takes the rank of the failed one.
//!
//! Goes outwards dimension by dimension, only where free nodes are, and only as far as a nearer one can still be.
//!
//! Source: Hori et al. 2016, "0D sliding": the shortest Manhattan distance, around the ends of a torus. Which of several equally
//! near nodes it is, is left open there.

use super::line::{self, Line};
use super::occupancy::Occupancy;
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
    let mut search = Search { occupancy, from, tie, sides, stream, found: nothing };
    search.beyond(0, 0, 0, 0);
    (search.found.hops < u32::MAX).then_some(search.found.node)
}

struct Search<'s> {
    occupancy: &'s Occupancy,
    from: NodeId,
    tie: Tie,
    /// Free nodes by side, if that matters.
    sides: Vec<u32>,
    stream: &'s mut Stream,
    found: Found,
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
        let occupancy = self.occupancy;
        let grid = occupancy.grid();
        let (length, wraps) = (grid.lengths()[dimension], grid.wraps(dimension));
        let at = occupancy.coordinate(self.from, dimension);
        let some = occupancy.free_beyond(dimension, prefix as usize);
        let stride = grid.stride(dimension);
        if dimension + 1 == grid.dimensions() {
            return self.last(some, Line { length, wraps, up: true }, prefix, at, spent, shared);
        }
        if line::holds(some, at) {
            self.beyond(dimension + 1, prefix + at * stride, spent, shared + 1);
        }
        let line = |up| Line { length, wraps, up };
        let [mut ups, mut downs] = [true, false].map(|up| line(up).steps(some, at));
        let (mut up, mut down) = (ups.next(), downs.next());
        // Around a closed line everything is found twice: the nearer way counts, upwards if both are as near.
        let short = |steps: u32, up: bool| !wraps || 2 * steps < length + u32::from(up);
        loop {
            let goes_up = up.is_some_and(|up| down.is_none_or(|down| up <= down));
            let Some(steps) = (if goes_up { up } else { down }) else { return };
            if spent + steps > self.found.hops {
                return;
            }
            if short(steps, goes_up) {
                let to = line(goes_up).coordinate(at, steps);
                self.beyond(dimension + 1, prefix + to * stride, spent + steps, shared);
            }
            *(if goes_up { &mut up } else { &mut down }) =
                if goes_up { ups.next() } else { downs.next() };
        }
    }

    /// Looks along a line of the last dimension, of which `free` are free.
    #[inline]
    fn last(&mut self, free: &[u64], up: Line, prefix: u32, at: u32, spent: u32, shared: u32) {
        let stride = self.occupancy.grid().stride(self.occupancy.grid().dimensions() - 1);
        if line::holds(free, at) {
            return self.candidate(NodeId(prefix + at * stride), spent, shared + 1);
        }
        let down = Line { up: false, ..up };
        let (above, below) = (up.nearest(free, at), down.nearest(free, at));
        let least = above.unwrap_or(u32::MAX).min(below.unwrap_or(u32::MAX));
        for (line, steps) in [(up, above), (down, below)] {
            // Both ways to the same node are one; where there is no way, `least` cannot be doubled.
            let twice = |least| !line.up && up.wraps && 2 * least == up.length;
            if steps.is_some_and(|steps| steps == least && !twice(steps)) {
                let node = NodeId(prefix + line.coordinate(at, least) * stride);
                self.candidate(node, spent + least, shared);
            }
        }
    }

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
