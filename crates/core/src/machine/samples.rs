//! Small machines for tests.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Builder, Machine, Part, View};
use crate::rng::Seed;
use crate::units::LinkRate;

/// A ring of `switches` switches with `nodes` nodes each: port 1 leads on, port 2 back.
pub fn ring(switches: usize, nodes: usize) -> View {
    let mut builder = Builder::new("ring", true);
    let radix = 2 + nodes as u64;
    let ring: Vec<Part> =
        (0..switches).map(|s| builder.switch(format!("s{s}"), radix).unwrap()).collect();
    for at in 0..switches {
        builder.cable_ports((ring[at], 1), (ring[(at + 1) % switches], 2), LinkRate::QDR);
    }
    for (at, &switch) in ring.iter().enumerate() {
        for port in 0..nodes {
            let node = builder.node(format!("n{}", at * nodes + port), 1);
            builder.cable_ports((switch, 3 + port as u8), (node, 1), LinkRate::QDR);
        }
    }
    View::intact(Arc::new(builder.build().unwrap()))
}

/// A machine made by a generator.
pub fn generated(text: &str) -> View {
    let machine = super::generators::make(text, &Default::default(), Seed(1)).unwrap();
    View::intact(Arc::new(machine))
}

/// A random multigraph: a random tree of switches, then extra cables (parallel ones too), nodes with one or `ports_max` ports.
pub fn random_machine(
    switches: usize,
    extra: usize,
    nodes: usize,
    ports_max: u8,
    seed: u64,
) -> Machine {
    let mut draw = Seed(seed).stream("test.machine", 0);
    let mut builder = Builder::new(format!("random {seed}"), true);
    let parts: Vec<Part> =
        (0..switches).map(|s| builder.switch(format!("s{s}"), 120).unwrap()).collect();
    for at in 1..switches {
        builder.cable(parts[draw.index(at)], parts[at], LinkRate::QDR);
    }
    for _ in 0..extra.min(100) {
        let (a, b) = (draw.index(switches), draw.index(switches));
        if a != b {
            builder.cable(parts[a], parts[b], LinkRate::EDR);
        }
    }
    for node in 0..nodes.min(100) {
        let ports = if draw.below(8) == 0 { ports_max } else { 1 };
        let part = builder.node(format!("n{node}"), ports);
        for _ in 0..ports {
            builder.cable(part, parts[draw.index(switches)], LinkRate::QDR);
        }
    }
    builder.build().unwrap()
}

prop_compose! {
    /// A random connected machine of nodes with one or `ports_max` ports and up to 12 switches, and up to a third of its cables and one switch dead.
    pub fn broken_machine(ports_max: u8)(
        switches in 1usize..12,
        extra in 0usize..20,
        nodes in 0usize..30,
        seed in any::<u64>(),
        dead in 0usize..8,
        dead_switch in any::<bool>(),
    ) -> View {
        let machine = Arc::new(random_machine(switches, extra, nodes, ports_max, seed));
        let mut draw = Seed(seed).stream("test.faults", 0);
        let mut links: Vec<_> = machine.links().collect();
        draw.shuffle(&mut links);
        links.truncate(dead.min(links.len() / 3));
        let switch = crate::ids::SwitchId(draw.below(switches as u64) as u32);
        let switches: &[_] = if dead_switch { &[switch] } else { &[] };
        View::intact(machine).without(&links, switches, &[])
    }
}
