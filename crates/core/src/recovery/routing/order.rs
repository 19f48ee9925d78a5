//! The order in which engines visit switches and destinations: what breaks every tie.

use super::options::{Compat, RouteOptions};
use crate::ids::{EndpointId, SwitchId};
use crate::machine::{LidOwner, SwitchGraph};

/// Living switches and attached endpoints in the order of their map.
///
/// Plain: ascending ids. As OpenSM: ascending GUIDs with bytes reversed, since OpenSM keys its maps by GUIDs in network
/// order and compares them as little-endian integers (reference/routing-engines.md, "Traps").
#[derive(Clone, Debug)]
pub struct VisitOrder {
    compat: Compat,
    switches: Vec<SwitchId>,
}

impl VisitOrder {
    /// The order that `options` ask for.
    #[must_use]
    pub fn new(graph: &SwitchGraph<'_>, options: &RouteOptions) -> Self {
        let machine = graph.machine();
        let mut switches: Vec<SwitchId> =
            machine.switches().filter(|&switch| graph.view().switch_alive(switch)).collect();
        if options.compat == Compat::OpenSm {
            switches.sort_by_key(|&switch| (machine.switch(switch).guid.swap_bytes(), switch));
        }
        VisitOrder { compat: options.compat, switches }
    }

    /// Living switches.
    #[must_use]
    pub fn switches(&self) -> &[SwitchId] {
        &self.switches
    }

    /// Destinations in the order in which MinHop, Up*/Down* and DOR balance them: those of `first`, then endpoints, then switches.
    ///
    /// Plain: endpoints by id. As OpenSM: switch by switch, those with the most attached endpoints first, each with its
    /// endpoints by the switch's port.
    #[must_use]
    pub fn destinations(&self, graph: &SwitchGraph<'_>, first: &[LidOwner]) -> Vec<LidOwner> {
        let machine = graph.machine();
        let mut order: Vec<LidOwner> = Vec::with_capacity(machine.lids().count());
        let mut done = vec![false; machine.lids().count()];
        let mut take = |owner: LidOwner| {
            let lid = match owner {
                LidOwner::Endpoint(endpoint) => machine.lids().of_endpoint(endpoint),
                LidOwner::Switch(switch) => machine.lids().of_switch(switch),
            };
            if !std::mem::replace(&mut done[lid.index()], true) {
                order.push(owner);
            }
        };
        let reachable = |owner: &&LidOwner| match **owner {
            LidOwner::Endpoint(endpoint) => graph.switch_of(endpoint).is_some(),
            LidOwner::Switch(switch) => graph.view().switch_alive(switch),
        };
        first.iter().filter(reachable).for_each(|&owner| take(owner));
        match self.compat {
            Compat::Plain => {
                let attached = machine.endpoints().filter(|&end| graph.switch_of(end).is_some());
                attached.for_each(|endpoint| take(LidOwner::Endpoint(endpoint)));
            }
            Compat::OpenSm => {
                let mut by_size = self.switches.clone();
                // Stable: equal ones stay in map order.
                by_size.sort_by_key(|&switch| std::cmp::Reverse(graph.attached(switch).len()));
                for switch in by_size {
                    by_port(graph, switch).into_iter().for_each(|e| take(LidOwner::Endpoint(e)));
                }
            }
        }
        self.switches.iter().for_each(|&switch| take(LidOwner::Switch(switch)));
        order
    }
}

/// Endpoints attached to `switch` in the order of the switch's ports.
#[must_use]
pub fn by_port(graph: &SwitchGraph<'_>, switch: SwitchId) -> Vec<EndpointId> {
    let machine = graph.machine();
    let mut ends = graph.attached(switch).to_vec();
    ends.sort_by_key(|&endpoint| machine.head(machine.injection(endpoint)).port);
    ends
}
