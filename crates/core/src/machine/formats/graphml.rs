//! GraphML for NetworkX, igraph, Gephi, yEd: a multigraph with ports and rates as attributes. Only written.
//!
//! Characters that XML 1.0 cannot hold become U+FFFD.

use std::fmt::Write;

use super::{Format, FormatError};
use crate::ids::VertexId;
use crate::machine::names::Names;
use crate::machine::{Machine, NodeKind};

/// The GraphML format.
pub struct Graphml;

/// Key, what it belongs to, type.
const KEYS: [(&str, &str, &str); 11] = [
    ("name", "node", "string"),
    ("label", "node", "string"),
    ("kind", "node", "string"),
    ("guid", "node", "string"),
    ("ports", "node", "int"),
    ("plane", "node", "int"),
    ("source_port", "edge", "int"),
    ("target_port", "edge", "int"),
    ("rate", "edge", "string"),
    ("rate_gbps", "edge", "double"),
    ("link", "edge", "int"),
];

impl Format for Graphml {
    fn names(&self) -> &'static [&'static str] {
        &["graphml"]
    }

    fn summary(&self) -> &'static str {
        "GraphML, for graph programs"
    }

    fn reads(&self) -> bool {
        false
    }

    fn write(&self, machine: &Machine) -> Result<String, FormatError> {
        let names = Names::new(machine);
        let mut text = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
        );
        for (key, of, kind) in KEYS {
            let _ = writeln!(
                text,
                "  <key id=\"{key}\" for=\"{of}\" attr.name=\"{key}\" attr.type=\"{kind}\"/>"
            );
        }
        let _ = writeln!(
            text,
            "  <graph id=\"{}\" edgedefault=\"undirected\">",
            escaped(machine.name())
        );
        for vertex in (0..machine.vertex_count()).map(VertexId::from_index) {
            write_part(machine, &names, vertex, &mut text);
        }
        for link in machine.links() {
            let [a, b] = machine.ends(link);
            let rate = machine.rate(link);
            let (a_id, b_id) = (a.vertex.0, b.vertex.0);
            let _ = write!(text, "    <edge source=\"v{a_id}\" target=\"v{b_id}\">");
            data(&mut text, "source_port", &a.port.to_string());
            data(&mut text, "target_port", &b.port.to_string());
            data(&mut text, "rate", &rate.to_string());
            data(&mut text, "rate_gbps", &rate.rate_gbps().to_string());
            data(&mut text, "link", &link.0.to_string());
            text.push_str("</edge>\n");
        }
        text.push_str("  </graph>\n</graphml>\n");
        Ok(text)
    }
}

fn write_part(machine: &Machine, names: &Names<'_>, vertex: VertexId, text: &mut String) {
    let info = machine.part(vertex);
    let kind = match (machine.as_switch(vertex), info.kind) {
        (Some(_), _) => "switch",
        (None, NodeKind::Host) => "host",
        (None, NodeKind::Aggregation) => "aggregation",
        (None, NodeKind::Router) => "router",
    };
    let _ = write!(text, "    <node id=\"v{}\">", vertex.0);
    data(text, "name", &info.name);
    data(text, "label", &names.part(vertex));
    data(text, "kind", kind);
    data(text, "guid", &format!("0x{:016x}", info.guid));
    data(text, "ports", &info.radix.to_string());
    // A node may have ports in several planes; then no one number is right.
    if let Some(switch) = machine.as_switch(vertex) {
        data(text, "plane", &machine.plane_of_switch(switch).to_string());
    }
    text.push_str("</node>\n");
}

fn data(text: &mut String, key: &str, value: &str) {
    let _ = write!(text, "<data key=\"{key}\">{}</data>", escaped(value));
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use crate::machine::Builder;
    use crate::units::LinkRate;

    #[test]
    fn every_cable_is_an_edge_with_its_ports_and_rate() {
        let mut builder = Builder::new("a<b", true);
        let switch = builder.switch("s & \u{1}", 2).unwrap();
        let node = builder.node("n", 2);
        builder.cable(node, switch, LinkRate::EDR);
        builder.cable(switch, node, LinkRate::QDR);
        let text = write(&builder.build().unwrap(), "graphml").unwrap();
        assert!(text.contains("<graph id=\"a&lt;b\" edgedefault=\"undirected\">"));
        assert!(text.contains("<data key=\"name\">s &amp; \u{fffd}</data>"));
        assert!(text.contains(
            "<edge source=\"v0\" target=\"v1\"><data key=\"source_port\">2</data><data \
             key=\"target_port\">2</data><data key=\"rate\">4xQDR</data><data \
             key=\"rate_gbps\">32</data><data key=\"link\">1</data></edge>"
        ));
        assert_eq!(text.matches("<edge ").count(), 2);
    }
}
