use std::sync::Arc;

use super::samples::{at, broken, cables};
use super::*;
use crate::ids::{EndpointId, LinkId};
use crate::machine::samples::{generated, ring};
use crate::machine::{Builder, Coordinates, View};
use crate::params::Given;
use crate::recovery::routing::Compat;
use crate::recovery::routing::check::{Check, Verdict, check};
use crate::recovery::routing::engines::bind;
use crate::rng::Seed;
use crate::units::LinkRate;

mod manual;
mod properties;

fn route(view: &View, options: &RouteOptions) -> Result<(Routing, Check), Refusal> {
    let graph = SwitchGraph::new(view);
    match bind("torus-2QoS", &Given::new()).unwrap().route(&graph, options) {
        Outcome::Routed(routing) => {
            let check = check(&graph, &routing);
            Ok((routing, check))
        }
        Outcome::Refused(refusal) => Err(refusal),
    }
}

fn plain(view: &View) -> Result<(Routing, Check), Refusal> {
    route(view, &RouteOptions::default())
}

fn refused(view: &View, options: &RouteOptions) -> String {
    route(view, options).unwrap_err().reason
}

/// The checks of tables that the engine would give if it did not look for credit loops.
fn unproven(view: &View) -> Check {
    let graph = SwitchGraph::new(view);
    let options = RouteOptions::default();
    let groups = graph.joined_switches();
    let (shape, place) = places(&graph, &options, &groups).unwrap();
    let torus = Torus::new(&graph, shape, groups, place).unwrap();
    let lft = route::tables(&graph, &options, &torus, &[]);
    let levels = route::levels(&graph, &torus, &lft);
    let tables = route::sl_to_vl(&graph, &torus, 8, 1).unwrap();
    check(&graph, &Routing { lft, lanes: Lanes::ByPort(levels, tables), layers: 4 })
}

#[test]
fn the_grids_of_the_fail_in_place_study_are_routed_by_shortest_ways() {
    for (text, lanes) in [
        ("mesh(5,5; 4; 10)", 1),
        ("mesh(3,3,3; 4; 10)", 1),
        ("torus(5,5; 4; 10)", 2),
        ("torus(3,3,3; 4; 10)", 2),
        ("torus(4,4,4; 1; 4)", 2),
        ("torus(5,5,5; 1; 2)", 2),
        ("mesh(8,8; 1; 4)", 1),
        ("mesh(4,4,4; 1; 4)", 1),
        ("torus(8,8; 1; 4)", 2),
    ] {
        let view = generated(text);
        let (routing, found) = plain(&view).unwrap();
        assert_eq!(found.verdict(), Verdict::Ok, "{text}");
        let numbers = (found.nonminimal_pairs, found.vls, routing.layers);
        assert_eq!(numbers, (0, lanes, lanes), "{text}");
        let torus_conf = TorusConf::of(view.machine());
        let (again, _) = route(&view, &RouteOptions { torus_conf, ..Default::default() }).unwrap();
        assert_eq!(again, routing, "{text}");
    }
}

#[test]
fn with_four_cables_a_bundle_failed_cables_change_no_verdict_and_with_one_they_cut_a_mesh() {
    for (text, percent, routed) in [
        ("mesh(5,5; 4; 2)", 5, true),
        ("mesh(3,3,3; 4; 2)", 5, true),
        ("torus(5,5; 4; 2)", 5, true),
        ("torus(3,3,3; 4; 2)", 5, true),
        ("mesh(8,8; 1; 2)", 1, false),
        ("mesh(4,4,4; 1; 2)", 1, false),
        ("torus(8,8; 1; 2)", 1, true),
    ] {
        let view = generated(text);
        let (intact, _) = plain(&view).unwrap();
        let mut links: Vec<LinkId> = view.machine().switch_links().collect();
        Seed(1).stream("test.faults", 0).shuffle(&mut links);
        links.truncate((links.len() * percent).div_ceil(100));
        let outcome = plain(&view.without(&links, &[], &[]));
        assert_eq!(outcome.is_ok(), routed, "{text}");
        match outcome {
            Ok((routing, found)) => {
                assert_eq!(found.verdict(), Verdict::Ok, "{text}");
                assert_ne!(routing.lft, intact.lft);
                assert_eq!(routing.lanes, intact.lanes);
            }
            Err(refusal) => assert!(refusal.reason.contains("line of this switch in pieces")),
        }
    }
}

