//! Forwarding tables for a broken fabric, and the proof that they are right.
//!
//! An [`Engine`] turns a [`SwitchGraph`] into an [`Outcome`]: tables, or a refusal with its reason; it never falls back
//! to another engine. [`check`](check::check) then walks every route of the tables, whoever made them, so an engine from
//! OpenSM, from Python or from here passes through the same proof.

mod acyclic;
mod balance;
pub mod cdg;
pub mod check;
pub mod engines;
pub mod formats;
mod hops;
mod lanes;
mod lft;
mod options;
mod order;
mod paths;
mod tree;
pub mod update;

pub use acyclic::Acyclic;
pub use check::{Check, Cycle, Verdict};
pub use engines::torus_2qos::{TorusConf, TorusConfError, TorusDimension, TorusSeed};
pub use lanes::{LaneError, Lanes, SERVICE_LEVELS, SlToVl};
pub use lft::{Lft, LftError, Routing};
pub use options::{Compat, RouteOptions};
pub use order::VisitOrder;
pub use paths::{NoPaths, PathFinder};
pub use tree::{RouteTree, Step};

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::params::{Args, Param};

/// What became of a routing attempt. A refusal is a result, not an error.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Tables for every switch and LID that the engine could reach.
    Routed(Routing),
    /// The engine does not route this fabric.
    Refused(Refusal),
}

impl Outcome {
    /// A refusal noticed at no switch in particular.
    #[must_use]
    pub fn refused(reason: impl Into<String>) -> Self {
        Outcome::Refused(Refusal { reason: reason.into(), switch: None })
    }

    /// A refusal noticed at `switch`.
    #[must_use]
    pub fn refused_at(switch: SwitchId, reason: impl Into<String>) -> Self {
        Outcome::Refused(Refusal { reason: reason.into(), switch: Some(switch) })
    }
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
    /// What it takes beyond the common inputs, in the order of the notation.
    fn params(&self) -> &'static [Param] {
        &[]
    }
    /// Routes the usable part of a fabric.
    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, args: &Args) -> Outcome;
}

#[cfg(test)]
mod tests;
