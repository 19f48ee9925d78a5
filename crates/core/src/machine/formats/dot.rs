//! Graphviz DOT: the fabric as a picture, in layers by distance from the nodes.
//!
//! Parallel cables are one edge labelled with their number, unless every cable is asked for; edges to nodes are not
//! labelled, since a picture of a thousand nodes has room for none. Only written.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Format, FormatError};
use crate::ids::VertexId;
use crate::machine::names::Names;
use crate::machine::{Machine, NodeKind};
use crate::units::LinkRate;

/// The DOT format.
pub struct Dot;

impl Format for Dot {
    fn names(&self) -> &'static [&'static str] {
        &["dot"]
    }

    fn summary(&self) -> &'static str {
        "Graphviz, for a picture"
    }

    fn reads(&self) -> bool {
        false
    }

    fn write(&self, machine: &Machine) -> Result<String, FormatError> {
        Ok(write(machine, Cables::Merged))
    }
}

/// How parallel cables are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cables {
    /// One edge between two parts, labelled `4 x 4xEDR`.
    Merged,
    /// One edge a cable, labelled with both ports.
    Each,
}

/// Writes the machine as a DOT graph.
#[must_use]
pub fn write(machine: &Machine, cables: Cables) -> String {
    let names = Names::new(machine);
    let mut text = String::new();
    let _ = writeln!(text, "graph {} {{", quoted(machine.name()));
    text.push_str("  rankdir=BT;\n  node [shape=box];\n");
    let layers = layers(machine);
    for (index, layer) in layers.iter().enumerate() {
        let _ = writeln!(text, "  {{ rank=same; // layer {index}");
        for &vertex in layer {
            let label = quoted(&names.part(vertex));
            let shape = match (machine.as_switch(vertex), machine.part(vertex).kind) {
                (Some(_), _) => "",
                (None, NodeKind::Host) => ", shape=ellipse",
                (None, NodeKind::Aggregation) => ", shape=hexagon",
                (None, NodeKind::Router) => ", shape=diamond",
            };
            let _ = writeln!(text, "    v{} [label={label}{shape}];", vertex.0);
        }
        text.push_str("  }\n");
    }
    match cables {
        Cables::Merged => merged(machine, &mut text),
        Cables::Each => each(machine, &mut text),
    }
    text.push_str("}\n");
    text
}

fn merged(machine: &Machine, text: &mut String) {
    // Cables of different rates stay apart: a degraded one is what the reader looks for.
    let mut edges: BTreeMap<(VertexId, VertexId, u8, crate::units::Speed), usize> = BTreeMap::new();
    for link in machine.links() {
        let [a, b] = machine.ends(link).map(|end| end.vertex);
        let rate = machine.rate(link);
        *edges.entry((a.min(b), a.max(b), rate.lanes, rate.speed)).or_default() += 1;
    }
    for ((a, b, lanes, speed), count) in edges {
        let rate = LinkRate { lanes, speed };
        let between_switches = machine.as_switch(a).is_some() && machine.as_switch(b).is_some();
        let label = match count {
            1 if !between_switches => String::new(),
            1 => format!(" [label=\"{rate}\"]"),
            _ => format!(" [label=\"{count} x {rate}\", penwidth={}]", count.min(8)),
        };
        let _ = writeln!(text, "  v{} -- v{}{label};", a.0, b.0);
    }
}

fn each(machine: &Machine, text: &mut String) {
    for link in machine.links() {
        let [a, b] = machine.ends(link);
        let _ = writeln!(
            text,
            "  v{} -- v{} [label=\"{}\", taillabel=\"{}\", headlabel=\"{}\"];",
            a.vertex.0,
            b.vertex.0,
            machine.rate(link),
            a.port,
            b.port
        );
    }
}

/// Nodes, then the switches that they are cabled to, and so on; last what no cable joins to a node.
fn layers(machine: &Machine) -> Vec<Vec<VertexId>> {
    let mut seen = vec![false; machine.vertex_count()];
    let mut layer: Vec<VertexId> = machine.nodes().map(|node| machine.node_vertex(node)).collect();
    layer.iter().for_each(|vertex| seen[vertex.index()] = true);
    let mut layers = Vec::new();
    while !layer.is_empty() {
        let mut next = Vec::new();
        for channel in layer.iter().flat_map(|&vertex| machine.channels_from(vertex)) {
            let far = machine.head(channel).vertex;
            if !std::mem::replace(&mut seen[far.index()], true) {
                next.push(far);
            }
        }
        next.sort_unstable();
        layers.push(std::mem::replace(&mut layer, next));
    }
    let alone: Vec<VertexId> =
        (0..seen.len()).filter(|&vertex| !seen[vertex]).map(VertexId::from_index).collect();
    if !alone.is_empty() {
        layers.push(alone);
    }
    layers
}

/// A DOT string: only quotes and backslashes are special in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => quoted.push(' '),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Builder;

    fn two_switches() -> Machine {
        let mut builder = Builder::new("two", true);
        let a = builder.switch("a \"1\"", 8).unwrap();
        let b = builder.switch("b", 8).unwrap();
        let node = builder.node("n", 1);
        builder.cable(node, a, LinkRate::EDR);
        builder.cable(a, b, LinkRate::EDR);
        builder.cable(b, a, LinkRate::EDR);
        builder.cable(a, b, LinkRate::QDR);
        builder.build().unwrap()
    }

    #[test]
    fn parallel_cables_of_one_rate_are_one_edge() {
        assert_eq!(
            write(&two_switches(), Cables::Merged),
            r#"graph "two" {
  rankdir=BT;
  node [shape=box];
  { rank=same; // layer 0
    v2 [label="n", shape=ellipse];
  }
  { rank=same; // layer 1
    v0 [label="a \"1\""];
  }
  { rank=same; // layer 2
    v1 [label="b"];
  }
  v0 -- v1 [label="4xQDR"];
  v0 -- v1 [label="2 x 4xEDR", penwidth=2];
  v0 -- v2;
}
"#
        );
    }

    #[test]
    fn every_cable_is_drawn_when_asked() {
        let text = write(&two_switches(), Cables::Each);
        assert_eq!(text.matches(" -- ").count(), 4);
        assert!(text.contains("v1 -- v0 [label=\"4xEDR\", taillabel=\"2\", headlabel=\"3\"];"));
    }
}
