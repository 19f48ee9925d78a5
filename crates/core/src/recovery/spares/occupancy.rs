//! Who is where: ranks on nodes, nodes that are free, nodes that failed.
//!
//! Besides the two maps, each line of the grid has masks of its free and its used nodes, so that a slide is found in a few
//! words a line, and each prefix of coordinates a mask of what has free nodes behind it, so that the nearest is found
//! without a search through what is full.

use std::sync::Arc;

use super::allocation::{Allocation, AllocationError};
use super::slide::Move;
use crate::grid::Grid;
use crate::ids::{NodeId, Rank};

/// Ranks on the nodes of a grid.
#[derive(Clone, Debug)]
pub struct Occupancy {
    grid: Arc<Grid>,
    /// By node, then dimension.
    spots: Arc<[Spot]>,
    /// Nodes along each dimension of the job, if ranks began as a grid.
    job_shape: Option<Arc<[u32]>>,
    node_of: Vec<NodeId>,
    /// By node: its rank, or [`FREE`] or [`DEAD`].
    rank_of: Vec<u32>,
    /// By dimension.
    lines: Vec<Lines>,
    /// By dimension but the last, then by the coordinates before: where along the dimension free nodes are.
    prefixes: Vec<Masks>,
    free: usize,
}

const FREE: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;
/// Its rank has left, and who comes is not known yet.
const LEFT: u32 = u32::MAX - 2;

/// The line along a dimension that a node is on, and where on it: the bit of all masks of that dimension that stands for the node.
#[derive(Clone, Copy, Debug)]
struct Spot(u32);

/// Masks of all lines along one dimension.
#[derive(Clone, Debug)]
struct Lines {
    free: Masks,
    used: Masks,
}

/// Masks of one length, the first position in the lowest bit.
#[derive(Clone, Debug)]
struct Masks {
    /// Of words of a mask the binary logarithm.
    words: u32,
    bits: Vec<u64>,
}

impl Occupancy {
    /// Ranks on all nodes but the spares, x fastest.
    ///
    /// # Errors
    /// If the allocation does not fit the grid.
    pub fn new(grid: Arc<Grid>, allocation: &Allocation) -> Result<Self, AllocationError> {
        let shape = allocation.job_shape(&grid)?;
        let own =
            |node: &NodeId| grid.coordinates(*node).zip(&shape).all(|(at, length)| at < *length);
        let ranks = (0..grid.node_count()).map(NodeId::from_index).filter(own).collect();
        Ok(Occupancy { job_shape: Some(shape.into()), ..Self::of(grid, ranks) })
    }

