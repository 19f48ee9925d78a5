//! Cartesian shapes: nodes on a mesh or torus, and their distances.
//!
//! Node `x + X (y + Y z)` stands at `(x, y, z)`, x fastest, as everywhere. A grid says nothing about cables; each node has
//! a router of its own, which goes on working when the node fails (Hori et al. 2016 leave network failures out).

use crate::ids::NodeId;

/// Most dimensions of a grid.
pub const DIMENSIONS_MAX: usize = 8;

/// A mesh or torus of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    lengths: Vec<u32>,
    strides: Vec<u32>,
    /// Dimensions that close around, a bit each.
    wraps: u8,
}

/// A shape that no grid has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// No dimension, or too many.
    #[error("a grid has 1 to {DIMENSIONS_MAX} dimensions, got {given}")]
    Dimensions {
        /// Dimensions given.
        given: usize,
    },
    /// A length that is none.
    #[error("a grid has at least 1 node along each dimension, got {shape}")]
    Empty {
        /// The shape given.
        shape: String,
    },
    /// More nodes than are numbered.
    #[error("a grid has at most {max} nodes, got {shape}", max = Grid::NODES_MAX)]
    Nodes {
        /// The shape given.
        shape: String,
    },
}

impl Grid {
    /// Most nodes of a grid.
    pub const NODES_MAX: u32 = 1 << 24;

    /// A grid with so many nodes along each dimension, x first; a torus closes around in all of them.
    ///
    /// # Errors
    /// If there is no such grid.
    pub fn new(lengths: &[u32], torus: bool) -> Result<Self, GridError> {
        Self::wrapped(lengths, |_| torus)
    }

    /// A grid that closes around in some of its dimensions, as Tofu does.
    ///
    /// # Errors
    /// If there is no such grid.
    pub fn wrapped(lengths: &[u32], wraps: impl Fn(usize) -> bool) -> Result<Self, GridError> {
        if lengths.is_empty() || lengths.len() > DIMENSIONS_MAX {
            return Err(GridError::Dimensions { given: lengths.len() });
        }
        let shape = || lengths.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        if lengths.contains(&0) {
            return Err(GridError::Empty { shape: shape() });
        }
        let mut strides = Vec::with_capacity(lengths.len());
        let mut count = 1u32;
        for &length in lengths {
            strides.push(count);
            count = count
                .checked_mul(length)
                .filter(|&count| count <= Self::NODES_MAX)
                .ok_or_else(|| GridError::Nodes { shape: shape() })?;
        }
        let wraps =
            (0..lengths.len()).map(|dimension| u8::from(wraps(dimension)) << dimension).sum();
        Ok(Grid { lengths: lengths.to_vec(), strides, wraps })
    }

    /// Nodes along each dimension, x first.
    #[must_use]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Number of dimensions: `q` in the paper.
    #[inline]
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.lengths.len()
    }

    /// Whether it closes around along a dimension.
    #[inline]
    #[must_use]
    pub fn wraps(&self, dimension: usize) -> bool {
        self.wraps >> dimension & 1 == 1
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.lengths.iter().map(|&length| length as usize).product()
    }

    /// Distance in ids between neighbours along a dimension.
    #[inline]
    #[must_use]
    pub fn stride(&self, dimension: usize) -> u32 {
        self.strides[dimension]
    }

    /// Where a node stands along a dimension.
    #[inline]
    #[must_use]
    pub fn coordinate(&self, node: NodeId, dimension: usize) -> u32 {
        node.0 / self.strides[dimension] % self.lengths[dimension]
    }

    /// Where a node stands, x first.
    pub fn coordinates(&self, node: NodeId) -> impl Iterator<Item = u32> + '_ {
        (0..self.dimensions()).map(move |dimension| self.coordinate(node, dimension))
    }

    /// The node at these coordinates, if the grid has it.
    #[must_use]
    pub fn node_at(&self, coordinates: &[u32]) -> Option<NodeId> {
        let inside = coordinates.len() == self.dimensions()
            && coordinates.iter().zip(&self.lengths).all(|(at, length)| at < length);
        let ids = coordinates.iter().zip(&self.strides).map(|(at, stride)| at * stride);
        inside.then(|| NodeId(ids.sum()))
    }

    /// The next node along a dimension, up or down, around the end of a torus; `None` at the edge of a mesh.
    #[must_use]
    pub fn next(&self, node: NodeId, dimension: usize, up: bool) -> Option<NodeId> {
        let (at, length) = (self.coordinate(node, dimension), self.lengths[dimension]);
        let edge = if up { at + 1 == length } else { at == 0 };
        let to = match (edge, up) {
            (true, _) if !self.wraps(dimension) => return None,
            (true, true) => 0,
            (true, false) => length - 1,
            (false, true) => at + 1,
            (false, false) => at - 1,
        };
        let stride = self.strides[dimension];
        Some(NodeId(node.0 - at * stride + to * stride))
    }

    /// Hops between two nodes by dimension-order routing: the Manhattan distance, the shorter way around on a torus.
    #[must_use]
    pub fn hops(&self, from: NodeId, to: NodeId) -> u32 {
        let along = |dimension| {
            let apart = self.coordinate(from, dimension).abs_diff(self.coordinate(to, dimension));
            if self.wraps(dimension) { apart.min(self.lengths[dimension] - apart) } else { apart }
        };
        (0..self.dimensions()).map(along).sum()
    }
}
