//! What a launch says: a shape, an allocation and a policy, each a text as `runflat spares` takes it.
//!
//! Source: Hori et al., "Overhead of Using Spare Nodes", 2016 (the notation of allocations and policies).

use std::fmt;
use std::sync::Arc;

use runflat_core::grid::{Grid, GridError};
use runflat_core::params::Given;
use runflat_core::recovery::spares::{
    Allocation, AllocationError, Occupancy, Policy, PolicyError, SideBySide, both_and_each,
    rounds_of,
};
use runflat_core::rng::Seed;
use runflat_core::traffic::Traffic;
use runflat_core::workload::{self, WorkloadError};

/// A launch that was understood.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Ranks on their places, and the spares.
    pub occupancy: Occupancy,
    /// How failed places are substituted.
    pub policy: Policy,
    /// The one seed.
    pub seed: Seed,
    /// Nodes along each dimension of the job, or of each of two.
    shapes: Vec<Vec<u32>>,
}

/// A launch that means nothing.
#[derive(Debug)]
pub enum InputError {
    /// Not the notation of a shape.
    Shape {
        /// The text given.
        given: String,
    },
    /// A shape that no grid has.
    Grid(GridError),
    /// No allocation, or one that does not fit.
    Allocation(AllocationError),
    /// Spares between two jobs that leave no place for one of them, or are none.
    Boundary {
        /// The text given.
        given: String,
        /// The shape given.
        shape: String,
        /// The most planes that leave two jobs.
        most: u32,
    },
    /// No policy.
    Policy(PolicyError),
    /// No messages for a search to look at.
    Messages(WorkloadError),
}

impl Launch {
    /// Reads the texts of a launch.
    ///
    /// # Errors
    /// If one of them is not the notation, or they do not go together.
    pub fn read(
        shape: &str,
        torus: bool,
        allocation: &str,
        policy: &str,
        seed: u64,
    ) -> Result<Self, InputError> {
        let grid = Arc::new(Grid::new(&lengths(shape)?, torus)?);
        let policy = Policy::parse(policy, grid.dimensions())?;
        let (occupancy, shapes) = match planes_between(allocation) {
            Some(planes) => side_by_side(grid, planes, allocation, shape)?,
            None => {
                let allocation: Allocation = allocation.parse()?;
                let job = allocation.job_shape(&grid)?;
                (Occupancy::new(grid, &allocation)?, vec![job])
            }
        };
        Ok(Launch { occupancy, policy, seed: Seed(seed), shapes })
    }

