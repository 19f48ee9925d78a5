//! First port: every switch forwards by its lowest port on a shortest way.

use crate::machine::SwitchGraph;
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

    fn route(&self, graph: &SwitchGraph<'_>, _options: &RouteOptions) -> Outcome {
        let machine = graph.machine();
        let hops = HopMatrix::shortest(graph);
        let mut lft = Lft::empty(machine);
        for endpoint in machine.endpoints() {
            let Some(target) = graph.switch_of(endpoint) else { continue };
            let lid = machine.lids().of_endpoint(endpoint);
            lft.set(target, lid, machine.head(machine.injection(endpoint)).port);
            for switch in machine.switches().filter(|&switch| switch != target) {
                let here = hops.row(switch)[target.index()];
                let closer = graph.neighbours(switch).find(|(_, head)| {
                    here != HopMatrix::FAR && hops.row(*head)[target.index()] + 1 == here
                });
                if let Some((channel, _)) = closer {
                    lft.set(switch, lid, machine.tail(channel).port);
                }
            }
        }
        Outcome::Routed(Routing::single_lane(lft))
    }
}
