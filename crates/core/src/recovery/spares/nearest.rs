//! 0D sliding: the nearest free node takes the rank of the failed one.
//!
//! Source: Hori et al. 2016, "0D sliding": the shortest Manhattan distance, around the ends of a torus. Which of several equally
//! near nodes it is, is left open there.

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
    let grid = occupancy.grid();
    let mut best = (u32::MAX, None, 0u64);
    for node in (0..grid.node_count() as u32).map(NodeId).filter(|&node| occupancy.is_free(node)) {
        let hops = grid.hops(from, node);
        if hops < best.0 {
            best = (hops, Some(node), 1);
        } else if hops == best.0 {
            best.2 += 1;
            let taken = match tie {
                Tie::Lowest => false,
                Tie::Highest => true,
                Tie::Random => stream.below(best.2) == 0,
            };
            if taken {
                best.1 = Some(node);
            }
        }
    }
    best.1
}
