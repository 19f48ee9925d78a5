mod all_engines;

use proptest::prelude::*;

use super::cdg::Cdg;
use super::check::{Check, Verdict, check};
use super::engines::{ENGINES, bind};
use super::*;
use crate::ids::{ChannelId, EndpointId, NodeId};
use crate::machine::View;
use crate::machine::samples::{broken_machine, generated, ring};
use crate::params::Given;

fn routed(engine: &str, view: &View) -> (Routing, Check) {
    let graph = SwitchGraph::new(view);
    match bind(engine, &Given::new()).unwrap().route(&graph, &RouteOptions::default()) {
        Outcome::Routed(routing) => {
            let check = check(&graph, &routing);
            (routing, check)
        }
        Outcome::Refused(refusal) => panic!("{engine} refused: {}", refusal.reason),
    }
}

/// The channels from a node to an endpoint, one at a time; `None` if the packet is lost or circles.
fn naive_path(
    graph: &SwitchGraph<'_>,
    lft: &Lft,
    source: NodeId,
    target: EndpointId,
) -> Option<Vec<ChannelId>> {
    let machine = graph.machine();
    let plane = machine.plane_of_endpoint(target);
    let from = machine
        .endpoints_of(source)
        .find(|&e| graph.switch_of(e).is_some() && machine.plane_of_endpoint(e) == plane)?;
    let mut path = vec![machine.injection(from)];
    for _ in 0..machine.switch_count() + 1 {
        let at = machine.head(*path.last()?);
        let Some(switch) = machine.as_switch(at.vertex) else {
            return (at == machine.endpoint(target)).then_some(path);
        };
        let channel = lft.channel(machine, switch, lft.lids().of_endpoint(target))?;
        if !graph.view().usable(channel) {
            return None;
        }
        path.push(channel);
    }
    None
}

/// Everything `check` says, found by walking pair by pair.
fn naive_check(graph: &SwitchGraph<'_>, routing: &Routing) -> (u64, u64, Vec<u64>, bool) {
    let machine = graph.machine();
    let (mut pairs, mut lost) = (0, 0);
    let mut index = vec![0u64; machine.channel_count()];
    let mut arcs = std::collections::BTreeSet::new();
    for target in machine.endpoints() {
        let owner = machine.endpoint_node(target);
        for source in machine.nodes() {
            let plane = machine.plane_of_endpoint(target);
            let mut shared = machine.endpoints_of(source);
            if source == owner
                || !graph.view().node_alive(source)
                || !graph.view().node_alive(owner)
                || !shared.any(|e| machine.plane_of_endpoint(e) == plane)
            {
                continue;
            }
            pairs += 1;
            let Some(path) = naive_path(graph, &routing.lft, source, target) else {
                lost += 1;
                continue;
            };
            let between = &path[1..path.len() - 1];
            between.iter().for_each(|channel| index[channel.index()] += 1);
            let lanes: Vec<u8> = naive_lanes(graph, routing, &path, target);
            let with_lanes: Vec<_> = between.iter().copied().zip(lanes).collect();
            arcs.extend(with_lanes.windows(2).map(|pair| (pair[0], pair[1])));
        }
    }
    (pairs, lost, index, has_cycle(arcs))
}

/// The lane on each switch-switch channel of a path that begins and ends with a node's.
fn naive_lanes(
    graph: &SwitchGraph<'_>,
    routing: &Routing,
    path: &[ChannelId],
    target: EndpointId,
) -> Vec<u8> {
    let machine = graph.machine();
    let source = machine.as_switch(machine.head(path[0]).vertex).unwrap();
    let sl = routing.sl(source, machine.lids().of_endpoint(target));
    let hops = path.windows(2).take(path.len() - 2);
    hops.map(|pair| match &routing.lanes {
        Lanes::ByPort(_, tables) => {
            let (came, leaves) = (machine.head(pair[0]), machine.tail(pair[1]));
            tables.lane(machine.as_switch(came.vertex).unwrap(), came.port, leaves.port, sl)
        }
        _ => sl,
    })
    .collect()
}

/// A channel and a lane.
type Buffer = (ChannelId, u8);

