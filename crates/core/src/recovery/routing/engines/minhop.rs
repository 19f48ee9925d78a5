//! MinHop: shortest paths, destinations spread evenly over each switch's equally short ports.
//!
//! OpenSM's default and its silent fallback. Each switch balances by itself, so load can still pile up downstream; it
//! uses one lane and never looks for credit loops, so on meshes, tori and random graphs it may deadlock. It routes every
//! pair that cables join and never refuses.
//!
//! Source: `reference/routing-engines.md`, section 5 (OpenSM 3.3.23's behaviour, described). Departs from it: LIDs are
//! visited in ascending dense order. Limits: memory grows with switches squared (2 bytes a pair).

use crate::machine::SwitchGraph;
use crate::params::Args;
use crate::recovery::routing::balance::{Spread, balance};
use crate::recovery::routing::hops::HopMatrix;
use crate::recovery::routing::{Engine, Outcome, RouteOptions, Routing};

/// The MinHop engine.
pub struct MinHop;

impl Engine for MinHop {
    fn name(&self) -> &'static str {
        "minhop"
    }

    fn title(&self) -> &'static str {
        "MinHop"
    }

    fn summary(&self) -> &'static str {
        "shortest paths, balanced per switch; any topology, may deadlock"
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, _args: &Args) -> Outcome {
        let hops = HopMatrix::shortest(graph);
        let lft = balance(graph, options, Spread::AllWays, |switch, _, head, target| {
            let here = hops.row(switch)[target.index()];
            here != HopMatrix::FAR && hops.row(head)[target.index()] + 1 == here
        });
        Outcome::Routed(Routing::single_lane(lft))
    }
}