    /// Ranks on these nodes, each on another; all other nodes are free.
    ///
    /// # Panics
    /// If two ranks share a node.
    #[must_use]
    pub fn of(grid: Arc<Grid>, node_of: Vec<NodeId>) -> Self {
        let (count, dimensions) = (grid.node_count(), grid.dimensions());
        let along = |dimension: usize| {
            let length = grid.lengths()[dimension];
            Masks::new(count / length as usize, length)
        };
        let lines = (0..dimensions)
            .map(|dimension| Lines { free: along(dimension), used: along(dimension) });
        let prefix =
            |dimension| Masks::new(grid.stride(dimension) as usize, grid.lengths()[dimension]);
        let mut made = Occupancy {
            spots: spots(&grid),
            job_shape: None,
            node_of,
            rank_of: vec![DEAD; count],
            lines: lines.collect(),
            prefixes: (0..dimensions - 1).map(prefix).collect(),
            free: 0,
            grid,
        };
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
    pub fn grid(&self) -> &Arc<Grid> {
        &self.grid
    }

    /// Nodes along each dimension of the job, if its ranks began as a grid.
    #[must_use]
    pub fn job_shape(&self) -> Option<&[u32]> {
        self.job_shape.as_deref()
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

    /// The side of the grid that a node beyond the job is on: the first dimension along which it is.
    #[must_use]
    pub fn side(&self, node: NodeId) -> Option<usize> {
        let shape = self.job_shape.as_deref()?;
        (0..shape.len()).find(|&dimension| self.coordinate(node, dimension) >= shape[dimension])
    }

    /// Free nodes by side.
    #[must_use]
    pub fn free_by_side(&self) -> Vec<u32> {
        let mut free = vec![0; self.grid.dimensions()];
        for side in self.free().filter_map(|node| self.side(node)) {
            free[side] += 1;
        }
        free
    }

    /// Nodes that are alive and without a rank, lowest ids first.
    pub fn free(&self) -> impl Iterator<Item = NodeId> + '_ {
        let nodes = (0..self.rank_of.len()).map(NodeId::from_index);
        nodes.filter(|&node| self.is_free(node))
    }

    /// Nodes that have failed, lowest ids first.
    pub fn dead(&self) -> impl Iterator<Item = NodeId> + '_ {
        let is_dead = |(_, state): &(NodeId, &u32)| **state == DEAD;
        let nodes = (0..self.rank_of.len()).map(NodeId::from_index);
        nodes.zip(&self.rank_of).filter(is_dead).map(|(node, _)| node)
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
            own.free.bits.copy_from_slice(&kept.free.bits);
            own.used.bits.copy_from_slice(&kept.used.bits);
        }
        for (own, kept) in self.prefixes.iter_mut().zip(&state.prefixes) {
            own.bits.copy_from_slice(&kept.bits);
        }
        self.free = state.free;
    }

    /// Marks a node without a rank as failed.
    pub fn fail_idle(&mut self, node: NodeId) {
        if self.is_free(node) {
            self.set(node, DEAD);
        }
    }

    /// Takes the failure of a node back; it has no rank.
    pub fn revive(&mut self, node: NodeId) {
        if self.is_dead(node) {
            self.set(node, FREE);
        }
    }

    /// Whether a line along a dimension through a node has a rank.
    #[must_use]
    pub fn line_is_used(&self, node: NodeId, dimension: usize) -> bool {
        self.used_on(dimension, self.line_of(node, dimension)).iter().any(|&word| word != 0)
    }

    /// Puts a rank, which has left the node it was on, on a free node.
    #[inline]
    pub(super) fn place(&mut self, rank: Rank, to: NodeId) {
        assert!(self.is_free(to), "a rank moves to a free node");
        self.set(to, rank.0);
        self.node_of[rank.index()] = to;
    }

    /// Puts a rank, which has left the node it was on, on one that its own rank has just left.
    #[inline]
    pub(super) fn hand_over(&mut self, rank: Rank, to: NodeId) {
        // For masks the node goes on to be used.
        self.rank_of[to.index()] = rank.0;
        self.node_of[rank.index()] = to;
    }

    /// Notes that the rank of a node has left it for good.
    #[inline]
    pub(super) fn vacate(&mut self, node: NodeId, failed: bool) {
        self.set(node, if failed { DEAD } else { FREE });
    }

    /// Moves ranks, each from the node where it is to one that is free or that another one leaves; the other nodes they leave are
    /// free then.
    pub(super) fn relocate(&mut self, moves: impl Iterator<Item = Move> + Clone) {
        moves.clone().for_each(|one| self.rank_of[one.from.index()] = LEFT);
        for Move { rank, to, .. } in moves.clone() {
            if self.rank_of[to.index()] == LEFT {
                self.rank_of[to.index()] = rank.0;
            } else {
                self.set(to, rank.0);
            }
            self.node_of[rank.index()] = to;
        }
        for Move { from, .. } in moves {
            if self.rank_of[from.index()] == LEFT {
                self.set(from, FREE);
            }
        }
    }

    /// The line along a dimension that a node is on.
    #[inline]
    pub(super) fn line_of(&self, node: NodeId, dimension: usize) -> usize {
        (self.spot(node, dimension).0 >> self.lines[dimension].free.width()) as usize
    }

    /// What a step along a dimension adds to the number of a line along another one.
    #[inline]
    pub(super) fn line_pitch(&self, of: usize, along: usize) -> usize {
        let stride = self.grid.stride(along);
        (if along < of { stride } else { stride / self.grid.lengths()[of] }) as usize
    }

    /// Where a node is along a dimension.
    #[inline]
    pub(super) fn coordinate(&self, node: NodeId, dimension: usize) -> u32 {
        self.spot(node, dimension).0 & !(u32::MAX << self.lines[dimension].free.width())
    }

    /// Free nodes of a line along a dimension, the first in the lowest bit.
    #[inline]
    pub(super) fn free_on(&self, dimension: usize, line: usize) -> &[u64] {
        self.lines[dimension].free.of(line)
    }

    /// Nodes of a line along a dimension that have a rank.
    #[inline]
    pub(super) fn used_on(&self, dimension: usize, line: usize) -> &[u64] {
        self.lines[dimension].used.of(line)
    }

    /// Where along a dimension there are free nodes, among those whose lower coordinates make up `prefix` (the sum of each
    /// times its stride).
    #[inline]
    pub(super) fn free_beyond(&self, dimension: usize, prefix: usize) -> &[u64] {
        match self.prefixes.get(dimension) {
            Some(masks) => masks.of(prefix),
            None => self.lines[dimension].free.of(prefix),
        }
    }

    #[inline]
    fn spot(&self, node: NodeId, dimension: usize) -> Spot {
        self.spots[node.index() * self.lines.len() + dimension]
    }

    fn set(&mut self, node: NodeId, state: u32) {
        let before = std::mem::replace(&mut self.rank_of[node.index()], state);
        let free_changes = (before == FREE) != (state == FREE);
        let used_changes = (before < DEAD) != (state < DEAD);
        let first = node.index() * self.lines.len();
        for (lines, spot) in self.lines.iter_mut().zip(&self.spots[first..]) {
            lines.used.flip(*spot, used_changes);
            lines.free.flip(*spot, free_changes);
        }
        if free_changes {
            self.free = if state == FREE { self.free + 1 } else { self.free - 1 };
            self.note_free(node);
        }
    }

    /// Brings the masks of prefixes up to date where the node's mask may have become empty or no more so.
    fn note_free(&mut self, node: NodeId) {
        for dimension in (0..self.prefixes.len()).rev() {
            let behind = (node.0 % self.grid.stride(dimension + 1)) as usize;
            let some = self.free_beyond(dimension + 1, behind).iter().any(|&word| word != 0);
            let at = self.coordinate(node, dimension);
            let prefix = (node.0 % self.grid.stride(dimension)) as usize;
            if !self.prefixes[dimension].put(prefix, at, some) {
                return;
            }
        }
    }
}