/// Takes away arcs whose end has no arc out until none can go: what is left, if anything, is a cycle.
fn has_cycle(mut arcs: std::collections::BTreeSet<(Buffer, Buffer)>) -> bool {
    loop {
        let tails: std::collections::BTreeSet<Buffer> =
            arcs.iter().map(|&(from, _)| from).collect();
        let before = arcs.len();
        arcs.retain(|(_, to)| tails.contains(to));
        if arcs.len() == before {
            return before > 0;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_check_agrees_with_walking_pair_by_pair(view in broken_machine(2)) {
        let graph = SwitchGraph::new(&view);
        for engine in ENGINES {
            let engine = bind(engine.name(), &Given::new()).unwrap();
            let Outcome::Routed(routing) = engine.route(&graph, &RouteOptions::default()) else {
                continue;
            };
            let check = check(&graph, &routing);
            let (pairs, lost, index, cyclic) = naive_check(&graph, &routing);
            prop_assert_eq!(check.pairs, pairs);
            prop_assert_eq!(check.unreachable_pairs, lost);
            prop_assert_eq!(check.forwarding_index, index);
            prop_assert_eq!(check.cycle.is_some(), cyclic);
            prop_assert_eq!(check.unreachable.is_empty(), lost == 0);
        }
    }

    #[test]
    fn minhop_reaches_all_that_cables_join_by_shortest_ways(view in broken_machine(2)) {
        let (_, check) = routed("minhop", &view);
        prop_assert_eq!(check.unreachable_pairs, check.cut_pairs);
        prop_assert_eq!((check.nonminimal_pairs, check.looping_pairs), (0, 0));
    }

    #[test]
    fn updown_with_any_root_reaches_all_that_cables_join_without_a_cycle(
        view in broken_machine(2), root in any::<u32>(),
    ) {
        let graph = SwitchGraph::new(&view);
        let root = SwitchId(root % graph.switch_count() as u32);
        let options = RouteOptions { roots: vec![root], ..RouteOptions::default() };
        match bind("updn", &Given::new()).unwrap().route(&graph, &options) {
            Outcome::Routed(routing) => {
                let check = check(&graph, &routing);
                prop_assert_eq!(check.unreachable_pairs, check.cut_pairs);
                prop_assert!(check.cycle.is_none());
            }
            // Only a part of the fabric without a living root is refused; the switch named lies in it.
            Outcome::Refused(refusal) => {
                let at = refusal.switch.unwrap();
                let hops = super::hops::HopMatrix::shortest(&graph);
                let apart = hops.row(root)[at.index()] == super::hops::HopMatrix::FAR;
                prop_assert!(apart || !view.switch_alive(root));
            }
        }
    }

    #[test]
    fn tables_of_any_bytes_are_walked_without_panic(
        view in broken_machine(2), seed in any::<u64>(),
    ) {
        let graph = SwitchGraph::new(&view);
        let mut draw = crate::rng::Seed(seed).stream("test.lft", 0);
        let mut lft = Lft::empty(view.machine(), 0);
        let drawn: Vec<u8> = lft.ports().iter().map(|_| draw.below(12) as u8).collect();
        lft = Lft::from_ports(view.machine(), 0, drawn).unwrap();
        let routing = Routing::single_lane(lft);
        let check = check(&graph, &routing);
        let (pairs, lost, index, cyclic) = naive_check(&graph, &routing);
        prop_assert_eq!((check.pairs, check.unreachable_pairs), (pairs, lost));
        prop_assert_eq!(check.forwarding_index, index);
        prop_assert_eq!(check.cycle.is_some(), cyclic);
    }
}

#[test]
fn minhop_on_a_ring_of_five_closes_a_credit_loop_and_says_which() {
    let view = ring(5, 2);
    let graph = SwitchGraph::new(&view);
    let (_, check) = routed("minhop", &view);
    assert_eq!(check.verdict(), Verdict::Deadlock);
    let cycle = check.cycle.unwrap().channels;
    assert_eq!(cycle.len(), 5);
    for (at, &channel) in cycle.iter().enumerate() {
        let next = cycle[(at + 1) % cycle.len()];
        assert_eq!(graph.machine().head(channel).vertex, graph.machine().tail(next).vertex);
    }
}

#[test]
fn updown_on_a_ring_is_refused_without_roots_and_ok_with_one() {
    let view = ring(5, 2);
    let graph = SwitchGraph::new(&view);
    let engine = bind("updn", &Given::new()).unwrap();
    assert!(matches!(engine.route(&graph, &RouteOptions::default()), Outcome::Refused(_)));
    let options = RouteOptions { roots: vec![SwitchId(2)], ..RouteOptions::default() };
    let Outcome::Routed(routing) = engine.route(&graph, &options) else { panic!("refused") };
    let check = check(&graph, &routing);
    assert_eq!(check.verdict(), Verdict::Ok);
    assert!(check.nonminimal_pairs > 0);
}

#[test]
fn balanced_trees_are_routed_evenly_by_both_engines() {
    let view = generated("16-ary 2-tree");
    for engine in ["minhop", "updn"] {
        let (_, check) = routed(engine, &view);
        assert_eq!(check.verdict(), Verdict::Ok, "{engine}");
        assert_eq!(check.pairs, 256 * 255);
        assert_eq!((check.hops_max, check.nonminimal_pairs), (2, 0));
        // 240 far destinations over 16 up channels, from 16 nodes each.
        assert_eq!((check.forwarding_index_max, check.forwarding_index_mean), (240, 240.0));
    }
}

#[test]
fn large_trees_are_rooted_at_the_top_although_leaves_pass_opensms_rule_too() {
    let view = generated("8-ary 3-tree");
    let (_, check) = routed("updn", &view);
    assert_eq!(check.verdict(), Verdict::Ok);
    assert_eq!((check.hops_max, check.nonminimal_pairs), (4, 0));
}

#[test]
fn a_cut_node_makes_the_routing_incomplete_and_is_told_from_a_missing_route() {
    let view = ring(4, 1);
    let machine = view.machine_shared();
    let link = machine.injection(EndpointId(0)).link();
    let broken = view.without(&[link], &[], &[]);
    let (_, check) = routed("minhop", &broken);
    assert_eq!(check.verdict(), Verdict::Incomplete);
    assert_eq!((check.pairs, check.unreachable_pairs, check.cut_pairs), (12, 6, 6));
    assert_eq!(check.unreachable[0], (NodeId(1), EndpointId(0)));
}

#[test]
fn lanes_are_checked_one_by_one() {
    // MinHop on a ring deadlocks on one lane; with a dateline lane for routes that pass switch 0 it does not.
    let view = ring(5, 1);
    let graph = SwitchGraph::new(&view);
    let (mut routing, _) = routed("minhop", &view);
    let machine = graph.machine();
    let lids = machine.lids().count();
    let mut lanes = vec![0; 5 * lids];
    for target in machine.endpoints() {
        for source in machine.nodes().filter(|&node| node.0 != target.0) {
            let path = naive_path(&graph, &routing.lft, source, target).unwrap();
            let passes = path[1..path.len() - 1].iter().any(|&c| machine.head(c).vertex.0 == 0);
            lanes[source.index() * lids + target.index()] = u8::from(passes);
        }
    }
    routing.lanes = Lanes::PerPair(lanes);
    let check = check(&graph, &routing);
    assert_eq!(check.vls, 2);
    assert_eq!(check.verdict(), Verdict::Ok);
}

#[test]
fn a_graph_without_dependencies_has_no_cycle() {
    let view = ring(3, 0);
    let graph = SwitchGraph::new(&view);
    let cdg = Cdg::new(&graph, 1, false);
    assert_eq!((cdg.dependency_count(), cdg.cycle(&graph)), (0, None));
}

#[test]
fn single_switches_bare_nodes_and_empty_planes_have_clear_outcomes() {
    for view in [ring_of_one(3), ring_of_one(0), bare_nodes()] {
        for engine in ["minhop", "updn"] {
            let (_, check) = routed(engine, &view);
            assert_eq!(check.verdict(), Verdict::Ok);
        }
    }
}

fn ring_of_one(nodes: usize) -> View {
    let mut builder = crate::machine::Builder::new("one switch", true);
    let switch = builder.switch("s0", 8).unwrap();
    for node in 0..nodes {
        let node = builder.node(format!("n{node}"), 1);
        builder.cable(switch, node, crate::units::LinkRate::QDR);
    }
    View::intact(std::sync::Arc::new(builder.build().unwrap()))
}

fn bare_nodes() -> View {
    let mut builder = crate::machine::Builder::new("two nodes back to back", true);
    let (a, b) = (builder.node("a", 1), builder.node("b", 1));
    builder.cable(a, b, crate::units::LinkRate::QDR);
    builder.node("c", 1);
    View::intact(std::sync::Arc::new(builder.build().unwrap()))
}

#[test]
fn updown_refuses_roots_none_of_which_stands_above_both_ends() {
    // A line of five with roots at both ends: the middle is below both, but the ends are above nobody in common.
    let mut builder = crate::machine::Builder::new("line", true);
    let line: Vec<_> = (0..5).map(|s| builder.switch(format!("s{s}"), 4).unwrap()).collect();
    for pair in line.windows(2) {
        builder.cable(pair[0], pair[1], crate::units::LinkRate::QDR);
    }
    for (number, &switch) in line.iter().enumerate() {
        let node = builder.node(format!("n{number}"), 1);
        builder.cable(switch, node, crate::units::LinkRate::QDR);
    }
    let view = View::intact(std::sync::Arc::new(builder.build().unwrap()));
    let graph = SwitchGraph::new(&view);
    let engine = bind("updn", &Given::new()).unwrap();
    let with = |roots: &[u32], compat| RouteOptions {
        roots: roots.iter().copied().map(SwitchId).collect(),
        compat,
        ..RouteOptions::default()
    };
    let Outcome::Refused(refusal) = engine.route(&graph, &with(&[0, 4], Compat::Plain)) else {
        panic!("routed")
    };
    assert!(refusal.reason.contains("no root stands above both"), "{}", refusal.reason);
    // OpenSM hands such tables over; the check finds the hole.
    let Outcome::Routed(routing) = engine.route(&graph, &with(&[0, 4], Compat::OpenSm)) else {
        panic!("refused")
    };
    assert_eq!(check(&graph, &routing).verdict(), Verdict::Incomplete);
    let Outcome::Routed(routing) = engine.route(&graph, &with(&[2], Compat::Plain)) else {
        panic!("refused")
    };
    assert_eq!(check(&graph, &routing).verdict(), Verdict::Ok);
}
