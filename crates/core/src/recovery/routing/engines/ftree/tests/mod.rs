mod any_fabric;

use std::sync::Arc;

use super::Tree;
use crate::ids::{ChannelId, EndpointId, LinkId, NodeId, SwitchId};
use crate::machine::samples::{beside, broken_machine, generated, ring, shuffled};
use crate::machine::{Builder, Part, SwitchGraph, View};
use crate::params::Given;
use crate::recovery::routing::check::{Check, Verdict, check};
use crate::recovery::routing::engines::bind;
use crate::recovery::routing::engines::updn::roots_by_rule;
use crate::recovery::routing::{
    Compat, Outcome, PathFinder, Refusal, RouteOptions, RouteTree, Routing,
};
use crate::rng::Seed;
use crate::units::LinkRate;

fn attempt(engine: &str, view: &View, options: &RouteOptions) -> Result<(Routing, Check), Refusal> {
    let graph = SwitchGraph::new(view);
    match bind(engine, &Given::new()).unwrap().route(&graph, options) {
        Outcome::Routed(routing) => {
            let check = check(&graph, &routing);
            Ok((routing, check))
        }
        Outcome::Refused(refusal) => Err(refusal),
    }
}

fn plain(view: &View) -> Result<Check, Refusal> {
    attempt("ftree", view, &RouteOptions::default()).map(|(_, check)| check)
}

fn reason(view: &View) -> String {
    plain(view).unwrap_err().reason
}

fn with_roots(roots: Vec<SwitchId>) -> RouteOptions {
    RouteOptions { roots, ..RouteOptions::default() }
}

/// The roots that a person would give.
fn roots(view: &View) -> RouteOptions {
    with_roots(roots_by_rule(&SwitchGraph::new(view)).unwrap())
}

/// The view with `percent` of its switch-switch cables (at least one) dead.
fn broken(view: &View, percent: usize, seed: u64) -> View {
    let mut links: Vec<LinkId> = view.machine().switch_links().collect();
    Seed(seed).stream("test.ftree", 0).shuffle(&mut links);
    view.without(&links[..(links.len() * percent / 100).max(1)], &[], &[])
}

/// A small tree by hand: `above[i]` lists the neighbours of switch i among those before it, `nodes[i]` is its nodes.
fn by_hand(above: &[&[usize]], nodes: &[usize]) -> View {
    let mut builder = Builder::new("by hand", true);
    let parts: Vec<Part> =
        (0..above.len()).map(|s| builder.switch(format!("s{s}"), 40).unwrap()).collect();
    for (at, neighbours) in above.iter().enumerate() {
        neighbours.iter().for_each(|&up| builder.cable(parts[up], parts[at], LinkRate::QDR));
    }
    for (&part, &count) in parts.iter().zip(nodes) {
        for _ in 0..count {
            let node = builder.node("n", 1);
            builder.cable(part, node, LinkRate::QDR);
        }
    }
    View::intact(Arc::new(builder.build().unwrap()))
}

#[test]
fn even_trees_are_routed_and_every_cable_of_a_level_is_used_alike() {
    for (machine, most) in [
        // Nodes of a leaf x destinations elsewhere / cables up.
        ("16-ary 2-tree", 240),
        ("6-ary 3-tree", 216 - 6),
        ("4-ary 4-tree", 256 - 4),
        // Here the cables from the middle up are the narrow place: 36 nodes x 180 / 9.
        ("XGFT(3; 6,6,6; 1,3,3)", 720),
    ] {
        for view in [generated(machine), shuffled(&generated(machine), 1)] {
            let check = plain(&view).unwrap();
            assert_eq!((check.verdict(), check.nonminimal_pairs), (Verdict::Ok, 0), "{machine}");
            assert_eq!(check.forwarding_index_max, most, "{machine}");
        }
    }
}