#[test]
fn lanes_are_asked_for_before_anything_is_routed() {
    let with = |max_vl| RouteOptions { max_vl, ..RouteOptions::default() };
    for text in ["torus(5,5)", "mesh(5,5)"] {
        let view = generated(text);
        assert!(route(&view, &with(2)).is_ok());
        assert!(refused(&view, &with(1)).contains("needs 2 virtual lanes"), "{text}");
    }
    let view = broken("torus(5,5)", &[[2, 2]], &[]);
    assert!(route(&view, &with(4)).is_ok());
    assert!(refused(&view, &with(3)).contains("needs 4 virtual lanes with switches missing"));
    let two = bind("torus-2QoS(qos_levels=2)", &Given::new()).unwrap();
    let graph = SwitchGraph::new(&view);
    assert!(matches!(two.route(&graph, &with(8)), Outcome::Routed(_)));
    let Outcome::Refused(refusal) = two.route(&graph, &with(7)) else { panic!("routed") };
    assert!(refusal.reason.contains("needs 8 virtual lanes"));
}

#[test]
fn lanes_by_port_are_those_that_opensm_programs() {
    // Port 1 leads down x, 5 down y; 9 is a node. Rows measured with OpenSM 3.3.23 on ibsim for `torus 5 5 1`, here along y
    // and z, so that bits 1 and 2 of the level choose.
    let view = generated("torus(5,5; 2; 2)");
    let graph = SwitchGraph::new(&view);
    let engine = bind("torus-2QoS(qos_levels=2)", &Given::new()).unwrap();
    let Outcome::Routed(routing) = engine.route(&graph, &RouteOptions::default()) else {
        panic!("refused")
    };
    let Lanes::ByPort(_, tables) = &routing.lanes else { panic!("lanes by port") };
    let row = |input, output| {
        (0..16).map(|sl| tables.lane(SwitchId(0), input, output, sl)).collect::<Vec<u8>>()
    };
    assert_eq!(row(2, 1), [0, 0, 1, 1, 0, 0, 1, 1, 4, 4, 5, 5, 4, 4, 5, 5]);
    assert_eq!(row(0, 1), row(9, 1));
    assert_eq!(row(5, 1), [2, 2, 3, 3, 2, 2, 3, 3, 6, 6, 7, 7, 6, 6, 7, 7]);
    assert_eq!(row(1, 5), [0, 0, 0, 0, 1, 1, 1, 1, 4, 4, 4, 4, 5, 5, 5, 5]);
    assert_eq!(row(1, 9), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn parallel_cables_take_turns_and_so_do_the_lids_of_an_endpoint() {
    let view = generated("torus(5,5; 4; 3)");
    let (routing, _) = plain(&view).unwrap();
    let mut destinations = [0u32; 17];
    for end in view.machine().endpoints().skip(3) {
        let lid = routing.lft.lids().of_endpoint(end);
        destinations[usize::from(routing.lft.port(SwitchId(0), lid))] += 1;
    }
    // Ports 1 to 4 lead down x, the next up x, down y and up y; two fifths of the nodes are either way along x.
    assert_eq!(
        destinations[1..],
        [[8, 8, 7, 7], [8, 8, 7, 7], [2, 2, 1, 1], [2, 2, 1, 1]].concat()
    );
    for (compat, ways) in [(Compat::Plain, 4), (Compat::OpenSm, 1)] {
        let options = RouteOptions { lmc: 2, compat, ..RouteOptions::default() };
        let (routing, found) = route(&view, &options).unwrap();
        assert_eq!(found.verdict(), Verdict::Ok);
        let far = EndpointId(6);
        let lids = routing.lft.lids().all_of_endpoint(far);
        let mut ports: Vec<u8> = lids.map(|lid| routing.lft.port(SwitchId(0), lid)).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), ways);
    }
}

