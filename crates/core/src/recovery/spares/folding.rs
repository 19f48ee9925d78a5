//! Jobs folded onto a machine of more dimensions, so that neighbours stay neighbours.
//!
//! Each dimension of the job runs like a snake through some dimensions of the machine: the last of them there and back again, at
//! each turn one step along the one before, and so on (a reflected mixed-radix code).
//!
//! Source: Hori et al. 2016, "Evaluations on K, BG/Q and TSUBAME 2.5" (Tofu, and the "snake-like pattern" of BG/Q). Which
//! dimensions go together is not said there; the presets are a GUESS.

use crate::grid::{Grid, GridError};
use crate::ids::NodeId;

/// A machine, and which of its dimensions each dimension of the job runs through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folding {
    /// The machine.
    pub network: Grid,
    /// By dimension of the job: dimensions of the machine, the fastest last.
    pub through: Vec<Vec<usize>>,
}

/// A folding that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldingError {
    /// Not one of the presets.
    #[error("a folding is tofu or bgq, got `{given}`")]
    Unknown {
        /// What was given.
        given: String,
    },
    /// A shape that the machine has no place for.
    #[error("{machine} takes {wanted}, got {shape}")]
    Shape {
        /// The machine.
        machine: &'static str,
        /// What it takes.
        wanted: &'static str,
        /// The job's shape, spares included.
        shape: String,
    },
    /// A machine that is none.
    #[error(transparent)]
    Grid(#[from] GridError),
}

impl Folding {
    /// A folding by name: `tofu` (six dimensions, the last three of 2, 3 and 2 nodes) or `bgq` (five, the last of 2).
    ///
    /// # Errors
    /// If there is no such folding, or the shape does not fit into whole units of the machine.
    pub fn named(name: &str, shape: &[u32]) -> Result<Self, FoldingError> {
        match name {
            "tofu" => Self::tofu(shape),
            "bgq" => Self::bgq(shape),
            _ => Err(FoldingError::Unknown { given: name.to_owned() }),
        }
    }

    /// Part of a Tofu network: X, Y, Z lines, units of A (2), B (3, closed) and C (2).
    fn tofu(shape: &[u32]) -> Result<Self, FoldingError> {
        let error = || FoldingError::Shape {
            machine: "Tofu",
            wanted: "two dimensions that are multiples of 2 and 6, or three of 2, 3 and 2",
            shape: written(shape),
        };
        let units = |of: &[u32]| -> Option<Vec<u32>> {
            let whole = shape.len() == of.len()
                && shape.iter().zip(of).all(|(n, of)| n.is_multiple_of(*of));
            whole.then(|| shape.iter().zip(of).map(|(length, of)| length / of).collect())
        };
        let (lengths, through) = if let Some(units) = units(&[2, 3, 2]) {
            ([units[0], units[1], units[2], 2, 3, 2], vec![vec![0, 3], vec![1, 4], vec![2, 5]])
        } else if let Some(units) = units(&[2, 6]) {
            ([units[0], units[1], 1, 2, 3, 2], vec![vec![0, 3], vec![1, 4, 5]])
        } else {
            return Err(error());
        };
        Ok(Folding { network: Grid::wrapped(&lengths, |dimension| dimension == 4)?, through })
    }

    /// Part of a BG/Q network: A to D, and E (2), all closed.
    fn bgq(shape: &[u32]) -> Result<Self, FoldingError> {
        let powers = shape.iter().all(|length| length.is_power_of_two());
        let &[x, y, z] = shape else { return Err(bgq_error(shape)) };
        if !powers || y < 2 {
            return Err(bgq_error(shape));
        }
        // The longest goes through two dimensions that are as even as they can be.
        let a = 1 << x.ilog2().div_ceil(2);
        let network = Grid::new(&[a, x / a, y / 2, z, 2], true)?;
        Ok(Folding { network, through: vec![vec![0, 1], vec![2, 4], vec![3]] })
    }

    /// The node of the machine that each node of the job's grid stands on.
    ///
    /// # Panics
    /// If lengths do not fit.
    #[must_use]
    pub fn stands_on(&self, grid: &Grid) -> Vec<NodeId> {
        let node = |node: usize| {
            let mut at = 0;
            for (dimension, through) in self.through.iter().enumerate() {
                let lengths = through.iter().map(|&own| self.network.lengths()[own]);
                assert_eq!(
                    lengths.product::<u32>(),
                    grid.lengths()[dimension],
                    "a folding that fits"
                );
                let mut rest = grid.coordinate(NodeId::from_index(node), dimension);
                // The fastest last; each goes back where those before it are odd.
                for &own in through.iter().rev() {
                    let length = self.network.lengths()[own];
                    let (turn, step) = (rest / length, rest % length);
                    let step = if turn % 2 == 1 { length - 1 - step } else { step };
                    at += step * self.network.stride(own);
                    rest = turn;
                }
            }
            NodeId(at)
        };
        (0..grid.node_count()).map(node).collect()
    }
}

fn bgq_error(shape: &[u32]) -> FoldingError {
    FoldingError::Shape {
        machine: "BG/Q",
        wanted: "three dimensions that are powers of 2, the second at least 2",
        shape: written(shape),
    }
}

fn written(shape: &[u32]) -> String {
    shape.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_stay_neighbours() {
        for (name, shape) in
            [("tofu", vec![12, 12, 12]), ("tofu", vec![12, 12]), ("bgq", vec![16, 8, 8])]
        {
            let folding = Folding::named(name, &shape).unwrap();
            let grid = Grid::new(&shape, false).unwrap();
            assert_eq!(folding.network.node_count(), grid.node_count());
            let on = folding.stands_on(&grid);
            let mut sorted = on.clone();
            sorted.sort_unstable();
            assert!(sorted.is_sorted_by(|one, next| one < next), "two nodes on one");
            for node in (0..grid.node_count()).map(NodeId::from_index) {
                for (dimension, &length) in shape.iter().enumerate() {
                    if grid.coordinate(node, dimension) + 1 < length {
                        let next = NodeId(node.0 + grid.stride(dimension));
                        assert_eq!(folding.network.hops(on[node.index()], on[next.index()]), 1);
                    }
                }
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let wrong = Folding::named("tofu", &[12, 11, 12]).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "Tofu takes two dimensions that are multiples of 2 and 6, or three of 2, 3 and 2, got 12x11x12"
        );
        assert!(Folding::named("bgq", &[12, 8, 8]).is_err());
        assert!(Folding::named("dragonfly", &[12, 8, 8]).is_err());
    }
}
