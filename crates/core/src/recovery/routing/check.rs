//! The proof that tables are right: every route walked, every lane's dependency graph searched for a cycle.
//!
//! Walks the tables alone, whoever made them. A pair is (source node, destination LID of another node) in a common plane
//! of the intact machine; a node injects by its lowest attached port of the plane. Hops count switch-switch channels.
//!
//! Does not know what an engine promised; a table that reaches everything without a cycle is `ok` even if it is slow.

mod tally;

use rayon::prelude::*;

use super::lanes::Lanes;
use super::lft::Routing;
use super::tree::RouteTree;
use crate::ids::{ChannelId, EndpointId, NodeId, SwitchId};
use crate::machine::SwitchGraph;
use tally::Tally;

/// The verdict in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every pair has a route and no lane has a cycle.
    Ok,
    /// Every pair has a route, but routes of a lane can wait for each other in a ring.
    Deadlock,
    /// Some pair has no route.
    Incomplete,
}

impl Verdict {
    /// As scripts read it: `ok`, `deadlock`, `incomplete`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Deadlock => "deadlock",
            Verdict::Incomplete => "incomplete",
        }
    }
}

/// A credit loop: each channel's lane waits for the next, the last for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The channels around it.
    pub channels: Vec<ChannelId>,
    /// The lane of each; all the same unless the tables change lanes.
    pub vls: Vec<u8>,
}

/// What the walk over all routes found.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Pairs that should have a route: both nodes alive, a common plane when all is well.
    pub pairs: u64,
    /// Pairs without a route.
    pub unreachable_pairs: u64,
    /// Of those, pairs that no cable joins any more: no routing could help.
    pub cut_pairs: u64,
    /// Of the unreachable ones, pairs whose packets run in circles.
    pub looping_pairs: u64,
    /// The first few unreachable pairs, by destination, then source.
    pub unreachable: Vec<(NodeId, EndpointId)>,
    /// Longest route.
    pub hops_max: u32,
    /// Routes by their number of hops.
    pub routes_by_hops: Vec<u64>,
    /// Routes longer than the shortest way.
    pub nonminimal_pairs: u64,
    /// Edge forwarding index: routes over each channel, by channel; node channels and dead ones stay 0.
    pub forwarding_index: Vec<u64>,
    /// Largest edge forwarding index of a usable switch-switch channel.
    pub forwarding_index_max: u64,
    /// Mean edge forwarding index over the usable switch-switch channels, unused ones included.
    pub forwarding_index_mean: f64,
    /// Virtual lanes in use: one more than the highest.
    pub vls: u8,
    /// A cycle, if a lane has one.
    pub cycle: Option<Cycle>,
}

/// Unreachable pairs kept by name.
const MOST_EXAMPLES: usize = 8;

impl Check {
    /// The verdict in one word; a missing route weighs more than a cycle.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match (self.unreachable_pairs, &self.cycle) {
            (0, None) => Verdict::Ok,
            (0, Some(_)) => Verdict::Deadlock,
            _ => Verdict::Incomplete,
        }
    }

    /// Mean length of the routes, in hops.
    #[must_use]
    pub fn hops_mean(&self) -> f64 {
        let routes: u64 = self.routes_by_hops.iter().sum();
        let hops: u64 =
            self.routes_by_hops.iter().zip(0u64..).map(|(count, hops)| count * hops).sum();
        if routes == 0 { 0.0 } else { hops as f64 / routes as f64 }
    }
}

/// Walks every route of `routing` over the usable part of the fabric.
///
/// # Complexity
/// Time: LIDs x switches (x service levels where lanes change). Memory: a forwarding index and a dependency graph over all
/// lanes, for each thread.
#[must_use]
pub fn check(graph: &SwitchGraph<'_>, routing: &Routing) -> Check {
    let lanes = &routing.lanes;
    let targets: Vec<SwitchId> = (0..graph.switch_count() as u32).map(SwitchId).collect();
    let mut tally = targets
        .par_iter()
        .with_min_len(targets.len() / (4 * rayon::current_num_threads()) + 1)
        .fold(
            || Tally::new(graph, lanes),
            |mut tally, &target| {
                tally.add_routes_to(graph, routing, target);
                tally
            },
        )
        .reduce_with(Tally::merge)
        .unwrap_or_else(|| Tally::new(graph, lanes));
    // Nothing arrives at an endpoint whose cable is dead, but packets for it may still circle.
    let detached =
        |&endpoint: &EndpointId| graph.switch_of(endpoint).is_none() && is_routed(graph, endpoint);
    for endpoint in graph.machine().endpoints().filter(detached) {
        for lid in routing.lft.lids().all_of_endpoint(endpoint) {
            tally.tree.walk(graph, &routing.lft, lid);
            tally.count_lengths(graph, endpoint, sources_to(graph, endpoint));
        }
    }
    let per_endpoint = u64::from(routing.lft.lids().per_endpoint());
    let (pairs, cut_pairs) = count_pairs(graph);
    let (pairs, cut_pairs) = (pairs * per_endpoint, cut_pairs * per_endpoint);
    let routed: u64 = tally.routes_by_hops.iter().sum();
    let usable = |channel: &usize| {
        let link = ChannelId::from_index(*channel).link();
        graph.machine().is_switch_link(link) && graph.view().link_usable(link)
    };
    let (mut most, mut sum, mut count) = (0, 0, 0u64);
    for channel in (0..tally.forwarding_index.len()).filter(usable) {
        let routes = tally.forwarding_index[channel];
        most = most.max(routes);
        sum += routes;
        count += 1;
    }
    let cycle = tally.cdg.cycle(graph).map(|cycle| Cycle {
        channels: cycle.iter().map(|of| of.channel).collect(),
        vls: cycle.iter().map(|of| of.vl).collect(),
    });
    Check {
        pairs,
        unreachable_pairs: pairs - routed,
        cut_pairs,
        looping_pairs: tally.looping_pairs,
        unreachable: unreachable_examples(graph, routing, pairs - routed),
        hops_max: tally.routes_by_hops.len().saturating_sub(1) as u32,
        routes_by_hops: tally.routes_by_hops,
        nonminimal_pairs: tally.nonminimal_pairs,
        forwarding_index: tally.forwarding_index,
        forwarding_index_max: most,
        forwarding_index_mean: if count == 0 { 0.0 } else { sum as f64 / count as f64 },
        vls: match lanes {
            Lanes::ByPort(..) => (16 - tally.lanes_used.leading_zeros()).max(1) as u8,
            _ => lanes.count(),
        },
        cycle,
    }
}

