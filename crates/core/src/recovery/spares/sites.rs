//! Where nodes stand beside the grid: under which switches, on which host.
//!
//! A grid of processes says who talks to whom, not what is near: two processes of a host have the same site, two hosts of a leaf
//! switch share all of it but the host. The free node that shares the most levels with the failed one is the nearest.

use std::cmp::Reverse;

use super::occupancy::Occupancy;
use crate::ids::NodeId;

/// A path for each node, outermost level first: of a tree of switches say pod, leaf, host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sites {
    levels: usize,
    /// By node, `levels` each: equal numbers are the same place, if all before them are.
    path: Vec<u64>,
}

/// Paths that are not one for each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given} numbers are no paths of {levels} levels for {nodes} nodes")]
pub struct SitesError {
    /// Numbers given.
    pub given: usize,
    /// Levels of a path.
    pub levels: usize,
    /// Nodes.
    pub nodes: usize,
}

impl Sites {
    /// The paths of all nodes, one after the other.
    ///
    /// # Errors
    /// If they are not `levels` numbers for each of `nodes` nodes.
    pub fn new(nodes: usize, levels: usize, path: Vec<u64>) -> Result<Self, SitesError> {
        if levels.checked_mul(nodes) != Some(path.len()) {
            return Err(SitesError { given: path.len(), levels, nodes });
        }
        Ok(Sites { levels, path })
    }

    /// Levels that two nodes share, from the outermost on.
    #[must_use]
    pub fn shared(&self, one: NodeId, other: NodeId) -> usize {
        self.path_of(one)
            .iter()
            .zip(self.path_of(other))
            .take_while(|(one, other)| one == other)
            .count()
    }

    fn path_of(&self, node: NodeId) -> &[u64] {
        &self.path[node.index() * self.levels..][..self.levels]
    }

    /// The free node that shares most with another one; of those the nearest on the grid, then the lowest id. `None` if no node
    /// is free.
    #[must_use]
    pub fn nearest(&self, occupancy: &Occupancy, from: NodeId) -> Option<NodeId> {
        let hops = |to| occupancy.grid().hops(from, to);
        occupancy.free().min_by_key(|&to| (Reverse(self.shared(from, to)), hops(to), to))
    }
}