#[test]
fn shifts_of_all_nodes_meet_no_shared_cable() {
    // Zahavi et al. 2010: node i sends to node i + d, nodes in the order in which the tree is routed.
    for machine in ["8-ary 2-tree", "4-ary 3-tree", "2-ary 5-tree", "fat-tree(8; 3)"] {
        for view in [generated(machine), shuffled(&generated(machine), 7)] {
            let graph = SwitchGraph::new(&view);
            let (routing, _) = attempt("ftree", &view, &RouteOptions::default()).unwrap();
            let tree = Tree::new(&graph, &RouteOptions::default()).unwrap_or_else(|_| panic!());
            let nodes: Vec<NodeId> = tree.order[0]
                .iter()
                .flat_map(|&leaf| super::by_port(&graph, leaf))
                .map(|endpoint| view.machine().endpoint_node(endpoint))
                .collect();
            assert_eq!(nodes.len(), view.machine().node_count());
            let finder = PathFinder::new(&graph, &routing);
            let mut path = Vec::new();
            for shift in 1..nodes.len() {
                let mut used = vec![false; view.machine().channel_count()];
                for from in 0..nodes.len() {
                    let to = nodes[(from + shift) % nodes.len()];
                    finder.find(nodes[from], to, &mut path).unwrap();
                    let mut twice = |c: &ChannelId| std::mem::replace(&mut used[c.index()], true);
                    assert!(!path.iter().any(&mut twice), "{machine} shift {shift}");
                }
            }
        }
    }
}

#[test]
fn other_topologies_are_refused_as_in_opensm() {
    for machine in
        ["mesh(5,5; 4)", "torus(4,4,4)", "kautz(3; 3)", "dragonfly(2,4,2)", "random-regular(32, 8)"]
    {
        assert!(reason(&generated(machine)).starts_with("nodes are attached to every switch"));
    }
}

#[test]
fn directors_with_uneven_cabling_need_roots() {
    let tsubame = generated("tsubame2(1)");
    assert!(reason(&tsubame).ends_with("give roots to route a tree that is not even"));
    let (_, check) = attempt("ftree", &tsubame, &roots(&tsubame)).unwrap();
    assert_eq!(check.verdict(), Verdict::Ok);
    // Two rails are two planes, each a tree of its own.
    let tsubame = generated("tsubame2(2)");
    assert_eq!(tsubame.machine().plane_count(), 2);
    let (_, check) = attempt("ftree", &tsubame, &roots(&tsubame)).unwrap();
    assert_eq!(check.verdict(), Verdict::Ok);
}

#[test]
fn chained_directors_are_reached_over_cables_within_a_rank() {
    // OpenSM loses two to four nodes here and says nothing.
    let check = plain(&generated("deimos")).unwrap();
    assert_eq!((check.verdict(), check.nonminimal_pairs), (Verdict::Ok, 0));
}

#[test]
fn broken_trees_are_refused_without_roots_and_ok_with_them() {
    for machine in ["16-ary 2-tree", "6-ary 3-tree", "XGFT(3; 6,6,6; 1,3,3)"] {
        let whole = generated(machine);
        for (percent, seed) in [(1, 1), (5, 2)] {
            let view = broken(&whole, percent, seed);
            assert!(reason(&view).contains("neighbours"), "{machine}");
            let (_, check) = attempt("ftree", &view, &roots(&whole)).unwrap();
            assert_eq!(check.verdict(), Verdict::Ok, "{machine} {percent} %");
        }
    }
}

#[test]
fn inputs_it_cannot_use_are_refused_with_a_reason() {
    let tree = generated("4-ary 2-tree");
    let refused = |options: RouteOptions| attempt("ftree", &tree, &options).unwrap_err();
    let lmc = refused(RouteOptions { lmc: 1, ..RouteOptions::default() });
    assert_eq!(lmc.reason, "it gives every endpoint one LID; take LMC 0");
    let all_roots = refused(with_roots(tree.machine().switches().collect()));
    assert_eq!(all_roots.reason, "the tree has 1 level; 2 to 8 are allowed");
    let leaf = SwitchGraph::new(&tree).switch_of(EndpointId(0)).unwrap();
    let from_leaf = refused(with_roots(vec![leaf]));
    assert!(from_leaf.reason.starts_with("compute nodes are attached at rank 0 here"));
    assert_eq!(from_leaf.switch, Some(leaf));

    let top = tree.machine().switches().find(|&s| s != leaf && roots(&tree).roots.contains(&s));
    let dead_root = tree.without(&[], &[top.unwrap()], &[]);
    let given = with_roots(vec![top.unwrap()]);
    let refusal = attempt("ftree", &dead_root, &given).unwrap_err();
    assert!(refusal.reason.starts_with("none of the given roots is alive"));
}