impl Masks {
    fn new(count: usize, length: u32) -> Self {
        let words = words(length);
        Masks { words, bits: vec![0; count << words] }
    }

    /// Of bits of a mask the binary logarithm.
    #[inline]
    fn width(&self) -> u32 {
        self.words + u64::BITS.ilog2()
    }

    #[inline]
    fn of(&self, at: usize) -> &[u64] {
        &self.bits[at << self.words..(at + 1) << self.words]
    }

    /// Changes a position, if asked to.
    #[inline]
    fn flip(&mut self, Spot(bit): Spot, changes: bool) {
        self.bits[(bit / 64) as usize] ^= u64::from(changes) << (bit % 64);
    }

    /// Sets or clears a position; returns whether it was otherwise.
    #[inline]
    fn put(&mut self, mask: usize, at: u32, on: bool) -> bool {
        let word = &mut self.bits[(mask << self.words) + (at / 64) as usize];
        let before = *word;
        *word = before & !(1 << (at % 64)) | u64::from(on) << (at % 64);
        before != *word
    }
}

/// Of words of a mask of so many positions the binary logarithm.
fn words(length: u32) -> u32 {
    length.div_ceil(64).next_power_of_two().ilog2()
}

fn spots(grid: &Grid) -> Arc<[Spot]> {
    let nodes = (0..grid.node_count()).map(NodeId::from_index);
    let of = |node: NodeId| {
        (0..grid.dimensions()).map(move |dimension| {
            let (stride, length) = (grid.stride(dimension), grid.lengths()[dimension]);
            let line = node.0 % stride + node.0 / (stride * length) * stride;
            let width = words(length) + u64::BITS.ilog2();
            Spot(line << width | grid.coordinate(node, dimension))
        })
    };
    nodes.flat_map(of).collect()
}
