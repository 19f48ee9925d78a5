//! Spare nodes: where they are kept, and who moves where when a node fails.
//!
//! [`Allocation`] keeps sides of a [`Grid`](crate::grid::Grid) free, [`Occupancy`] knows who is where, [`Substitutes`] moves
//! ranks by a [`Method`]. What a substitution costs in collisions is counted by `load`.
//!
//! Source: Hori et al., "Overhead of Using Spare Nodes", 2016.

mod allocation;
mod folding;
mod line;
mod method;
mod nearest;
mod occupancy;
mod slide;
mod substitution;

pub use allocation::{Allocation, AllocationError};
pub use folding::{Folding, FoldingError};
pub use method::{Method, MethodError};
pub use nearest::{Tie, nearest};
pub use occupancy::Occupancy;
pub use slide::{Move, Slide};
pub use substitution::{Choice, Choices, Pick, Substitutes, Substitution};

#[cfg(test)]
mod tests;