    /// Messages between nearest neighbours, round by round: what a search lowers the collisions of.
    ///
    /// # Errors
    /// If there are none of that shape.
    pub fn messages(&self) -> Result<Vec<Traffic>, InputError> {
        let stencil = |shape: &Vec<u32>| {
            let text = written(shape, ",");
            let bound = workload::bind("stencil", &Given::from([("shape".to_owned(), text)]))?;
            bound.phase(shape.iter().product(), 0, self.seed)
        };
        let each = self.shapes.iter().map(stencil).collect::<Result<Vec<_>, _>>()?;
        Ok(match &each[..] {
            [first, second] => both_and_each(first, second).into(),
            all => all.iter().flat_map(|one| rounds_of(one, u32::MAX)).collect(),
        })
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Shape { given } => write!(
                f,
                "a shape is written as `12` or `4x3x2`: places along each dimension, x first, \
                 spares included; got `{given}`"
            ),
            InputError::Grid(error) => error.fmt(f),
            InputError::Allocation(error) => error.fmt(f),
            InputError::Boundary { given, shape, most: 0 } => write!(
                f,
                "`{given}` leaves no two jobs side by side on {shape}: a boundary needs at least \
                 3 places along x"
            ),
            InputError::Boundary { given, shape, most } => write!(
                f,
                "`{given}` leaves no two jobs side by side on {shape}: give a boundary of 1 to \
                 {most} planes"
            ),
            InputError::Policy(error) => error.fmt(f),
            InputError::Messages(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputError {}

macro_rules! from {
    ($($error:ident => $variant:ident)*) => {
        $(impl From<$error> for InputError {
            fn from(error: $error) -> Self {
                InputError::$variant(error)
            }
        })*
    };
}
from!(GridError => Grid AllocationError => Allocation PolicyError => Policy WorkloadError => Messages);

/// Reads `4x3`.
fn lengths(shape: &str) -> Result<Vec<u32>, InputError> {
    let wrong = || InputError::Shape { given: shape.to_owned() };
    let length = |word: &str| {
        let word = word.trim();
        let digits = !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_digit());
        word.parse().ok().filter(|_| digits).ok_or_else(wrong)
    };
    shape.split(['x', 'X', ',']).map(length).collect()
}

/// Reads `boundary(1)`: spares between two jobs. A number too large is 0 planes, as refused as that.
fn planes_between(allocation: &str) -> Option<u32> {
    let bare: String = allocation.chars().filter(|letter| !letter.is_whitespace()).collect();
    let inside = bare.strip_prefix("boundary(")?.strip_suffix(')')?;
    Some(inside.parse().unwrap_or(0))
}

fn side_by_side(
    grid: Arc<Grid>,
    planes: u32,
    allocation: &str,
    shape: &str,
) -> Result<(Occupancy, Vec<Vec<u32>>), InputError> {
    let most = grid.lengths()[0].saturating_sub(2);
    if !(1..=most).contains(&planes) {
        let (given, shape) = (allocation.to_owned(), shape.to_owned());
        return Err(InputError::Boundary { given, shape, most });
    }
    let jobs = SideBySide::new(grid, planes)?;
    Ok((jobs.occupancy, jobs.shapes.into()))
}

fn written(shape: &[u32], between: &str) -> String {
    shape.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(shape: &str, allocation: &str, policy: &str) -> String {
        Launch::read(shape, false, allocation, policy, 1).unwrap_err().to_string()
    }

    #[test]
    fn wrong_input_says_what_was_given_and_what_is_allowed() {
        for (shape, allocation, policy, words) in [
            ("", "1D(1,2)", "0D", ["`12` or `4x3x2`", "got ``"]),
            ("4x+3", "2D(1,1)", "0D", ["`12` or `4x3x2`", "`4x+3`"]),
            ("99999999999", "1D(1,2)", "0D", ["`12` or `4x3x2`", "99999999999"]),
            ("4x0", "2D(1,1)", "0D", ["at least 1 node", "4x0"]),
            ("9999x9999", "2D(1,1)", "0D", ["at most 16777216", "9999x9999"]),
            ("12", "last(2)", "0D", ["`2D(2,1)`", "`last(2)`"]),
            ("4x3", "1D(1,2)", "0D", ["for 1 dimensions", "4x3"]),
            ("12", "1D(1,12)", "0D", ["thicker than the machine", "1D(1,12)"]),
            ("12", "13", "0D", ["does not fit", "13"]),
            ("12", "1D(1,2)", "2D", ["`2D` slides in 2 dimensions", "at most 1D"]),
            ("12", "1D(1,2)", "nearest", ["`hybrid(all)`", "`nearest`"]),
            ("12", "1D(1,2)", "optimal(tries=3)", ["`optimal(trials=1000", "tries=3"]),
            ("12", "boundary(11)", "0D", ["1 to 10 planes", "`boundary(11)`"]),
            ("12", "boundary(0)", "0D", ["1 to 10 planes", "`boundary(0)`"]),
            ("2", "boundary(1)", "0D", ["at least 3 places", "on 2"]),
        ] {
            let message = refused(shape, allocation, policy);
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }

    #[test]
    fn shapes_are_read_as_the_command_line_does() {
        for text in ["4x3", " 4X3 ", "4,3", "4 x 3"] {
            assert_eq!(lengths(text).unwrap(), [4, 3]);
        }
    }

    #[test]
    fn a_search_looks_at_the_stencil_of_each_job() {
        let rounds = |allocation| {
            let launch = Launch::read("5x3", false, allocation, "optimal", 1).unwrap();
            launch.messages().unwrap().iter().map(|one| one.messages.len()).collect::<Vec<_>>()
        };
        assert_eq!(rounds("2D(1,1)"), [2 * (3 * 3 + 4 * 2)]);
        assert_eq!(rounds("boundary(1)"), [28, 14, 14]);
        assert_eq!(rounds("1x1"), [0; 0]);
    }
}
