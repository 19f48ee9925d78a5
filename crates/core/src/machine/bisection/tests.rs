//! Known bisections, and the true one of small machines by trying everything.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::machine::{Builder, Coordinates, Part, generators};
use crate::params::Given;
use crate::units::LinkRate;

fn links(view: &View) -> usize {
    let found = bisection(view, Seed(1)).unwrap();
    assert!((found.rate_gb_s - 12.5 * found.links as f64).abs() < 1e-6, "all links are 4xEDR");
    found.links
}

fn generated(text: &str) -> View {
    View::intact(Arc::new(generators::make(text, &Given::new(), Seed(1)).unwrap()))
}

/// A grid of switches with one node each, `parallel` cables between neighbours.
fn grid(shape: &[u32], wraps: bool, parallel: u32) -> View {
    let mut builder = Builder::new("grid", true);
    let count: u32 = shape.iter().product();
    let switches: Vec<Part> =
        (0..count).map(|at| builder.switch(format!("s{at}"), 60).unwrap()).collect();
    let mut of_switch = Vec::new();
    for at in 0..count {
        let node = builder.node(format!("n{at}"), 1);
        builder.cable(node, switches[at as usize], LinkRate::EDR);
        let mut weight = 1;
        for &length in shape {
            let place = at / weight % length;
            of_switch.push(place);
            let next = if place + 1 < length { at + weight } else { at - place * weight };
            if place + 1 < length || (wraps && length > 2) {
                for _ in 0..parallel {
                    builder.cable(switches[at as usize], switches[next as usize], LinkRate::EDR);
                }
            }
            weight *= length;
        }
    }
    let wraps = vec![wraps; shape.len()];
    builder.coordinates(Coordinates { shape: shape.to_vec(), wraps, of_switch });
    View::intact(Arc::new(builder.build().unwrap()))
}

#[test]
fn k_ary_n_trees_have_full_bisection() {
    for (text, nodes) in [("16-ary 2-tree", 256), ("kary-ntree(4;3)", 64), ("kary-ntree(8;3)", 512)]
    {
        assert_eq!(links(&generated(text)), nodes / 2, "{text}");
    }
}

#[test]
fn grids_are_cut_across_their_longest_side() {
    assert_eq!(links(&grid(&[8], true, 1)), 2, "ring");
    assert_eq!(links(&grid(&[8], false, 1)), 1, "line");
    assert_eq!(links(&grid(&[6, 6], false, 1)), 6);
    assert_eq!(links(&grid(&[5, 5], false, 6)), 36, "with a step in the middle row");
    assert_eq!(links(&grid(&[6, 6], true, 2)), 24);
    assert_eq!(links(&grid(&[4, 4, 4], true, 4)), 2 * 16 * 4);
    assert_eq!(links(&grid(&[8, 4, 4], true, 1)), 2 * 16);
}

#[test]
fn two_switches_joined_by_one_cable_are_cut_there() {
    let mut builder = Builder::new("dumbbell", true);
    let (a, b) = (builder.switch("a", 9).unwrap(), builder.switch("b", 9).unwrap());
    builder.cable(a, b, LinkRate::EDR);
    for at in 0..8 {
        let node = builder.node(format!("n{at}"), 1);
        builder.cable(node, if at < 4 { a } else { b }, LinkRate::EDR);
    }
    let view = View::intact(Arc::new(builder.build().unwrap()));
    assert_eq!(links(&view), 1);
    let without = view.without(&[], &[], &[NodeId(0), NodeId(1)]);
    assert_eq!(links(&without), 2, "three nodes a half: one of the four crosses as well");
}

#[test]
fn one_switch_is_cut_at_its_nodes() {
    let view = generated("kary-ntree(18;1)");
    assert_eq!(links(&view), 9);
    let nodes: Vec<NodeId> = (1..18).map(NodeId).collect();
    assert_eq!(bisection(&view.without(&[], &[], &nodes), Seed(1)), None);
}

#[test]
fn two_rails_are_cut_in_both() {
    let mut builder = Builder::new("rails", true);
    let switches: Vec<Part> =
        (0..6).map(|at| builder.switch(format!("s{at}"), 12).unwrap()).collect();
    for rail in [0, 3] {
        for _ in 0..2 {
            builder.cable(switches[rail], switches[rail + 1], LinkRate::EDR);
            builder.cable(switches[rail], switches[rail + 2], LinkRate::EDR);
        }
    }
    for at in 0..8 {
        let node = builder.node(format!("n{at}"), 2);
        builder.cable(node, switches[1 + at / 4], LinkRate::EDR);
        builder.cable(node, switches[4 + at / 4], LinkRate::EDR);
    }
    assert_eq!(links(&View::intact(Arc::new(builder.build().unwrap()))), 4);
}

