//! Small machines for tests.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Builder, Machine, Part, View};
use crate::ids::{LinkId, NodeId, SwitchId, VertexId};
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

/// The same broken fabric with its switches, switch ports, nodes and cables numbered in another order.
pub fn shuffled(view: &View, seed: u64) -> View {
    let old = view.machine();
    let mut draw = Seed(seed).stream("test.shuffle", 0);
    let mut builder = Builder::new(old.name(), old.synthetic());
    let mut switches: Vec<SwitchId> = old.switches().collect();
    let mut nodes: Vec<NodeId> = old.nodes().collect();
    let mut links: Vec<LinkId> = old.links().collect();
    draw.shuffle(&mut switches);
    draw.shuffle(&mut nodes);
    draw.shuffle(&mut links);
    let mut moved = vec![None; old.vertex_count()];
    for (new, &switch) in switches.iter().enumerate() {
        let mut ports: Vec<u8> = (1..=old.switch(switch).radix).collect();
        draw.shuffle(&mut ports);
        let part = builder.switch_part(old.switch(switch).clone());
        moved[old.switch_vertex(switch).index()] = Some((part, new as u32, ports));
    }
    for (new, &node) in nodes.iter().enumerate() {
        let part = builder.node_part(old.node(node).clone());
        let ports = (1..=old.node(node).radix).collect();
        moved[old.node_vertex(node).index()] = Some((part, new as u32, ports));
    }
    let moved = |vertex: VertexId| moved[vertex.index()].as_ref().unwrap();
    for &link in &links {
        let [a, b] = old.ends(link).map(|end| {
            let (part, _, ports) = moved(end.vertex);
            (*part, ports[usize::from(end.port) - 1])
        });
        builder.cable_ports(a, b, old.rate(link));
    }
    let position = |dead: LinkId| links.iter().position(|&link| link == dead).unwrap() as u32;
    let unusable = old.links().filter(|&link| !view.link_usable(link));
    let links: Vec<LinkId> = unusable.map(|link| LinkId(position(link))).collect();
    let dead = |vertex: &VertexId| !view.vertex_alive(*vertex);
    let switches: Vec<SwitchId> = (old.switches().map(|switch| old.switch_vertex(switch)))
        .filter(dead)
        .map(|vertex| SwitchId(moved(vertex).1))
        .collect();
    let nodes: Vec<NodeId> = (old.nodes().map(|node| old.node_vertex(node)))
        .filter(dead)
        .map(|vertex| NodeId(moved(vertex).1))
        .collect();
    View::intact(Arc::new(builder.build().unwrap())).without(&links, &switches, &nodes)
}

/// Two machines beside each other, joined by nothing: two planes.
pub fn beside(a: &Machine, b: &Machine) -> Machine {
    let mut builder = Builder::new("two machines", true);
    for (side, machine) in [a, b].into_iter().enumerate() {
        let parts: Vec<Part> = (0..machine.vertex_count())
            .map(|vertex| {
                let vertex = VertexId::from_index(vertex);
                let mut info = machine.part(vertex).clone();
                info.guid = 2 * info.guid + side as u64;
                match machine.as_switch(vertex) {
                    Some(_) => builder.switch_part(info),
                    None => builder.node_part(info),
                }
            })
            .collect();
        for link in machine.links() {
            let [a, b] = machine.ends(link).map(|end| (parts[end.vertex.index()], end.port));
            builder.cable_ports(a, b, machine.rate(link));
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
