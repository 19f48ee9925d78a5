//! 0D sliding: the nearest free node takes the rank of the failed one.
//!
//! Goes outwards line by line, as far as a nearer free node can still be.
//!
//! Source: Hori et al. 2016, "0D sliding": the shortest Manhattan distance, around the ends of a torus. Which of several equally
//! near nodes it is, is left open there.

use super::line;
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
}

/// The nearest free node; `None` if no node is free.
pub fn nearest(
    occupancy: &Occupancy<'_>,
    from: NodeId,
    tie: Tie,
    stream: &mut Stream,
) -> Option<NodeId> {
    if occupancy.free_count() == 0 {
        return None;
    }
    let mut search =
        Search { occupancy, at: occupancy.grid().coordinate(from, 0), tie, stream, hops: u32::MAX, found: from, equal: 0 };
    search.lines(occupancy.grid().dimensions() - 1, from, 0);
    Some(search.found)
}

struct Search<'s, 'g> {
    occupancy: &'s Occupancy<'g>,
    /// Where the failed node is along its first dimension.
    at: u32,
    tie: Tie,
    stream: &'s mut Stream,
    /// The nearest so far, and how many were as near.
    hops: u32,
    found: NodeId,
    equal: u64,
}

impl Search<'_, '_> {
    /// Looks at the lines that differ from that of `node` along `dimension` and lower ones, `spent` hops away.
    fn lines(&mut self, dimension: usize, node: NodeId, spent: u32) {
        if dimension == 0 {
            return self.line(node, spent);
        }
        let grid = self.occupancy.grid();
        let (stride, length) = (grid.stride(dimension), grid.lengths()[dimension]);
        let at = grid.coordinate(node, dimension);
        let first = node.0 - at * stride;
        let farthest = if grid.is_torus() { length / 2 } else { at.max(length - 1 - at) };
        for apart in 0..=farthest {
            if spent + apart > self.hops {
                return;
            }
            let (down, up) = match grid.is_torus() {
                true => (Some((at + length - apart) % length), Some((at + apart) % length)),
                false => (at.checked_sub(apart), Some(at + apart).filter(|up| *up < length)),
            };
            if let Some(down) = down {
                self.lines(dimension - 1, NodeId(first + down * stride), spent + apart);
            }
            if let Some(up) = up.filter(|&up| down != Some(up)) {
                self.lines(dimension - 1, NodeId(first + up * stride), spent + apart);
            }
        }
    }

    /// Looks for the nearest free nodes of a line along the first dimension.
    fn line(&mut self, node: NodeId, spent: u32) {
        let grid = self.occupancy.grid();
        let (at, length) = (self.at, grid.lengths()[0]);
        let free = self.occupancy.lines(0).free(self.occupancy.line_of(node, 0));
        let first = node.0 - at;
        let down = line::steps_down(free, at, length, grid.is_torus());
        let up = line::steps_up(free, at, length, grid.is_torus());
        if line::holds(free, at) {
            self.candidate(NodeId(first + at), spent);
        } else {
            if let Some(steps) = down {
                self.candidate(NodeId(first + (at + length - steps) % length), spent + steps);
            }
            if let Some(steps) = up.filter(|&up| down.is_none_or(|down| up + down != length)) {
                self.candidate(NodeId(first + (at + steps) % length), spent + steps);
            }
        }
    }

    fn candidate(&mut self, node: NodeId, hops: u32) {
        if hops < self.hops {
            (self.hops, self.found, self.equal) = (hops, node, 1);
        } else if hops == self.hops {
            self.equal += 1;
            let taken = match self.tie {
                Tie::Lowest => node < self.found,
                Tie::Highest => node > self.found,
                Tie::Random => self.stream.below(self.equal) == 0,
            };
            if taken {
                self.found = node;
            }
        }
    }
}