#[test]
fn small_and_tall_fabrics_are_refused_with_the_switch() {
    assert_eq!(reason(&by_hand(&[&[]], &[3])), "a fat-tree has at least 2 switches, here is 1");
    assert_eq!(
        reason(&by_hand(&[&[], &[0]], &[0, 1])),
        "a fat-tree has at least 2 nodes, here is 1"
    );
    assert_eq!(
        reason(&by_hand(&[&[], &[0]], &[0, 0])),
        "a fat-tree has at least 2 nodes, here are 0"
    );
    let chain: Vec<Vec<usize>> =
        (0..9usize).map(|at| at.checked_sub(1).into_iter().collect()).collect();
    let chain: Vec<&[usize]> = chain.iter().map(Vec::as_slice).collect();
    assert_eq!(
        reason(&by_hand(&chain, &[0, 0, 0, 0, 0, 0, 0, 0, 2])),
        "the tree has 9 levels; 2 to 8 are allowed"
    );
    assert!(plain(&by_hand(&chain[..8], &[0, 0, 0, 0, 0, 0, 0, 2])).is_ok());
    let uneven = by_hand(&[&[], &[], &[0, 0, 1], &[0, 1]], &[0, 0, 2, 2]);
    let refusal = plain(&uneven).unwrap_err();
    assert_eq!(refusal.switch, Some(SwitchId(0)));
    assert!(refusal.reason.starts_with("this switch has 1 cables to a neighbour below it"));
    let mut builder = Builder::new("back to back", true);
    let (a, b) = (builder.node("a", 1), builder.node("b", 1));
    builder.cable(a, b, LinkRate::QDR);
    let view = View::intact(Arc::new(builder.build().unwrap()));
    assert_eq!(reason(&view), "a fat-tree has at least 2 switches, there is none");
}

#[test]
fn one_plane_that_is_no_tree_refuses_all() {
    let (tree, ring) = (generated("4-ary 2-tree"), ring(4, 1));
    let two_trees = beside(tree.machine(), generated("2-ary 3-tree").machine());
    let two_trees = View::intact(Arc::new(two_trees));
    assert_eq!(plain(&two_trees).unwrap().verdict(), Verdict::Ok);
    let mixed = View::intact(Arc::new(beside(tree.machine(), ring.machine())));
    let refusal = plain(&mixed).unwrap_err();
    assert_eq!(refusal.switch, Some(SwitchId::from_index(tree.machine().switch_count())));
    // A switch that nothing is plugged into stands in nobody's way.
    let bare = by_hand(&[&[], &[], &[1], &[1]], &[0, 0, 2, 2]);
    assert_eq!(plain(&bare).unwrap().verdict(), Verdict::Ok);
}

#[test]
fn what_failures_cut_off_keeps_its_local_routes() {
    let tree = generated("4-ary 2-tree");
    let machine = tree.machine();
    let leaf = SwitchGraph::new(&tree).switch_of(EndpointId(0)).unwrap();
    let uplinks: Vec<LinkId> = machine
        .channels_from(machine.switch_vertex(leaf))
        .map(ChannelId::link)
        .filter(|&link| machine.is_switch_link(link))
        .collect();
    let (_, check) = attempt("ftree", &tree.without(&uplinks, &[], &[]), &roots(&tree)).unwrap();
    assert_eq!(check.unreachable_pairs, check.cut_pairs);
    assert!(check.cut_pairs > 0 && check.routes_by_hops[0] == 4 * 4 * 3);
}

/// Two roots with a node each, above three leaves with two nodes each.
fn nodes_at_the_top() -> (View, RouteOptions) {
    let view = by_hand(&[&[], &[], &[0, 1], &[0, 1], &[0, 1]], &[1, 1, 2, 2, 2]);
    let options = RouteOptions {
        roots: vec![SwitchId(0), SwitchId(1)],
        io_nodes: vec![EndpointId(0), EndpointId(1)],
        ..RouteOptions::default()
    };
    (view, options)
}

#[test]
fn pairs_without_a_way_up_and_down_are_refused_or_kept_as_asked() {
    let (view, options) = nodes_at_the_top();
    let refusal = attempt("ftree", &view, &options).unwrap_err();
    assert_eq!(
        refusal.reason,
        "2 of 56 pairs that cables join got no route, the first from nodes at this switch; no way \
         goes up and then down"
    );
    assert_eq!(refusal.switch, Some(SwitchId(1)));
    let (_, check) = attempt("ftree(keep)", &view, &options).unwrap();
    assert_eq!((check.unreachable_pairs, check.looping_pairs), (2, 0));
    let all_compute = RouteOptions { io_nodes: Vec::new(), ..options };
    let refusal = attempt("ftree", &view, &all_compute).unwrap_err();
    assert!(refusal.reason.starts_with("compute nodes are attached at rank 0 here"));
}

