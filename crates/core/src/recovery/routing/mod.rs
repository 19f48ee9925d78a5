//! Forwarding tables for a broken fabric, and the proof that they are right.
//!
//! An [`Engine`] turns a [`SwitchGraph`] into an [`Outcome`]: tables, or a refusal with its reason; it never falls back
//! to another engine. [`check`](check::check) then walks every route of the tables, whoever made them, so an engine from
//! OpenSM, from Python or from here passes through the same proof.

pub mod cdg;
pub mod check;
pub mod engines;
mod hops;
mod lft;
mod paths;
mod tree;

pub use check::{Check, Cycle, Verdict};
pub use lft::{Lanes, Lft, LftError, Routing};
pub use paths::PathFinder;
pub use tree::{RouteTree, Step};

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;

/// What an engine may be given; OpenSM's own inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteOptions {
    /// Root switches for tree-like engines; empty: the engine finds them or refuses.
    pub roots: Vec<SwitchId>,
    /// Virtual lanes that may be used, 1 to 15.
    pub max_vl: u8,
}

impl Default for RouteOptions {
    fn default() -> Self {
        RouteOptions { roots: Vec::new(), max_vl: 8 }
    }
}

/// What became of a routing attempt. A refusal is a result, not an error.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Tables for every switch and LID that the engine could reach.
    Routed(Routing),
    /// The engine does not route this fabric.
    Refused(Refusal),
}

/// Why an engine refused, and where it noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In words, without names of parts.
    pub reason: String,
    /// The switch at which it was noticed.
    pub switch: Option<SwitchId>,
}

/// A routing engine.
pub trait Engine: Sync {
    /// Its name on the command line and in plans, as OpenSM's `-R` takes it where OpenSM has it.
    fn name(&self) -> &'static str;
    /// Its name in tables and pictures.
    fn title(&self) -> &'static str;
    /// One line for lists.
    fn summary(&self) -> &'static str;
    /// Routes the usable part of a fabric.
    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions) -> Outcome;
}

#[cfg(test)]
mod tests;
