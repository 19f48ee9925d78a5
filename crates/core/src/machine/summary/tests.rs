//! Summaries of generated and of odd machines.

use std::sync::Arc;

use super::*;
use crate::ids::NodeId;
use crate::machine::{Builder, Part, PartInfo, generators};
use crate::params::Given;
use crate::units::Speed;

fn generated(text: &str) -> View {
    View::intact(Arc::new(generators::make(text, &Given::new(), Seed(1)).unwrap()))
}

#[test]
fn the_studys_tree_on_one_screen() {
    let summary = Summary::new(&generated("16-ary 2-tree"), Seed(1));
    assert_eq!((summary.nodes, summary.switches), (256, 32));
    assert_eq!((summary.links, summary.node_links), (256, 256));
    assert_eq!((summary.planes, summary.aggregation_nodes, summary.leaf_switches), (1, 0, 16));
    assert!(summary.unbalanced_leaves.is_empty() && summary.degraded_links.is_empty());
    assert_eq!(summary.radix, [(16, 16), (32, 16)]);
    assert_eq!(summary.rates, [(LinkRate::EDR, 512)]);
    let distances = summary.distances.unwrap();
    assert_eq!((distances.diameter, distances.sampled), (2, false));
    assert_eq!(summary.bisection.unwrap().links, 128);
}

#[test]
fn the_unbalanced_tree_shows_its_leaves() {
    let summary = Summary::new(&generated("kary-ntree(16;2;270)"), Seed(1));
    // Fourteen leaves have 17 nodes, two have 16.
    let leaf = |at| UnbalancedLeaf { switch: SwitchId(at), hosts: 16, usual: 17 };
    assert_eq!(summary.unbalanced_leaves, [leaf(14), leaf(15)]);
}

#[test]
fn a_broken_view_counts_what_is_left() {
    let view = generated("kary-ntree(2;2)").without(&[LinkId(4)], &[SwitchId(3)], &[NodeId(3)]);
    let summary = Summary::new(&view, Seed(1));
    assert_eq!((summary.nodes, summary.switches), (3, 3));
    assert_eq!((summary.links, summary.node_links), (1, 3));
    let leaf = UnbalancedLeaf { switch: SwitchId(1), hosts: 1, usual: 2 };
    assert_eq!(summary.unbalanced_leaves, [leaf], "one leaf each: the larger is usual");
}

/// A machine of one switch of device 1, `count` nodes at these rates and of these devices.
fn star(nodes: &[(u32, LinkRate)]) -> View {
    let mut builder = Builder::new("star", true);
    let device = |device, guid| PartInfo { device, guid, radix: 60, ..PartInfo::default() };
    let switch: Part = builder.switch_part(device(1, 1));
    for (at, &(kind, rate)) in nodes.iter().enumerate() {
        let node = builder.node_part(device(kind, 2 + at as u64));
        builder.cable(node, switch, rate);
    }
    View::intact(Arc::new(builder.build().unwrap()))
}

#[test]
fn a_cable_is_degraded_if_most_of_its_like_are_faster() {
    let (fast, slow) = (LinkRate::EDR, LinkRate::QDR);
    let degraded = |nodes: &[(u32, LinkRate)]| -> Vec<u32> {
        let summary = Summary::new(&star(nodes), Seed(1));
        summary.degraded_links.iter().map(|found| found.link.0).collect()
    };
    assert_eq!(degraded(&[(7, fast), (7, slow), (7, fast)]), [1]);
    // Older adapters are no faster: they are compared with their like.
    let mixed = [(7, fast), (7, fast), (7, fast), (8, slow), (8, slow), (8, slow)];
    assert_eq!(degraded(&mixed), Vec::<u32>::new());
    // Two are too few to tell; all node cables are the measure then.
    assert_eq!(degraded(&[(7, fast), (7, fast), (7, fast), (8, slow), (8, slow)]), [3, 4]);
    assert_eq!(degraded(&[(7, slow), (7, slow), (7, fast), (7, fast)]), [0, 1], "ties: faster");
    assert_eq!(degraded(&[(7, slow), (7, slow), (7, fast)]), Vec::<u32>::new());
}

#[test]
fn rates_are_listed_fastest_first() {
    let narrow = LinkRate { lanes: 1, speed: Speed::Qdr };
    let wide = LinkRate { lanes: 4, speed: Speed::Sdr };
    let summary = Summary::new(&star(&[(7, narrow), (7, wide), (7, LinkRate::EDR)]), Seed(1));
    assert_eq!(summary.rates, [(LinkRate::EDR, 1), (wide, 1), (narrow, 1)]);
}

#[test]
fn a_machine_without_nodes_has_no_distances() {
    let mut builder = Builder::new("bare", true);
    let (a, b) = (builder.switch("a", 1).unwrap(), builder.switch("b", 1).unwrap());
    builder.cable(a, b, LinkRate::EDR);
    let summary = Summary::new(&View::intact(Arc::new(builder.build().unwrap())), Seed(1));
    assert_eq!((summary.distances, summary.bisection), (None, None));
    assert_eq!((summary.links, summary.leaf_switches, summary.planes), (1, 0, 1));
}