#[test]
fn io_nodes_at_the_top_are_reached_the_wrong_way_round_if_allowed() {
    let (view, options) = nodes_at_the_top();
    let (_, check) = attempt("ftree(max_reverse_hops=1)", &view, &options).unwrap();
    assert_eq!((check.verdict(), check.hops_max), (Verdict::Ok, 2));
    // A list of compute nodes makes others plain nodes, which get no such ways.
    let compute: Vec<EndpointId> = (2..8).map(EndpointId).collect();
    let listed = RouteOptions { compute_nodes: compute, io_nodes: Vec::new(), ..options };
    assert!(attempt("ftree(max_reverse_hops=1)", &view, &listed).is_err());
    // Two levels of leaves between the roots take two hops up again.
    let tall = by_hand(&[&[], &[], &[0], &[1], &[2, 3]], &[1, 1, 0, 0, 2]);
    let options = RouteOptions {
        compute_nodes: Vec::new(),
        io_nodes: vec![EndpointId(0), EndpointId(1)],
        ..listed
    };
    assert!(attempt("ftree(max_reverse_hops=1)", &tall, &options).is_err());
    let (_, check) = attempt("ftree(max_reverse_hops=2)", &tall, &options).unwrap();
    assert_eq!((check.verdict(), check.hops_max), (Verdict::Ok, 4));
}

#[test]
fn leaves_with_fewer_nodes_keep_the_pattern_even() {
    // Leaf 0 has lost its nodes but one: the others still leave every leaf by a root each.
    let whole = generated("4-ary 2-tree");
    let dead: Vec<NodeId> = (1..4).map(NodeId).collect();
    let view = whole.without(&[], &[], &dead);
    let (routing, check) = attempt("ftree", &view, &RouteOptions::default()).unwrap();
    assert_eq!(check.unreachable_pairs, check.cut_pairs);
    let (full, _) = attempt("ftree", &whole, &RouteOptions::default()).unwrap();
    let lids = routing.lft.lids();
    for switch in view.machine().switches() {
        for endpoint in (4..16).map(EndpointId) {
            let lid = lids.of_endpoint(endpoint);
            assert_eq!(routing.lft.port(switch, lid), full.lft.port(switch, lid));
        }
    }
}

#[test]
fn switches_are_reached_wherever_a_way_goes_up_and_then_down() {
    let view = generated("3-ary 3-tree");
    let graph = SwitchGraph::new(&view);
    let (routing, _) = attempt("ftree", &view, &RouteOptions::default()).unwrap();
    let options = RouteOptions::default();
    let tree = Tree::new(&graph, &options).unwrap_or_else(|_| panic!());
    let mut walk = RouteTree::default();
    for target in view.machine().switches() {
        walk.walk(&graph, &routing.lft, routing.lft.lids().of_switch(target));
        let reaches = up_then_down(&graph, &tree.rank, target);
        for switch in view.machine().switches() {
            assert_eq!(walk.hops(switch).is_some(), reaches[switch.index()]);
        }
    }
}

#[test]
fn a_tree_is_routed_in_opensms_order_too() {
    let view = generated("6-ary 3-tree");
    let options = RouteOptions { compat: Compat::OpenSm, ..RouteOptions::default() };
    let (_, check) = attempt("ftree", &view, &options).unwrap();
    assert_eq!((check.verdict(), check.forwarding_index_max), (Verdict::Ok, 210));
}

/// Switches with a way to `target` that climbs to smaller ranks first and then descends, found by plain search.
fn up_then_down(graph: &SwitchGraph<'_>, rank: &[u32], target: SwitchId) -> Vec<bool> {
    let mut reaches = [vec![false; rank.len()], vec![false; rank.len()]];
    // From the target backwards: first switches that only descend, then those that climb to them.
    let mut stack = vec![(target, false)];
    while let Some((at, climbs)) = stack.pop() {
        if std::mem::replace(&mut reaches[usize::from(climbs)][at.index()], true) {
            continue;
        }
        for &head in graph.heads(at) {
            if rank[head.index()] < rank[at.index()] && !climbs {
                stack.push((head, false));
            } else if rank[head.index()] > rank[at.index()] {
                stack.push((head, true));
            }
        }
    }
    let [descends, climbs] = reaches;
    descends.iter().zip(&climbs).map(|(down, up)| *down || *up).collect()
}