/// Nodes that inject at a switch, the owner of `endpoint` left out.
fn sources_to<'g>(
    graph: &'g SwitchGraph<'_>,
    endpoint: EndpointId,
) -> impl Fn(SwitchId) -> u64 + 'g {
    let own = injecting_switch(graph, endpoint);
    move |switch| u64::from(graph.sources(switch)) - u64::from(own == Some(switch))
}

/// The switch at which the owner of `endpoint` injects into that plane.
fn injecting_switch(graph: &SwitchGraph<'_>, endpoint: EndpointId) -> Option<SwitchId> {
    graph.injector_of(endpoint).and_then(|injector| graph.switch_of(injector))
}

/// Whether switches route to the endpoint; two nodes back to back need no route.
fn is_routed(graph: &SwitchGraph<'_>, endpoint: EndpointId) -> bool {
    let machine = graph.machine();
    machine.as_switch(machine.head(machine.injection(endpoint)).vertex).is_some()
        && graph.view().node_alive(machine.endpoint_node(endpoint))
}

/// Pairs in a common plane of the intact machine, and those of them that no usable cables join.
fn count_pairs(graph: &SwitchGraph<'_>) -> (u64, u64) {
    let (machine, view) = (graph.machine(), graph.view());
    let part = parts(graph);
    let mut in_plane = vec![0u64; machine.plane_count()];
    let mut in_part = vec![0u64; graph.switch_count()];
    for node in machine.nodes().filter(|&node| view.node_alive(node)) {
        let mut planes: Vec<u32> = machine
            .endpoints_of(node)
            .map(|endpoint| machine.plane_of_endpoint(endpoint))
            .collect();
        planes.sort_unstable();
        planes.dedup();
        planes.iter().for_each(|&plane| in_plane[plane as usize] += 1);
    }
    for switch in machine.switches() {
        in_part[part[switch.index()] as usize] += u64::from(graph.sources(switch));
    }
    let (mut pairs, mut cut) = (0, 0);
    for endpoint in machine.endpoints().filter(|&endpoint| is_routed(graph, endpoint)) {
        let wanted = in_plane[machine.plane_of_endpoint(endpoint) as usize] - 1;
        let own = injecting_switch(graph, endpoint);
        let joined = graph.switch_of(endpoint).map_or(0, |switch| {
            let here = part[switch.index()];
            let own_here = own.is_some_and(|own| part[own.index()] == here);
            in_part[here as usize] - u64::from(own_here)
        });
        pairs += wanted;
        cut += wanted - joined;
    }
    (pairs, cut)
}

/// The lowest switch that usable cables join with each switch.
fn parts(graph: &SwitchGraph<'_>) -> Vec<u32> {
    let mut part: Vec<u32> = (0..graph.switch_count() as u32).collect();
    for members in graph.joined_switches() {
        members.iter().for_each(|switch| part[switch.index()] = members[0].0);
    }
    part
}

/// The first few pairs without a route, for people to look at.
fn unreachable_examples(
    graph: &SwitchGraph<'_>,
    routing: &Routing,
    unreachable_pairs: u64,
) -> Vec<(NodeId, EndpointId)> {
    let machine = graph.machine();
    let mut examples = Vec::new();
    if unreachable_pairs == 0 {
        return examples;
    }
    let alive = |node: NodeId| graph.view().node_alive(node);
    let mut tree = RouteTree::default();
    for endpoint in machine.endpoints().filter(|&endpoint| is_routed(graph, endpoint)) {
        let owner = machine.endpoint_node(endpoint);
        tree.walk(graph, &routing.lft, routing.lft.lids().of_endpoint(endpoint));
        let plane = machine.plane_of_endpoint(endpoint);
        for node in machine.nodes().filter(|&node| node != owner && alive(node)) {
            let mut in_plane =
                machine.endpoints_of(node).filter(|&e| machine.plane_of_endpoint(e) == plane);
            let Some(first) = in_plane.next() else { continue };
            let injector = injecting_switch(graph, first);
            if injector.is_none_or(|switch| tree.hops(switch).is_none()) {
                examples.push((node, endpoint));
                if examples.len() == MOST_EXAMPLES {
                    return examples;
                }
            }
        }
    }
    examples
}
