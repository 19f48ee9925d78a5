use super::*;
use crate::ids::Rank;
use crate::machine::samples::{generated, ring};
use crate::params::Given;
use crate::recovery::routing::{Outcome, RouteOptions, engines};
use crate::traffic::Message;
use crate::units::Bytes;

fn minhop(graph: &SwitchGraph<'_>) -> Routing {
    match engines::bind("minhop", &Given::new()).unwrap().route(graph, &RouteOptions::default()) {
        Outcome::Routed(routing) => routing,
        Outcome::Refused(refusal) => panic!("{}", refusal.reason),
    }
}

fn shift(ranks: u32, by: u32) -> Traffic {
    let messages = (0..ranks).map(|rank| Message {
        source: Rank(rank),
        target: Rank((rank + by) % ranks),
        size: Bytes(2048),
    });
    Traffic { ranks, messages: messages.collect() }
}

fn run(view: &View, phases: &[Traffic], steady: bool, options: CongestionOptions) -> Congestion {
    let graph = SwitchGraph::new(view);
    let routing = minhop(&graph);
    let nodes: Vec<NodeId> = view.machine().nodes().collect();
    let mut simulation = Simulation::new(&graph, &routing, &nodes, options);
    for phase in phases {
        if steady {
            simulation.steady_phase(phase).unwrap();
        } else {
            simulation.finite_phase(phase).unwrap();
        }
    }
    simulation.finish()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.abs()
}

#[test]
fn neighbours_on_one_switch_get_the_full_cable() {
    let view = ring(3, 4);
    let local = Traffic { ranks: 12, messages: vec![shift(12, 1).messages[0]] };
    let result = run(&view, &[local], true, CongestionOptions::default());
    assert!(close(result.throughput_gb_s, 4.0));
    assert_eq!(result.collision_max, 1);
}

#[test]
fn four_nodes_that_cross_one_cable_get_a_quarter_each() {
    // Ring of three, four nodes a switch, everyone to the next switch: 4 messages over each 4 GB/s cable.
    let view = ring(3, 4);
    let steady = run(&view, &[shift(12, 4)], true, CongestionOptions::default());
    assert!(close(steady.throughput_gb_s, 12.0));
    assert_eq!(steady.collision_max, 4);
    let finite = run(&view, &[shift(12, 4), shift(12, 4)], false, CongestionOptions::default());
    assert_eq!(finite.time, Picos(2 * 2048 * 1000));
    assert!(close(finite.throughput_gb_s, 12.0));
    assert!(finite.received_gb_s.iter().all(|&received| close(received, 1.0)));
}

#[test]
fn a_rank_with_one_slow_path_is_slow_altogether() {
    // Uniform traffic on a ring of three with two nodes a switch: 4 of a node's 5 messages leave its switch, 2 a side;
    // a cable carries 2 x 2 of 10 fifths, so ranks reach 4 GB/s / (4 x 1/5) = 5 GB/s, but inject at most 4 GB/s.
    let view = ring(3, 2);
    let all = |ranks: u32| Traffic {
        ranks,
        messages: (0..ranks)
            .flat_map(|s| (0..ranks).filter(move |&t| t != s).map(move |t| (s, t)))
            .map(|(s, t)| Message { source: Rank(s), target: Rank(t), size: Bytes(1) })
            .collect(),
    };
    let free = run(&view, &[all(6)], true, CongestionOptions::default());
    assert!(close(free.throughput_gb_s, 24.0), "{}", free.throughput_gb_s);
    // With six nodes a switch: 12 of 17 leave, 6 a side, 36 seventeenths on a cable: 4 x 17 / 36 GB/s a rank.
    let crowded = run(&ring(3, 6), &[all(18)], true, CongestionOptions::default());
    assert!(close(crowded.throughput_gb_s, 18.0 * 4.0 * 17.0 / 36.0));
    assert!(crowded.received_gb_s.iter().all(|&r| close(r, 4.0 * 17.0 / 36.0)));
}

#[test]
fn injection_limits_slow_senders_not_receivers() {
    let view = ring(3, 4);
    let options = CongestionOptions { injection_gb_s: Some(0.5) };
    let result = run(&view, &[shift(12, 4)], true, options);
    assert!(close(result.throughput_gb_s, 6.0));
}

#[test]
fn a_message_that_ends_leaves_its_share_to_the_others() {
    // Two messages share a 4 GB/s cable, one half as long: 2 GB/s each, then 4 GB/s for what is left.
    let view = ring(3, 2);
    let message = |source, target, size| Message {
        source: Rank(source),
        target: Rank(target),
        size: Bytes(size),
    };
    let traffic = Traffic { ranks: 6, messages: vec![message(0, 2, 4000), message(1, 3, 8000)] };
    let result = run(&view, &[traffic], false, CongestionOptions::default());
    assert_eq!(result.time, Picos(3_000_000));
}

#[test]
fn a_full_bisection_tree_carries_a_shift_by_a_leaf_without_collision() {
    let view = generated("kary-ntree(4; 2; rate=4xQDR)");
    let result = run(&view, &[shift(16, 4)], true, CongestionOptions::default());
    assert_eq!(result.collision_max, 1);
    assert!(close(result.throughput_gb_s, 64.0));
}

#[test]
fn lost_messages_are_counted_and_carry_nothing() {
    let view = ring(4, 1);
    let links: Vec<_> = view.machine().switch_links().collect();
    let cut = view.without(&links, &[], &[]);
    let result = run(&cut, &[shift(4, 1)], false, CongestionOptions::default());
    assert_eq!((result.messages, result.unrouted_messages), (4, 4));
    assert_eq!((result.throughput_gb_s, result.time), (0.0, Picos(0)));
}
