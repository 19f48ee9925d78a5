//! Spare nodes: where they are kept, and who moves where when a node fails.
//!
//! [`Allocation`] keeps sides of a [`Grid`](crate::grid::Grid) free, [`Occupancy`] knows who is where, [`Substitutes`] moves
//! ranks by a [`Policy`]: the paper's slides, or a search of our own. A [`Job`] has its messages with it; what they cost in
//! collisions is counted by `load`.
//!
//! Source: Hori et al., "Overhead of Using Spare Nodes", 2016.

mod allocation;
mod bound;
mod boundary;
mod chain;
mod folding;
mod job;
mod line;
mod method;
mod nearest;
mod occupancy;
mod optimal;
mod policy;
mod sites;
mod slide;
mod substitution;

pub use allocation::{Allocation, AllocationError};
pub use bound::{Fit, Straight, needs_straight_lines};
pub use boundary::{SideBySide, both_and_each};
pub use folding::{Folding, FoldingError};
pub use job::{Job, Step, rounds_of, shape_kept};
pub use method::{Method, MethodError};
pub use nearest::{Tie, nearest};
pub use occupancy::Occupancy;
pub use policy::{Effort, Policy, PolicyError};
pub use sites::{Sites, SitesError};
pub use slide::{Move, Slide};
pub use substitution::{Choice, Choices, Pick, Substitutes, Substitution};

#[cfg(test)]
mod tests;
