//! SSSP: shortest paths chosen one destination after the other, each seeing the load of all before it.
//!
//! For every destination a shortest-path tree is grown from it; then every channel's weight grows by the number of
//! sources that the tree sends over it. Balances over the whole fabric, where MinHop balances each switch by itself; it
//! uses one lane and never looks for credit loops, so it may deadlock (DFSSSP adds lanes to the same tables).
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks", Hot Interconnects
//! 2009; `reference/routing-engines.md`, section 5.
//! Departs from it: weights are (hops, load) compared in that order instead of one number with a large base, so nothing
//! overflows and paths are minimal whatever the load; load counts nodes as sources, not switches; destinations go by id.
//! With `compat = opensm` all of that is as OpenSM has it.
//! Limits: destinations are served in turn, so little of it runs in parallel.

mod as_opensm;
mod by_load;
mod heap;

use crate::machine::{LidOwner, SwitchGraph};
use crate::params::Args;
use crate::recovery::routing::{Compat, Engine, Lft, Outcome, Refusal, RouteOptions, Routing};

/// The SSSP engine.
pub struct Sssp;

impl Engine for Sssp {
    fn name(&self) -> &'static str {
        "sssp"
    }

    fn title(&self) -> &'static str {
        "SSSP"
    }

    fn summary(&self) -> &'static str {
        "shortest paths, balanced over the whole fabric; any topology, may deadlock"
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, _args: &Args) -> Outcome {
        match tables(graph, options) {
            Ok(lft) => Outcome::Routed(Routing::single_lane(lft)),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }
}

/// The tables of SSSP, which DFSSSP shares.
///
/// # Errors
/// Only with compat opensm: where OpenSM's weights overflow.
pub fn tables(graph: &SwitchGraph<'_>, options: &RouteOptions) -> Result<Lft, Refusal> {
    match options.compat {
        Compat::Plain => Ok(by_load::tables(graph, options)),
        Compat::OpenSm => as_opensm::tables(graph, options),
    }
}

/// Compute nodes, then I/O nodes: the destinations that go first.
fn first(options: &RouteOptions) -> Vec<LidOwner> {
    let listed = options.compute_nodes.iter().chain(&options.io_nodes);
    listed.map(|&endpoint| LidOwner::Endpoint(endpoint)).collect()
}