#[test]
fn the_configuration_orders_destinations_and_limits_ports() {
    let view = generated("torus(3,3; 2; 3)");
    let conf = TorusConf::of(view.machine()).unwrap();
    let with = |conf: TorusConf| RouteOptions { torus_conf: Some(conf), ..Default::default() };
    let ports = |options: &RouteOptions| {
        let (routing, _) = route(&view, options).unwrap();
        let lids = routing.lft.lids();
        (3..6u32)
            .map(|end| routing.lft.port(SwitchId(0), lids.of_endpoint(EndpointId(end))))
            .collect::<Vec<_>>()
    };
    // Nodes of the switch beside 0 are on its ports 9 to 11; two cables, 3 and 4, lead there.
    assert_eq!(ports(&with(conf.clone())), [3, 4, 3]);
    assert_eq!(ports(&with(TorusConf { port_order: vec![11, 9], ..conf.clone() })), [4, 3, 3]);
    let few = TorusConf { portgroup_max_ports: 3, ..conf.clone() };
    assert!(refused(&view, &with(few)).contains("take 4 ports"));
    let fewer = TorusConf { portgroup_max_ports: 1, ..conf.clone() };
    assert!(refused(&view, &with(fewer)).contains("more than 1 parallel cables"));
    let beyond = TorusConf { port_order: vec![12], ..conf };
    assert!(refused(&view, &with(beyond)).contains("port_order names port 12"));
    let crowded = TorusConf::of(generated("torus(3,3; 1; 18)").machine()).unwrap();
    assert_eq!(crowded.portgroup_max_ports, 19);
}

#[test]
fn parts_cut_off_are_routed_by_themselves_if_they_can_be() {
    // One switch with all cables dead: the rest sees it as missing, and its own nodes still reach each other.
    let view = generated("torus(5,5; 1; 2)");
    let machine = view.machine();
    let (alone, beside) = (at(machine, &[2, 2]), at(machine, &[3, 2]));
    let around = [[1, 2], [3, 2], [2, 1], [2, 3]].map(|place| at(machine, &place));
    let mut dead: Vec<LinkId> =
        around.iter().flat_map(|&other| cables(machine, alone, other)).collect();
    assert_eq!(dead.len(), 4);
    let (_, found) = plain(&view.without(&dead, &[], &[])).unwrap();
    assert!(found.cut_pairs > 0 && found.unreachable_pairs == found.cut_pairs);
    // Two switches that hang together but on nothing else.
    let around = [[4, 2], [3, 1], [3, 3]].map(|place| at(machine, &place));
    dead.extend(around.iter().flat_map(|&other| cables(machine, beside, other)));
    dead.retain(|link| !cables(machine, alone, beside).contains(link));
    let refusal = plain(&view.without(&dead, &[], &[])).unwrap_err();
    assert!(refusal.reason.contains("side by side"), "{refusal:?}");
}

/// Switches at the places of a grid, joined pair by pair.
fn joined(shape: Vec<u32>, of_switch: Vec<u32>, pairs: &[(usize, usize)]) -> View {
    let mut builder = Builder::new("by hand", true);
    let count = of_switch.len() / shape.len();
    let switches: Vec<_> =
        (0..count).map(|s| builder.switch(format!("s{s}"), 8).unwrap()).collect();
    for &(a, b) in pairs {
        builder.cable(switches[a], switches[b], LinkRate::QDR);
    }
    let wraps = vec![false; shape.len()];
    builder.coordinates(Coordinates { shape, wraps, of_switch });
    View::intact(Arc::new(builder.build().unwrap()))
}

