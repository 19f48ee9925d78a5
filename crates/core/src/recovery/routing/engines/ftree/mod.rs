//! Fat-tree: destinations spread over the roots of a tree so that shift patterns meet no shared cable.
//!
//! Switches are ranked from the roots (`rank`) and numbered within their rank (`tuples`); then, leaf by leaf in that
//! order, each destination gets a main path from a root down to it, and all other switches climb to that path (`walk`),
//! always by the group of cables and the cable used least (`groups`). Leaves with fewer nodes count up to the fullest,
//! so that the pattern stays even. Destinations that are no compute nodes follow, then the switches themselves. Routed
//! as OpenSM, the tables of trees are OpenSM's entry by entry, broken ones with roots included.
//!
//! Each set of joined switches is a tree of its own; if one is refused, all are. One that failures left without two
//! switches or two nodes keeps its local routes, and bare switches beside others have none. OpenSM hands over tables
//! even if some pairs got no route; here that is a refusal unless `unreached=keep`.
//!
//! Source: Zahavi, Johnson, Kerbyson, Lang, "Optimized InfiniBand fat-tree routing for shift all-to-all communication
//! patterns", CCPE 2010; `reference/routing-engines.md`, section 5, and OpenSM 3.3.23 on ibsim where the text left a tie
//! open. Departs from OpenSM: cables within a rank and ways against the tree are tried after all others, nearest switches
//! first, where OpenSM's recursion loses nodes (Deimos); ties go by the tuple digit of the level, so that shifts stay
//! free of conflicts however ports are numbered (by whole tuples when routing as OpenSM); roots are not joined to each
//! other for their own LIDs.
//! Limits: one LID an endpoint, 2 to 8 levels; free from credit loops by construction only in trees: cables within a
//! rank and ways against the tree may close one, which the check finds.

mod groups;
mod rank;
#[cfg(test)]
mod tests;
mod tuples;
mod walk;

use crate::ids::{EndpointId, SwitchId};
use crate::machine::SwitchGraph;
use crate::params::{Args, Kind, Param};
use crate::recovery::routing::order::by_port;
use crate::recovery::routing::{
    Compat, Engine, Lft, Outcome, Refusal, RouteOptions, RouteTree, Routing, VisitOrder,
};
use groups::Groups;
use rank::{Part, UNRANKED};
use walk::{Purpose, Walk};

/// The fat-tree engine.
pub struct FatTree;

impl Engine for FatTree {
    fn name(&self) -> &'static str {
        "ftree"
    }

    fn title(&self) -> &'static str {
        "Fat-tree"
    }

    fn summary(&self) -> &'static str {
        "even use of all roots by destination; fat-trees only, broken or uneven ones with roots given"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "unreached",
                doc: "what to do if a pair that cables join gets no route: refuse, or keep the \
                      incomplete tables",
                kind: Kind::Choice(&["refuse", "keep"]),
                default: Some("refuse"),
            },
            Param {
                name: "max_reverse_hops",
                doc: "hops up after a hop down that ways to I/O nodes may have",
                kind: Kind::Int(0, 255),
                default: Some("0"),
            },
        ]
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, args: &Args) -> Outcome {
        let tree = match Tree::new(graph, options) {
            Ok(tree) => tree,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let lft = tree.route(args.count("max_reverse_hops"));
        if args.text("unreached") == "refuse"
            && let Some(refusal) = unreached(graph, &lft, &tree.parts)
        {
            return Outcome::Refused(refusal);
        }
        Outcome::Routed(Routing::single_lane(lft))
    }
}

/// Ranked trees and who is attached to them.
struct Tree<'g> {
    graph: &'g SwitchGraph<'g>,
    /// All sets of joined switches; those with nothing to route are not ranked.
    parts: Vec<Part>,
    rank: Vec<u32>,
    /// The switches of each ranked part, in tuple order.
    order: Vec<Vec<SwitchId>>,
    compute: Vec<bool>,
    io: Vec<bool>,
    /// Endpoints that are no compute nodes, in visiting order.
    others: Vec<EndpointId>,
    groups: Groups,
}

