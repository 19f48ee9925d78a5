//! First port: every switch forwards by its lowest port on a shortest way.

use crate::machine::SwitchGraph;
use crate::params::Args;
use crate::recovery::routing::hops::HopMatrix;
use crate::recovery::routing::{Engine, Lft, Outcome, RouteOptions, Routing};

/// The first-port engine.
pub struct FirstPort;

impl Engine for FirstPort {
    fn name(&self) -> &'static str {
        "first-port"
    }

    fn title(&self) -> &'static str {
        "First port"
    }

    fn summary(&self) -> &'static str {
        "lowest port on a shortest way; not balanced, may deadlock"
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, _args: &Args) -> Outcome {
        let machine = graph.machine();
        let hops = HopMatrix::shortest(graph);
        let mut lft = Lft::empty(machine, options.lmc);
        for endpoint in machine.endpoints() {
            let Some(target) = graph.switch_of(endpoint) else { continue };
            let lids = lft.lids().all_of_endpoint(endpoint);
            let own = machine.head(machine.injection(endpoint)).port;
            lids.clone().for_each(|lid| lft.set(target, lid, own));
            for switch in machine.switches().filter(|&switch| switch != target) {
                let here = hops.row(switch)[target.index()];
                let closer = graph.neighbours(switch).find(|(_, head)| {
                    here != HopMatrix::FAR && hops.row(*head)[target.index()] + 1 == here
                });
                if let Some((channel, _)) = closer {
                    let port = machine.tail(channel).port;
                    lids.clone().for_each(|lid| lft.set(switch, lid, port));
                }
            }
        }
        Outcome::Routed(Routing::single_lane(lft))
    }
}