#[test]
fn cables_and_switches_that_do_not_fit_are_refused_where_they_are() {
    let square = vec![0, 0, 1, 0, 0, 1, 1, 1];
    let sides = [(0, 1), (0, 2), (1, 3), (2, 3)];
    assert!(plain(&joined(vec![2, 2], square.clone(), &sides)).is_ok());
    let across = [&sides[..], &[(0, 3)]].concat();
    let refusal = plain(&joined(vec![2, 2], square, &across)).unwrap_err();
    assert!(refusal.reason.contains("not beside it in the grid"));
    assert_eq!(refusal.switch, Some(SwitchId(0)));
    let refusal = plain(&joined(vec![2], vec![0, 1, 0], &[(0, 1), (1, 2)])).unwrap_err();
    assert!(refusal.reason.contains("the same place"));
    assert_eq!(refusal.switch, Some(SwitchId(2)));
}

#[test]
fn odd_fabrics_have_clear_outcomes() {
    // One switch, with and without nodes, that has coordinates.
    for text in ["mesh(1; 1; 3)", "mesh(1,1; 1; 1)", "mesh(3; 1; 2)", "torus(5; 2; 2)"] {
        let (_, found) = plain(&generated(text)).unwrap();
        assert_eq!(found.verdict(), Verdict::Ok, "{text}");
    }
    // No switch at all: nothing to route.
    let mut builder = Builder::new("two nodes back to back", true);
    let (a, b) = (builder.node("a", 1), builder.node("b", 1));
    builder.cable(a, b, LinkRate::QDR);
    let view = View::intact(Arc::new(builder.build().unwrap()));
    assert_eq!(plain(&view).unwrap().1.verdict(), Verdict::Ok);
    // Neither coordinates nor configuration.
    assert!(refused(&ring(5, 2), &RouteOptions::default()).contains("no coordinates"));
    // Four dimensions, of which one is none.
    assert!(plain(&generated("mesh(2,3,1,2; 1; 1)")).is_ok());
    assert!(
        refused(&generated("torus(3,3,3,3)"), &RouteOptions::default()).contains("4 dimensions")
    );
    assert!(TorusConf::of(generated("torus(3,3,3,3)").machine()).is_none());
    // Every switch dead.
    let view = generated("torus(3,3; 1; 1)");
    let all: Vec<SwitchId> = view.machine().switches().collect();
    let (_, found) = plain(&view.without(&[], &all, &[])).unwrap();
    assert_eq!(found.unreachable_pairs, found.cut_pairs);
}

#[test]
fn every_plane_is_found_from_a_seed_of_its_own() {
    let mut builder = Builder::new("two rings", true);
    let mut texts = String::from("torus 5 1 1\n");
    for plane in 0..2u64 {
        let switches: Vec<_> = (0..5)
            .map(|s| {
                let (name, guid) = (format!("p{plane}s{s}"), 0x100 * (plane + 1) + s);
                let info = crate::machine::PartInfo { name, guid, radix: 4, ..Default::default() };
                builder.switch_part(info)
            })
            .collect();
        for at in 0..5 {
            builder.cable_ports((switches[at], 1), (switches[(at + 1) % 5], 2), LinkRate::QDR);
            let node = builder.node(format!("n{plane}.{at}"), 1);
            builder.cable_ports((switches[at], 3), (node, 1), LinkRate::QDR);
        }
        texts += &format!("xp_link 0x{0:x}00 0x{0:x}01\nnext_seed\n", plane + 1);
    }
    let view = View::intact(Arc::new(builder.build().unwrap()));
    assert_eq!(view.machine().plane_count(), 2);
    let conf = TorusConf::parse(&texts).unwrap();
    let with =
        |conf: &TorusConf| RouteOptions { torus_conf: Some(conf.clone()), ..Default::default() };
    let (_, found) = route(&view, &with(&conf)).unwrap();
    assert_eq!((found.verdict(), found.pairs), (Verdict::Ok, 2 * 5 * 4));
    let first = TorusConf { seeds: vec![conf.seeds[0].clone()], ..conf };
    let refusal = route(&view, &with(&first)).unwrap_err();
    assert!(refusal.reason.starts_with("no seed of the configuration"));
    assert_eq!(refusal.switch, Some(SwitchId(5)));
}