impl<'g> Tree<'g> {
    fn new(graph: &'g SwitchGraph<'g>, options: &RouteOptions) -> Result<Self, Refusal> {
        let refuse = |reason: &str| Err(Refusal { reason: reason.to_owned(), switch: None });
        if options.lmc > 0 {
            return refuse("it gives every endpoint one LID; take LMC 0");
        }
        let visit = VisitOrder::new(graph, options);
        if visit.switches().is_empty() {
            return refuse("a fat-tree has at least 2 switches, there is none");
        }
        let listed = |list: &[EndpointId]| {
            let mut listed = vec![false; graph.machine().endpoint_count()];
            list.iter().for_each(|endpoint| listed[endpoint.index()] = true);
            listed
        };
        let io = listed(&options.io_nodes);
        let compute = match options.compute_nodes.as_slice() {
            [] => io.iter().map(|io| !io).collect(),
            given => listed(given),
        };
        let mut parts = rank::parts(graph, visit.switches());
        let mut rank = vec![UNRANKED; graph.switch_count()];
        let mut order = Vec::new();
        for at in 0..parts.len() {
            if !nothing_to_route(graph, &parts, at)? {
                let part = &mut parts[at];
                let is_compute = |endpoint: EndpointId| compute[endpoint.index()];
                rank::rank_part(graph, part, &options.roots, is_compute, &mut rank)?;
                order.push(tuples::in_tuple_order(graph, part, &rank));
            }
        }
        let by_digit = options.compat == Compat::Plain;
        let groups = Groups::new(graph, &rank, &order.concat(), by_digit);
        let switches = |order: Vec<(SwitchId, _)>| order.into_iter().map(|(s, _)| s).collect();
        let order = order.into_iter().map(switches).collect();
        if options.roots.is_empty() {
            let ranked = parts.iter().filter(|part| part.leaf_rank != UNRANKED);
            ranked.into_iter().try_for_each(|part| groups.purity(part, &rank))?;
        }
        let machine = graph.machine();
        let mut others: Vec<EndpointId> =
            machine.endpoints().filter(|endpoint| !compute[endpoint.index()]).collect();
        if options.compat == Compat::OpenSm {
            let node = |endpoint: EndpointId| machine.node(machine.endpoint_node(endpoint));
            others.sort_by_key(|&endpoint| node(endpoint).guid.swap_bytes());
        }
        Ok(Tree { graph, parts, rank, order, compute, io, others, groups })
    }

    fn route(&self, reverse_hops: u32) -> Lft {
        let graph = self.graph;
        let mut lft = Lft::empty(graph.machine(), 0);
        let all = self.order.concat();
        let leaf = graph.machine().switches().map(|s| !graph.attached(s).is_empty()).collect();
        let mut walk = Walk::new(self.groups.clone(), leaf, &all);
        self.deliver(&mut lft);
        let mut write = |walk: &Walk, lid| {
            walk.ways().for_each(|(switch, port)| lft.set(switch, lid, port));
        };
        let lids = graph.machine().lids();
        let normal = Purpose { main: true, reverse_hops: 0 };
        let is_compute = |endpoint: &EndpointId| self.compute[endpoint.index()];
        for (order, part) in self.order.iter().zip(self.ranked()) {
            let at_leaves = |leaf: &&SwitchId| self.rank[leaf.index()] == part.leaf_rank;
            let ends = order.iter().filter(at_leaves).map(|&leaf| {
                let ends = by_port(graph, leaf).into_iter().filter(is_compute);
                (leaf, ends.collect::<Vec<EndpointId>>())
            });
            let ends: Vec<_> = ends.collect();
            let most = ends.iter().map(|(_, ends)| ends.len()).max().unwrap_or(0);
            for (leaf, ends) in ends {
                for place in 0..most {
                    walk.run(leaf, normal);
                    // What stands in for a node that the fullest leaf has more is counted alone.
                    if let Some(&endpoint) = ends.get(place) {
                        write(&walk, lids.of_endpoint(endpoint));
                    }
                }
            }
        }
        for &endpoint in &self.others {
            let Some(switch) = graph.switch_of(endpoint) else { continue };
            let reverse_hops = if self.io[endpoint.index()] { reverse_hops } else { 0 };
            walk.run(switch, Purpose { main: true, reverse_hops });
            write(&walk, lids.of_endpoint(endpoint));
        }
        // As OpenSM: in visiting order, and what goes up is still counted.
        for &switch in self.ranked().flat_map(|part| &part.switches) {
            walk.run(switch, Purpose { main: false, reverse_hops: 0 });
            write(&walk, lids.of_switch(switch));
        }
        lft
    }

