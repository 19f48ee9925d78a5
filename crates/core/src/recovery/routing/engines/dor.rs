//! DOR: shortest paths by the lowest port, which on a grid cabled dimension by dimension is dimension-order routing.
//!
//! At every switch the lowest port on a shortest way fixes the next switch; only cables that run in parallel to it share
//! load. It knows no dimensions: they are in the order of the ports, the same at every switch by the discipline of
//! whoever cabled the grid. Acyclic on meshes and on tori with rings of at most three; longer rings close credit loops,
//! since there is no dateline and one lane. Routes every pair that cables join and never refuses.
//!
//! Source: `reference/routing-engines.md`, section 5 (OpenSM 3.3.23's behaviour, described).
//! Limits: memory grows with switches squared (2 bytes a pair).

use crate::machine::SwitchGraph;
use crate::params::Args;
use crate::recovery::routing::balance::{Spread, balance};
use crate::recovery::routing::hops::HopMatrix;
use crate::recovery::routing::{Engine, Outcome, RouteOptions, Routing};

/// The DOR engine.
pub struct Dor;

impl Engine for Dor {
    fn name(&self) -> &'static str {
        "dor"
    }

    fn title(&self) -> &'static str {
        "DOR"
    }

    fn summary(&self) -> &'static str {
        "shortest paths by the lowest port; dimension order on well-cabled grids, may deadlock"
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, _args: &Args) -> Outcome {
        let hops = HopMatrix::shortest(graph);
        let lft = balance(graph, options, Spread::FirstNeighbour, |switch, _, head, target| {
            let here = hops.row(switch)[target.index()];
            here != HopMatrix::FAR && hops.row(head)[target.index()] + 1 == here
        });
        Outcome::Routed(Routing::single_lane(lft))
    }
}
