//! Where spare nodes are kept: whole sides of the grid, `qD(r,s)`, or what a job of some shape leaves.
//!
//! `2D(2,1)` keeps two sides, each one node thick, of a two-dimensional grid. A side is the high end of a dimension; the
//! dimensions taken are the first `r`, x first (the paper's figures take the right-hand column, then the bottom row). A
//! machine that grants more nodes than a job asks for, as K and BG/Q do, keeps what is beyond the job: `11x11x11`.
//!
//! Source: Hori et al. 2016, "Spare Node Allocation", Figures 2, 3 and 22.

use std::fmt;
use std::str::FromStr;

use crate::grid::Grid;

/// Spare nodes at the sides of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// `qD(r,s)`.
    Sides {
        /// Dimensions of the grid: `q`.
        dimensions: usize,
        /// Dimensions whose high end is kept: `r`.
        sides: usize,
        /// Nodes that a side is thick: `s`.
        thickness: u32,
    },
    /// All beyond a job of this shape, x first.
    Beyond(Vec<u32>),
}

/// An allocation that is none, or does not fit the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// Not the notation.
    #[error(
        "an allocation is written as `2D(2,1)`: dimensions, sides, thickness; as the shape of the job, `11x11`; or as `boundary(1)` between two jobs; got `{given}`"
    )]
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
    /// A job that does not fit.
    #[error(
        "a job of {allocation} does not fit the machine: {shape} has {length} nodes along dimension {dimension}"
    )]
    Large {
        /// What was given.
        allocation: Allocation,
        /// The grid's shape.
        shape: String,
        /// Nodes along the dimension.
        length: u32,
        /// Which it is, from 0.
        dimension: usize,
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
    /// Dimensions of the grid that it is for.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        match self {
            Allocation::Sides { dimensions, .. } => *dimensions,
            Allocation::Beyond(shape) => shape.len(),
        }
    }

    /// Shape of what is left for ranks, x first.
    ///
    /// # Errors
    /// If the grid has another number of dimensions, or nothing is left.
    pub fn job_shape(&self, grid: &Grid) -> Result<Vec<u32>, AllocationError> {
        let shape = || grid.lengths().iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        if self.dimensions() != grid.dimensions() {
            return Err(AllocationError::Dimensions {
                allocation: self.clone(),
                expected: self.dimensions(),
                dimensions: grid.dimensions(),
                shape: shape(),
            });
        }
        let left = |(dimension, &length): (usize, &u32)| {
            let (allocation, shape) = (self.clone(), shape());
            match self {
                Allocation::Sides { sides, .. } if dimension >= *sides => Ok(length),
                Allocation::Sides { thickness, .. } => length
                    .checked_sub(*thickness)
                    .filter(|&left| left > 0)
                    .ok_or(AllocationError::Thick { allocation, shape, length, dimension }),
                Allocation::Beyond(job) => Some(job[dimension])
                    .filter(|&own| own <= length)
                    .ok_or(AllocationError::Large { allocation, shape, length, dimension }),
            }
        };
        grid.lengths().iter().enumerate().map(left).collect()
    }

    /// Share of the nodes that are spares, exactly.
    ///
    /// # Errors
    /// As [`job_shape`](Allocation::job_shape).
    pub fn share(&self, grid: &Grid) -> Result<f64, AllocationError> {
        let used: f64 = self.job_shape(grid)?.into_iter().map(f64::from).product();
        Ok(1.0 - used / grid.node_count() as f64)
    }

    /// The same by the paper's formula for a cube of `nodes` nodes: `1 - (n - s)^r n^(q - r) / N` with `n = N^(1/q)`; it has none
    /// for what is beyond a job.
    #[must_use]
    pub fn share_by_formula(&self, nodes: f64) -> Option<f64> {
        let Allocation::Sides { dimensions, sides, thickness } = *self else { return None };
        let length = nodes.powf(1.0 / dimensions as f64);
        let sides = sides as i32;
        let used =
            (length - f64::from(thickness)).powi(sides) * length.powi(dimensions as i32 - sides);
        Some(1.0 - used / nodes)
    }
}

impl fmt::Display for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allocation::Sides { dimensions, sides, thickness } => {
                write!(f, "{dimensions}D({sides},{thickness})")
            }
            Allocation::Beyond(shape) => {
                f.write_str(&shape.iter().map(u32::to_string).collect::<Vec<_>>().join("x"))
            }
        }
    }
}

impl FromStr for Allocation {
    type Err = AllocationError;

    fn from_str(text: &str) -> Result<Self, AllocationError> {
        let wrong = || AllocationError::Notation { given: text.to_owned() };
        let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        let Some((dimensions, rest)) = bare.split_once(['D', 'd']) else {
            let lengths = bare.split('x').map(|length| length.parse().map_err(|_| wrong()));
            let shape = lengths.collect::<Result<Vec<u32>, _>>()?;
            return if shape.contains(&0) { Err(wrong()) } else { Ok(Allocation::Beyond(shape)) };
        };
        let inside = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let (sides, thickness) =
            inside.and_then(|inside| inside.split_once(',')).ok_or_else(wrong)?;
        let dimensions = dimensions.parse().map_err(|_| wrong())?;
        let sides = sides.parse().map_err(|_| wrong())?;
        let thickness = thickness.parse().map_err(|_| wrong())?;
        let allocation = Allocation::Sides { dimensions, sides, thickness };
        if sides > dimensions {
            return Err(AllocationError::Sides { allocation, dimensions });
        }
        Ok(allocation)
    }
}
