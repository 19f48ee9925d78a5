use proptest::prelude::*;

use super::*;
use crate::ids::LinkId;
use crate::machine::View;
use crate::machine::samples::{broken_machine, generated, ring};
use crate::params::Given;
use crate::recovery::routing::check::{Check, Verdict, check};
use crate::recovery::routing::engines::bind;
use crate::recovery::routing::{RouteTree, Step};

fn route(engine: &str, view: &View, options: &RouteOptions) -> (Routing, Check) {
    let graph = SwitchGraph::new(view);
    match bind(engine, &Given::new()).unwrap().route(&graph, options) {
        Outcome::Routed(routing) => {
            let check = check(&graph, &routing);
            (routing, check)
        }
        Outcome::Refused(refusal) => panic!("{engine} refused: {}", refusal.reason),
    }
}

fn in_lanes(view: &View, max_vl: u8) -> (Routing, Check) {
    route("nue", view, &RouteOptions { max_vl, ..RouteOptions::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_fabric_is_routed_without_a_cycle_within_the_lanes_there_are(
        view in broken_machine(2), lmc in 0u8..2,
    ) {
        let graph = SwitchGraph::new(&view);
        for max_vl in [1, 2, 4, 8] {
            let options = RouteOptions { max_vl, lmc, ..RouteOptions::default() };
            let (routing, found) = route("nue", &view, &options);
            prop_assert_eq!(found.unreachable_pairs, found.cut_pairs);
            prop_assert_eq!(found.looping_pairs, 0);
            prop_assert!(found.cycle.is_none());
            prop_assert!(found.vls <= max_vl && routing.layers <= max_vl);
            // LIDs of switches are reached too, and every LID has one lane wherever routes to it begin.
            let mut tree = RouteTree::default();
            for part in graph.joined_switches() {
                for &target in &part {
                    let mut lids = vec![routing.lft.lids().of_switch(target)];
                    for &end in graph.attached(target) {
                        lids.extend(routing.lft.lids().all_of_endpoint(end));
                    }
                    for lid in lids {
                        tree.walk(&graph, &routing.lft, lid);
                        prop_assert_eq!(tree.step(target), Step::Deliver);
                        prop_assert!(part.iter().all(|&from| tree.hops(from).is_some()));
                        let lane = routing.sl(target, lid);
                        prop_assert!(part.iter().all(|&from| routing.sl(from, lid) == lane));
                    }
                }
            }
        }
    }

    #[test]
    fn the_escape_tree_reaches_every_destination_by_dependencies_in_use(
        view in broken_machine(1), every in 1usize..4,
    ) {
        let graph = SwitchGraph::new(&view);
        for members in graph.joined_switches() {
            let destinations: Vec<SwitchId> = members.iter().copied().step_by(every).collect();
            let mut layer = Layer::new(&graph);
            let tree = EscapeTree::new(&graph, &members, &destinations, &mut layer);
            for (&from, &to) in members.iter().flat_map(|a| destinations.iter().map(move |b| (a, b))) {
                let (mut at, mut hops) = (from, 0);
                while at != to {
                    let next = tree.next(at, to);
                    hops += 1;
                    prop_assert!(hops < members.len());
                    if next != to {
                        let after = tree.next(next, to);
                        for before in escape::cables(&graph, at, next) {
                            for after in escape::cables(&graph, next, after) {
                                prop_assert_eq!(layer.state(before, after), layer::State::Used);
                            }
                        }
                    }
                    at = next;
                }
            }
        }
    }

    #[test]
    fn clusters_share_out_all_destinations_evenly(view in broken_machine(1), lanes in 1usize..16) {
        let graph = SwitchGraph::new(&view);
        for mut members in graph.joined_switches() {
            members.retain(|&switch| !graph.attached(switch).is_empty());
            let clusters = clusters(&graph, members.clone(), lanes);
            prop_assert!(clusters.len() == lanes.min(members.len()) || clusters.len() < lanes);
            prop_assert!(clusters.iter().all(|cluster| !cluster.is_empty()));
            let mut all = clusters.concat();
            all.sort_unstable();
            prop_assert_eq!(all, members);
        }
    }
}

#[test]
fn clusters_of_equal_switches_differ_by_one_switch_at_most() {
    let view = generated("torus(5,5; 1; 2)");
    let graph = SwitchGraph::new(&view);
    for lanes in 1..=15 {
        let all: Vec<SwitchId> = view.machine().switches().collect();
        let mut sizes: Vec<usize> = clusters(&graph, all, lanes).iter().map(Vec::len).collect();
        sizes.sort_unstable();
        assert_eq!(sizes.len(), lanes);
        // Each of the up to four cuts may be half a switch off.
        assert!(sizes[lanes - 1] - sizes[0] <= 2, "{sizes:?}");
    }
}

#[test]
fn with_eight_lanes_nearly_all_ways_are_shortest_and_load_is_spread_as_well_as_by_minhop() {
    for (text, longer_per_mille) in [
        ("mesh(5,5; 4; 10)", 0),
        ("mesh(3,3,3; 4; 10)", 0),
        ("torus(5,5; 4; 10)", 0),
        ("torus(3,3,3; 4; 10)", 0),
        ("torus(4,4,4; 1; 4)", 1),
        ("torus(5,5,5; 1; 2)", 8),
        ("torus(6,5,5; 4; 7)", 2),
        ("kautz(3; 3; nodes=252)", 1),
        ("16-ary 2-tree", 0),
        ("6-ary 3-tree", 0),
        ("XGFT(3; 6,6,6; 1,3,3)", 0),
        ("dragonfly(7,4,2)", 0),
        ("random-regular(32; 8; 8)", 0),
        ("deimos", 0),
        ("tsubame2(1)", 0),
    ] {
        let view = generated(text);
        let (_, found) = in_lanes(&view, 8);
        assert_eq!(found.verdict(), Verdict::Ok, "{text}");
        assert!(
            found.nonminimal_pairs * 1000 <= found.pairs * longer_per_mille,
            "{text}: {} of {}",
            found.nonminimal_pairs,
            found.pairs
        );
        let (_, minhop) = route("minhop", &view, &RouteOptions::default());
        let (ours, theirs) = (found.forwarding_index_max, minhop.forwarding_index_max);
        assert!(ours * 10 <= theirs * 12, "{text}: {ours} against {theirs}");
    }
}

#[test]
fn one_lane_is_enough_for_a_torus() {
    let (routing, found) = in_lanes(&generated("torus(8,8; 1; 2)"), 1);
    assert_eq!((found.verdict(), found.vls), (Verdict::Ok, 1));
    assert_eq!(routing.lanes, Lanes::Single);
    // The escape tree has all parallel cables, so none of them becomes a bottleneck.
    let (_, found) = in_lanes(&generated("torus(5,5; 4; 10)"), 1);
    assert_eq!(found.verdict(), Verdict::Ok);
    assert!((found.forwarding_index_max as f64) < 2.0 * found.forwarding_index_mean);
}

#[test]
fn switches_that_get_stuck_take_the_escape_tree() {
    let view = generated("torus(6,6,6; 1; 1)");
    let graph = SwitchGraph::new(&view);
    let mut tables = Tables::new(&graph, &RouteOptions::default());
    let members: Vec<SwitchId> = view.machine().switches().collect();
    tables.route_part(&members, 2, &mut Vec::new());
    assert!(tables.search.escaped > 0);
    let lanes = Lanes::PerPair(tables.levels);
    let found = check(&graph, &Routing::in_lanes(tables.lft, lanes));
    assert_eq!((found.verdict(), found.vls), (Verdict::Ok, 2));
}

#[test]
fn trees_get_shortest_ways_in_one_lane() {
    for text in ["16-ary 2-tree", "6-ary 3-tree", "XGFT(3; 6,6,6; 1,3,3)", "mesh(8,8; 1; 4)"] {
        let (_, found) = in_lanes(&generated(text), 1);
        assert_eq!((found.verdict(), found.nonminimal_pairs), (Verdict::Ok, 0), "{text}");
    }
}

#[test]
fn a_failed_cable_that_carried_routes_carries_none_afterwards() {
    let view = generated("torus(4,4; 1; 2)");
    let (before, found) = in_lanes(&view, 2);
    let machine = view.machine();
    let used = |check: &Check, link: LinkId| {
        [link.forward(), link.backward()].map(|channel| check.forwarding_index[channel.index()])
    };
    let busiest = machine.switch_links().max_by_key(|&link| used(&found, link)).unwrap();
    assert!(used(&found, busiest).iter().all(|&routes| routes > 0));
    let (after, found) = in_lanes(&view.without(&[busiest], &[], &[]), 2);
    assert_eq!(found.verdict(), Verdict::Ok);
    assert_eq!(used(&found, busiest), [0, 0]);
    assert!(after.lft.changed_entries(&before.lft, |_| true) > 0);
}

#[test]
fn odd_fabrics_are_routed() {
    let lonely = generated("mesh(1; 1; 3)");
    let bare = ring(5, 0);
    let all: Vec<SwitchId> = bare.machine().switches().collect();
    for view in [&lonely, &bare, &bare.without(&[], &all, &[]), &bare.without(&[], &all[1..3], &[])]
    {
        let (_, found) = in_lanes(view, 8);
        assert_eq!(found.verdict(), Verdict::Ok);
    }
    let mut builder = crate::machine::Builder::new("two nodes back to back", true);
    let (a, b) = (builder.node("a", 1), builder.node("b", 1));
    builder.cable(a, b, crate::units::LinkRate::QDR);
    let view = View::intact(std::sync::Arc::new(builder.build().unwrap()));
    assert_eq!(in_lanes(&view, 1).1.verdict(), Verdict::Ok);
    let (_, found) = in_lanes(&generated("rail-fat-tree(8; 2; 8)"), 4);
    assert_eq!(found.verdict(), Verdict::Ok);
}