    fn ranked(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.leaf_rank != UNRANKED)
    }

    /// Entries of switches for themselves and what is attached to them.
    fn deliver(&self, lft: &mut Lft) {
        let machine = self.graph.machine();
        for &switch in self.parts.iter().flat_map(|part| &part.switches) {
            lft.set(switch, machine.lids().of_switch(switch), 0);
            for &endpoint in self.graph.attached(switch) {
                let port = machine.head(machine.injection(endpoint)).port;
                lft.set(switch, machine.lids().of_endpoint(endpoint), port);
            }
        }
    }
}

/// Whether part number `at` has nothing to route: failures left it without two switches or two nodes, or it is bare while
/// others are not.
///
/// # Errors
/// If it is a whole plane and yet so small.
fn nothing_to_route(graph: &SwitchGraph<'_>, parts: &[Part], at: usize) -> Result<bool, Refusal> {
    let plane = |part: &Part| graph.machine().plane_of_switch(part.switches[0]);
    let (switches, nodes) = (parts[at].switches.len(), rank::node_count(graph, &parts[at]));
    if switches >= 2 && nodes >= 2 {
        return Ok(false);
    }
    let whole = parts.iter().filter(|part| plane(part) == plane(&parts[at])).count() == 1;
    let bare = nodes == 0 && parts.iter().any(|part| rank::node_count(graph, part) > 0);
    if bare || !whole {
        return Ok(true);
    }
    let (what, count) = if switches < 2 { ("switches", switches as u32) } else { ("nodes", nodes) };
    let verb = if count == 1 { "is" } else { "are" };
    let reason = format!("a fat-tree has at least 2 {what}, here {verb} {count}");
    Err(Refusal { reason, switch: Some(parts[at].switches[0]) })
}

/// A refusal if some pair in a common part has no route under `lft`.
fn unreached(graph: &SwitchGraph<'_>, lft: &Lft, parts: &[Part]) -> Option<Refusal> {
    let mut tree = RouteTree::default();
    let (mut pairs, mut lost, mut first) = (0u64, 0u64, None);
    for part in parts {
        let sources: Vec<SwitchId> =
            part.switches.iter().copied().filter(|&s| graph.sources(s) > 0).collect();
        for &endpoint in part.switches.iter().flat_map(|&switch| graph.attached(switch)) {
            tree.walk(graph, lft, lft.lids().of_endpoint(endpoint));
            let injector = graph.injector_of(endpoint).and_then(|end| graph.switch_of(end));
            for &switch in &sources {
                let own = u64::from(injector == Some(switch));
                let nodes = u64::from(graph.sources(switch)) - own;
                pairs += nodes;
                if tree.hops(switch).is_none() && nodes > 0 {
                    lost += nodes;
                    first = first.or(Some(switch));
                }
            }
        }
    }
    first.map(|switch| Refusal {
        reason: format!(
            "{lost} of {pairs} pairs that cables join got no route, the first from nodes at this \
             switch; no way goes up and then down"
        ),
        switch: Some(switch),
    })
}
