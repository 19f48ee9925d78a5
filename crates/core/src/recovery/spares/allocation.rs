//! Where spare nodes are kept: whole sides of the grid, `qD(r,s)`.
//!
//! `2D(2,1)` keeps two sides, each one node thick, of a two-dimensional grid. A side is the high end of a dimension; the
//! dimensions taken are the first `r`, x first (the paper's figures take the right-hand column, then the bottom row).
//!
//! Source: Hori et al. 2016, "Spare Node Allocation", Figures 2, 3 and 22.

use std::fmt;
use std::str::FromStr;

use crate::grid::Grid;
use crate::ids::NodeId;

/// Spare nodes at the sides of a grid: `qD(r,s)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Dimensions of the grid: `q`.
    pub dimensions: usize,
    /// Dimensions whose high end is kept: `r`.
    pub sides: usize,
    /// Nodes that a side is thick: `s`.
    pub thickness: u32,
}

/// An allocation that is none, or does not fit the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// Not the notation.
    #[error("an allocation is written as `2D(2,1)`: dimensions, sides, thickness; got `{given}`")]
    Notation {
        /// The text given.
        given: String,
    },
    /// More sides than dimensions.
    #[error("{allocation} keeps more sides than there are dimensions: give at most {dimensions}")]
    Sides {
        /// What was given.
        allocation: Allocation,
        /// The most sides.
        dimensions: usize,
    },
    /// Another number of dimensions than the grid.
    #[error("{allocation} is for {expected} dimensions, the machine has {dimensions}: {shape}")]
    Dimensions {
        /// What was given.
        allocation: Allocation,
        /// Its dimensions.
        expected: usize,
        /// Those of the grid.
        dimensions: usize,
        /// The grid's shape.
        shape: String,
    },
    /// Spares that leave nothing.
    #[error(
        "{allocation} is thicker than the machine: {shape} has only {length} nodes along dimension {dimension}"
    )]
    Thick {
        /// What was given.
        allocation: Allocation,
        /// The grid's shape.
        shape: String,
        /// Nodes along the dimension.
        length: u32,
        /// Which it is, from 0.
        dimension: usize,
    },
}

impl Allocation {
    /// Shape of what is left for ranks, x first.
    ///
    /// # Errors
    /// If the grid has another number of dimensions, or nothing is left.
    pub fn job_shape(&self, grid: &Grid) -> Result<Vec<u32>, AllocationError> {
        let shape = || grid.lengths().iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        if self.dimensions != grid.dimensions() {
            return Err(AllocationError::Dimensions {
                allocation: *self,
                expected: self.dimensions,
                dimensions: grid.dimensions(),
                shape: shape(),
            });
        }
        let mut lengths = grid.lengths().to_vec();
        for (dimension, length) in lengths.iter_mut().take(self.sides).enumerate() {
            *length =
                length.checked_sub(self.thickness).filter(|&left| left > 0).ok_or_else(|| {
                    AllocationError::Thick {
                        allocation: *self,
                        shape: shape(),
                        length: *length,
                        dimension,
                    }
                })?;
        }
        Ok(lengths)
    }

    /// Share of the nodes that are spares, exactly.
    ///
    /// # Errors
    /// As [`job_shape`](Allocation::job_shape).
    pub fn share(&self, grid: &Grid) -> Result<f64, AllocationError> {
        let used: f64 = self.job_shape(grid)?.into_iter().map(f64::from).product();
        Ok(1.0 - used / grid.node_count() as f64)
    }

    /// The same by the paper's formula for a cube of `nodes` nodes: `1 - (n - s)^r n^(q - r) / N` with `n = N^(1/q)`.
    #[must_use]
    pub fn share_by_formula(&self, nodes: f64) -> f64 {
        let length = nodes.powf(1.0 / self.dimensions as f64);
        let sides = self.sides as i32;
        let used = (length - f64::from(self.thickness)).powi(sides)
            * length.powi(self.dimensions as i32 - sides);
        1.0 - used / nodes
    }

    /// Whether a node is a spare.
    #[must_use]
    pub fn is_spare(&self, grid: &Grid, node: NodeId) -> bool {
        let mut kept = grid.coordinates(node).zip(grid.lengths()).take(self.sides);
        kept.any(|(at, length)| at + self.thickness >= *length)
    }
}

impl fmt::Display for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}D({},{})", self.dimensions, self.sides, self.thickness)
    }
}

impl FromStr for Allocation {
    type Err = AllocationError;

    fn from_str(text: &str) -> Result<Self, AllocationError> {
        let wrong = || AllocationError::Notation { given: text.to_owned() };
        let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        let (dimensions, rest) = bare.split_once(['D', 'd']).ok_or_else(wrong)?;
        let inside = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let (sides, thickness) =
            inside.and_then(|inside| inside.split_once(',')).ok_or_else(wrong)?;
        let allocation = Allocation {
            dimensions: dimensions.parse().map_err(|_| wrong())?,
            sides: sides.parse().map_err(|_| wrong())?,
            thickness: thickness.parse().map_err(|_| wrong())?,
        };
        if allocation.sides > allocation.dimensions {
            let dimensions = allocation.dimensions;
            return Err(AllocationError::Sides { allocation, dimensions });
        }
        Ok(allocation)
    }
}