fn machines() -> impl Strategy<Value = View> {
    let links = prop::collection::vec((0usize..6, 0usize..6), 0..12);
    let nodes = prop::collection::vec(prop::collection::vec(0usize..6, 1..3), 2..8);
    (1usize..=6, links, nodes).prop_map(|(switch_count, links, nodes)| {
        let mut builder = Builder::new("any", true);
        let switches: Vec<_> =
            (0..switch_count).map(|at| builder.switch(format!("s{at}"), 60).unwrap()).collect();
        for (a, b) in links.into_iter().map(|(a, b)| (a % switch_count, b % switch_count)) {
            if a != b {
                builder.cable(switches[a], switches[b], LinkRate::EDR);
            }
        }
        for (at, ports) in nodes.iter().enumerate() {
            let node = builder.node(format!("n{at}"), 2);
            for &port in ports {
                builder.cable(node, switches[port % switch_count], LinkRate::QDR);
            }
        }
        View::intact(Arc::new(builder.build().unwrap()))
    })
}

/// Least rate in GB/s of the cables cut by any even split of the vertices.
fn naive(view: &View) -> f64 {
    let machine = view.machine();
    let switch_count = machine.switch_count();
    let nodes = machine.node_count();
    let cut = |split: u32| -> f64 {
        let side = |vertex: crate::ids::VertexId| split >> vertex.0 & 1;
        let links = machine.links().filter(|&link| {
            let [a, b] = machine.ends(link);
            side(a.vertex) != side(b.vertex)
        });
        links.map(|link| machine.rate(link).rate_gb_s()).sum()
    };
    (0..1u32 << (switch_count + nodes))
        .filter(|split| (split >> switch_count).count_ones().abs_diff(nodes as u32 / 2) == 0)
        .map(cut)
        .fold(f64::INFINITY, f64::min)
}

/// Least number of links between two equal halves of the switches.
fn naive_halves(view: &View) -> usize {
    let machine = view.machine();
    let links: Vec<[u32; 2]> =
        machine.switch_links().map(|l| machine.ends(l).map(|end| end.vertex.0)).collect();
    let cut = |split: u32| {
        links.iter().filter(|ends| (split >> ends[0] ^ split >> ends[1]) & 1 == 1).count()
    };
    let count = machine.switch_count() as u32;
    let even = (0..1u32 << count).filter(|split| split.count_ones() * 2 == count);
    even.map(cut).min().unwrap()
}

#[test]
fn nearly_all_small_networks_are_cut_as_well_as_can_be() {
    let mut worse = 0;
    for sample in 0..1000 {
        let mut random = Seed(1).stream("networks", sample);
        let mut builder = Builder::new("any", true);
        let switch_count = 2 * (1 + random.index(5));
        let switches: Vec<Part> =
            (0..switch_count).map(|at| builder.switch(format!("s{at}"), 60).unwrap()).collect();
        for (at, &switch) in switches.iter().enumerate() {
            let node = builder.node(format!("n{at}"), 4);
            // Four cables, so that no node is worth dealing across.
            (0..4).for_each(|_| builder.cable(node, switch, LinkRate::EDR));
        }
        for _ in 0..random.index(25) {
            let ends = [(); 2].map(|()| switches[random.index(switch_count)]);
            if ends[0] != ends[1] {
                builder.cable(ends[0], ends[1], LinkRate::EDR);
            }
        }
        let view = View::intact(Arc::new(builder.build().unwrap()));
        worse += links(&view) - naive_halves(&view);
    }
    assert!(worse <= 3, "{worse} links too many in 1000 networks");
}

proptest! {
    #[test]
    fn an_estimate_is_a_real_even_cut_and_never_below_the_true_one(view in machines()) {
        let machine = view.machine();
        let (halves, found) = best_halves(&view, Seed(1)).unwrap();
        let second = halves.nodes.values().filter(|&&side| side).count();
        prop_assert_eq!(halves.nodes.len(), machine.node_count());
        prop_assert!(second.abs_diff(machine.node_count() - second) <= 1);
        let side = |vertex| match machine.as_switch(vertex) {
            Some(switch) => halves.switches[switch.index()],
            None => halves.nodes[&machine.as_node(vertex).unwrap()],
        };
        let cut: Vec<_> = machine
            .links()
            .filter(|&link| {
                let [a, b] = machine.ends(link);
                side(a.vertex) != side(b.vertex)
            })
            .collect();
        prop_assert_eq!(cut.len(), found.links);
        let rate: f64 = cut.iter().map(|&link| machine.rate(link).rate_gb_s()).sum();
        prop_assert!((rate - found.rate_gb_s).abs() < 1e-9);
        let least = naive(&view);
        prop_assert!(found.rate_gb_s > least - 1e-9, "{} below the true {least}", found.rate_gb_s);
    }
}
