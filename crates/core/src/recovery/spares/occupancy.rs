//! Who is where: ranks on nodes, nodes that are free, nodes that failed.
//!
//! Besides the two maps, each line of the grid has masks of its free and its used nodes, so that a slide is found in a few
//! words a line.

use super::allocation::{Allocation, AllocationError};
use crate::grid::Grid;
use crate::ids::{NodeId, Rank};

/// Ranks on the nodes of a grid.
#[derive(Clone, Debug)]
pub struct Occupancy<'g> {
    grid: &'g Grid,
    node_of: Vec<NodeId>,
    /// By node: its rank, or [`FREE`] or [`DEAD`].
    rank_of: Vec<u32>,
    /// By dimension.
    lines: Vec<Lines>,
    free: usize,
}

const FREE: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;

/// Masks of all lines along one dimension.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// Words of a mask.
    pub words: usize,
    free: Vec<u64>,
    used: Vec<u64>,
}

impl<'g> Occupancy<'g> {
    /// Ranks on all nodes but the spares, x fastest.
    ///
    /// # Errors
    /// If the allocation does not fit the grid.
    pub fn new(grid: &'g Grid, allocation: &Allocation) -> Result<Self, AllocationError> {
        allocation.job_shape(grid)?;
        let nodes = || (0..grid.node_count()).map(NodeId::from_index);
        let ranks: Vec<_> = nodes().filter(|&node| !allocation.is_spare(grid, node)).collect();
        Ok(Self::of(grid, ranks))
    }

    /// Ranks on these nodes, each on another; all other nodes are free.
    #[must_use]
    pub fn of(grid: &'g Grid, node_of: Vec<NodeId>) -> Self {
        let count = grid.node_count();
        let lines = grid.lengths().iter().map(|&length| {
            let words = length.div_ceil(64) as usize;
            let masks = count / length as usize * words;
            Lines { words, free: vec![0; masks], used: vec![0; masks] }
        });
        let lines = lines.collect();
        let mut made =
            Occupancy { grid, node_of, rank_of: vec![DEAD; count], lines, free: 0 };
        for node in 0..count as u32 {
            made.set(NodeId(node), FREE);
        }
        for rank in 0..made.node_of.len() {
            let node = made.node_of[rank];
            assert_eq!(made.rank_of[node.index()], FREE, "a node of two ranks");
            made.set(node, rank as u32);
        }
        made
    }

    /// The grid.
    #[must_use]
    pub fn grid(&self) -> &'g Grid {
        self.grid
    }

    /// Node of each rank.
    #[must_use]
    pub fn node_of(&self) -> &[NodeId] {
        &self.node_of
    }

    /// The rank on a node, if there is one.
    #[inline]
    #[must_use]
    pub fn rank_on(&self, node: NodeId) -> Option<Rank> {
        let rank = self.rank_of[node.index()];
        (rank < DEAD).then_some(Rank(rank))
    }

    /// Whether a node is alive and without a rank.
    #[inline]
    #[must_use]
    pub fn is_free(&self, node: NodeId) -> bool {
        self.rank_of[node.index()] == FREE
    }

    /// Whether a node has failed.
    #[inline]
    #[must_use]
    pub fn is_dead(&self, node: NodeId) -> bool {
        self.rank_of[node.index()] == DEAD
    }

    /// Nodes that are free.
    #[must_use]
    pub fn free_count(&self) -> usize {
        self.free
    }

    /// Goes back to a state kept before, of the same grid.
    pub fn restore(&mut self, state: &Self) {
        self.node_of.copy_from_slice(&state.node_of);
        self.rank_of.copy_from_slice(&state.rank_of);
        for (own, kept) in self.lines.iter_mut().zip(&state.lines) {
            own.free.copy_from_slice(&kept.free);
            own.used.copy_from_slice(&kept.used);
        }
        self.free = state.free;
    }

    /// Marks a node without a rank as failed.
    pub fn fail_idle(&mut self, node: NodeId) {
        if self.is_free(node) {
            self.set(node, DEAD);
        }
    }

    /// Moves the rank of a node to one that is free; the node is free afterwards, or has failed.
    pub(super) fn relocate(&mut self, from: NodeId, to: NodeId, failed: bool) -> Rank {
        let rank = self.rank_of[from.index()];
        assert!(rank < DEAD && self.is_free(to), "a rank moves to a free node");
        self.set(from, if failed { DEAD } else { FREE });
        self.set(to, rank);
        self.node_of[rank as usize] = to;
        Rank(rank)
    }

    /// Masks of the lines along a dimension.
    #[inline]
    pub(super) fn lines(&self, dimension: usize) -> &Lines {
        &self.lines[dimension]
    }

    /// The line along a dimension that a node is on.
    #[inline]
    pub(super) fn line_of(&self, node: NodeId, dimension: usize) -> usize {
        let (stride, length) = (self.grid.stride(dimension), self.grid.lengths()[dimension]);
        (node.0 % stride + node.0 / (stride * length) * stride) as usize
    }

    fn set(&mut self, node: NodeId, state: u32) {
        let before = std::mem::replace(&mut self.rank_of[node.index()], state);
        self.free -= usize::from(before == FREE);
        self.free += usize::from(state == FREE);
        for dimension in 0..self.grid.dimensions() {
            let at = self.grid.coordinate(node, dimension) as usize;
            let line = self.line_of(node, dimension);
            let lines = &mut self.lines[dimension];
            let (word, bit) = (line * lines.words + at / 64, 1u64 << (at % 64));
            let put = |mask: &mut u64, on: bool| *mask = if on { *mask | bit } else { *mask & !bit };
            put(&mut lines.free[word], state == FREE);
            put(&mut lines.used[word], state < DEAD);
        }
    }
}

impl Lines {
    /// Free nodes of a line, the first in the lowest bit.
    #[inline]
    pub fn free(&self, line: usize) -> &[u64] {
        &self.free[line * self.words..(line + 1) * self.words]
    }

    /// Nodes of a line that have a rank.
    #[inline]
    pub fn used(&self, line: usize) -> &[u64] {
        &self.used[line * self.words..(line + 1) * self.words]
    }
}
