//! Our own JSON: everything a machine is, and nothing else.
//!
//! One part, cable or endpoint a line, so that two files compare with ordinary tools. Values that are zero or usual
//! are left out. Reading checks what the types cannot: indices, lengths, ports. Unknown keys are errors, since a key
//! that is misspelt would otherwise be lost in silence.

use std::collections::HashSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{Format, FormatError, Import};
use crate::ids::{NodeId, SwitchId, VertexId};
use crate::machine::{
    Builder, Coordinates, EndpointInfo, Level, Machine, NodeKind, Part, PartInfo, PortRef,
};
use crate::units::LinkRate;

/// The JSON format.
pub struct Json;

const FORMAT: &str = "runflat-machine";
const VERSION: u64 = 1;

impl Format for Json {
    fn names(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn summary(&self) -> &'static str {
        "runflat's own, which keeps everything"
    }

    fn recognises(&self, text: &str) -> bool {
        text.trim_start().starts_with('{')
    }

    fn read(&self, text: &str, label: &str) -> Result<Import, FormatError> {
        let head: Head = serde_json::from_str(text).map_err(|error| syntax(label, &error))?;
        let value = |key: &str, found: String, allowed: String| FormatError::Value {
            label: label.to_owned(),
            key: key.to_owned(),
            found,
            allowed,
        };
        match (head.format.as_deref(), head.version) {
            (Some(FORMAT), Some(VERSION)) => {}
            (Some(FORMAT), version) => {
                let found = version.map_or("is missing".to_owned(), |given| format!("is {given}"));
                let allowed = format!("this version of runflat reads version {VERSION}");
                return Err(value("version", found, allowed));
            }
            (format, _) => {
                let found = format.map_or("is missing".to_owned(), |given| format!("is `{given}`"));
                return Err(value("format", found, format!("of all JSON only `{FORMAT}` is read")));
            }
        }
        let file: File = serde_json::from_str(text).map_err(|error| syntax(label, &error))?;
        Ok(Import { machine: file.build(label)?, warnings: Vec::new() })
    }

    fn write(&self, machine: &Machine) -> Result<String, FormatError> {
        Ok(write(machine))
    }
}

#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    name: String,
    synthetic: bool,
    switches: Vec<PartLine>,
    nodes: Vec<PartLine>,
    links: Vec<LinkLine>,
    #[serde(default)]
    endpoints: Vec<EndpointLine>,
    #[serde(default)]
    coordinates: Option<CoordinatesLine>,
    #[serde(default)]
    levels: Vec<LevelLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartLine {
    name: String,
    guid: Guid,
    ports: u8,
    #[serde(default, skip_serializing_if = "is_default")]
    kind: Kind,
    #[serde(default, skip_serializing_if = "is_default")]
    system_guid: Guid,
    #[serde(default, skip_serializing_if = "is_default")]
    vendor: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    device: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    lid: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    lmc: u8,
    #[serde(default, skip_serializing_if = "is_default")]
    enhanced: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkLine {
    ends: [Plug; 2],
    rate: Rate,
}

/// A switch or a node by its index, and the port.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plug {
    #[serde(default, skip_serializing_if = "is_default")]
    switch: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    node: Option<u32>,
    port: u8,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndpointLine {
    node: u32,
    port: u8,
    guid: Guid,
    #[serde(default, skip_serializing_if = "is_default")]
    lid: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    lmc: u8,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CoordinatesLine {
    shape: Vec<u32>,
    wraps: Vec<bool>,
    of_switch: Vec<Vec<u32>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelLine {
    name: String,
    groups: Vec<String>,
    of_switch: Vec<Option<u32>>,
    of_node: Vec<Option<u32>>,
}

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Host,
    Aggregation,
    Router,
}

/// `0x0002c903000e0b72`.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct Guid(u64);

impl From<Guid> for String {
    fn from(guid: Guid) -> String {
        format!("0x{:016x}", guid.0)
    }
}

impl TryFrom<String> for Guid {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
        let guid = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let error = || format!("`{text}` is no GUID; write 0x and 16 hexadecimal digits");
        guid.map(Guid).ok_or_else(error)
    }
}

/// `4xEDR`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct Rate(LinkRate);

impl From<Rate> for String {
    fn from(rate: Rate) -> String {
        rate.0.to_string()
    }
}

impl TryFrom<String> for Rate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Rate).map_err(|error: crate::units::RateError| error.to_string())
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What serde says, with the line taken out of its sentence.
fn syntax(label: &str, error: &serde_json::Error) -> FormatError {
    let text = error.to_string();
    let found = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text).to_owned();
    let (label, line) = (label.to_owned(), error.line());
    let advice = "write any machine as json to see one".to_owned();
    if error.is_eof() {
        return FormatError::CutOff { label, line, found, advice };
    }
    let allowed = format!("wanted is the JSON of a {FORMAT}, version {VERSION}");
    FormatError::Line { label, line, found, allowed, advice }
}

impl File {
    fn build(self, label: &str) -> Result<Machine, FormatError> {
        let wrong = |key: String, found: String, allowed: String| {
            Err(FormatError::Value { label: label.to_owned(), key, found, allowed })
        };
        let (switch_count, node_count) = (self.switches.len(), self.nodes.len());
        let mut builder = Builder::new(self.name, self.synthetic);
        for part in self.switches {
            builder.switch_part(part.info());
        }
        for part in self.nodes {
            builder.node_part(part.info());
        }
        let mut cabled = HashSet::new();
        for (index, link) in self.links.iter().enumerate() {
            let mut ends = [(Part::Switch(SwitchId(0)), 0); 2];
            for (end, plug) in link.ends.iter().enumerate() {
                ends[end] = match (plug.switch, plug.node) {
                    (Some(switch), None) if (switch as usize) < switch_count => {
                        (Part::Switch(SwitchId(switch)), plug.port)
                    }
                    (None, Some(node)) if (node as usize) < node_count => {
                        cabled.insert((node, plug.port));
                        (Part::Node(NodeId(node)), plug.port)
                    }
                    (switch, node) => {
                        return wrong(
                            format!("links[{index}].ends[{end}]"),
                            format!("has switch {} and node {}", or_none(switch), or_none(node)),
                            counts(switch_count, node_count),
                        );
                    }
                };
            }
            builder.cable_ports(ends[0], ends[1], link.rate.0);
        }
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            if !cabled.contains(&(endpoint.node, endpoint.port)) {
                return wrong(
                    format!("endpoints[{index}]"),
                    format!("is port {} of node {}", endpoint.port, endpoint.node),
                    "an endpoint is a node's port that has a cable".to_owned(),
                );
            }
            let info = EndpointInfo { guid: endpoint.guid.0, lid: endpoint.lid, lmc: endpoint.lmc };
            builder.endpoint_info(NodeId(endpoint.node), endpoint.port, info);
        }
        if let Some(coordinates) = self.coordinates {
            builder.coordinates(coordinates.read(label, switch_count)?);
        }
        let built = builder.build();
        let mut machine =
            built.map_err(|source| FormatError::Machine { label: label.to_owned(), source })?;
        for (index, level) in self.levels.into_iter().enumerate() {
            machine.levels.push(level.read(label, index, switch_count, node_count)?);
        }
        Ok(machine)
    }
}

fn counts(switches: usize, nodes: usize) -> String {
    format!("there are {switches} switches and {nodes} nodes, from 0")
}

fn or_none(index: Option<u32>) -> String {
    index.map_or("none".to_owned(), |index| index.to_string())
}

impl PartLine {
    fn info(self) -> PartInfo {
        PartInfo {
            name: self.name,
            guid: self.guid.0,
            system_guid: self.system_guid.0,
            vendor: self.vendor,
            device: self.device,
            lid: self.lid,
            lmc: self.lmc,
            enhanced: self.enhanced,
            radix: self.ports,
            kind: match self.kind {
                Kind::Host => NodeKind::Host,
                Kind::Aggregation => NodeKind::Aggregation,
                Kind::Router => NodeKind::Router,
            },
        }
    }

    fn new(info: &PartInfo) -> Self {
        PartLine {
            name: info.name.clone(),
            guid: Guid(info.guid),
            ports: info.radix,
            kind: match info.kind {
                NodeKind::Host => Kind::Host,
                NodeKind::Aggregation => Kind::Aggregation,
                NodeKind::Router => Kind::Router,
            },
            system_guid: Guid(info.system_guid),
            vendor: info.vendor,
            device: info.device,
            lid: info.lid,
            lmc: info.lmc,
            enhanced: info.enhanced,
        }
    }
}

impl CoordinatesLine {
    fn read(self, label: &str, switches: usize) -> Result<Coordinates, FormatError> {
        let wrong = |key: String, found: String, allowed: String| {
            Err(FormatError::Value { label: label.to_owned(), key, found, allowed })
        };
        let dimensions = self.shape.len();
        if self.wraps.len() != dimensions || dimensions == 0 {
            let found = format!("has {} entries", self.wraps.len());
            let allowed = format!("it has one for each of {dimensions} dimensions, at least one");
            return wrong("coordinates.wraps".to_owned(), found, allowed);
        }
        if self.of_switch.len() != switches {
            let found = format!("has {} entries", self.of_switch.len());
            let allowed = format!("it has one for each of the {switches} switches");
            return wrong("coordinates.of_switch".to_owned(), found, allowed);
        }
        for (index, position) in self.of_switch.iter().enumerate() {
            let inside = position.iter().zip(&self.shape).all(|(at, length)| at < length);
            if position.len() != dimensions || !inside {
                let found = format!("is {position:?}");
                let allowed = format!("positions are from 0 to below {:?}", self.shape);
                return wrong(format!("coordinates.of_switch[{index}]"), found, allowed);
            }
        }
        let of_switch = self.of_switch.into_iter().flatten().collect();
        Ok(Coordinates { shape: self.shape, wraps: self.wraps, of_switch })
    }
}

impl LevelLine {
    fn read(
        self,
        label: &str,
        index: usize,
        switches: usize,
        nodes: usize,
    ) -> Result<Level, FormatError> {
        let wrong = |key: &str, found: String, allowed: String| {
            let key = format!("levels[{index}].{key}");
            Err(FormatError::Value { label: label.to_owned(), key, found, allowed })
        };
        for (key, groups, count, parts) in [
            ("of_switch", &self.of_switch, switches, "switches"),
            ("of_node", &self.of_node, nodes, "nodes"),
        ] {
            if groups.len() != count {
                let found = format!("has {} entries", groups.len());
                return wrong(key, found, format!("it has one for each of the {count} {parts}"));
            }
            let beyond = |group: &&u32| **group as usize >= self.groups.len();
            if let Some(group) = groups.iter().flatten().find(beyond) {
                let allowed = format!("there are {} groups, from 0", self.groups.len());
                return wrong(key, format!("holds group {group}"), allowed);
            }
        }
        let all = self.of_switch.into_iter().chain(self.of_node);
        let of_vertex = all.map(|group| group.unwrap_or(Level::NONE)).collect();
        Ok(Level { name: self.name, groups: self.groups, of_vertex })
    }
}

/// One element a line; serde writes the elements, so that escaping is never ours.
fn write(machine: &Machine) -> String {
    let mut text = String::from("{\n");
    let _ = writeln!(text, "\"format\": \"{FORMAT}\", \"version\": {VERSION},");
    let _ = writeln!(text, "\"name\": {},", json(&machine.name()));
    let _ = writeln!(text, "\"synthetic\": {},", machine.synthetic());
    let parts = |vertices: std::ops::Range<usize>| {
        vertices.map(|vertex| json(&PartLine::new(machine.part(VertexId::from_index(vertex)))))
    };
    let switches = machine.switch_count();
    list(&mut text, "switches", parts(0..switches), ",");
    list(&mut text, "nodes", parts(switches..machine.vertex_count()), ",");
    let links = machine.links().map(|link| {
        let ends = machine.ends(link).map(|end| plug(machine, end));
        json(&LinkLine { ends, rate: Rate(machine.rate(link)) })
    });
    list(&mut text, "links", links, ",");
    let endpoints = machine.endpoints().map(|endpoint| {
        let info = machine.endpoint_info(endpoint);
        json(&EndpointLine {
            node: machine.endpoint_node(endpoint).0,
            port: machine.endpoint(endpoint).port,
            guid: Guid(info.guid),
            lid: info.lid,
            lmc: info.lmc,
        })
    });
    list(&mut text, "endpoints", endpoints, ",");
    let coordinates = machine.coordinates().map(|coordinates| CoordinatesLine {
        shape: coordinates.shape.clone(),
        wraps: coordinates.wraps.clone(),
        of_switch: coordinates
            .of_switch
            .chunks(coordinates.shape.len().max(1))
            .map(<[u32]>::to_vec)
            .collect(),
    });
    let _ = writeln!(text, "\"coordinates\": {},", json(&coordinates));
    let levels = machine.levels().iter().map(|level| {
        let group = |&group: &u32| (group != Level::NONE).then_some(group);
        json(&LevelLine {
            name: level.name.clone(),
            groups: level.groups.clone(),
            of_switch: level.of_vertex[..switches].iter().map(group).collect(),
            of_node: level.of_vertex[switches..].iter().map(group).collect(),
        })
    });
    list(&mut text, "levels", levels, "");
    text.push_str("}\n");
    text
}

fn plug(machine: &Machine, end: PortRef) -> Plug {
    Plug {
        switch: machine.as_switch(end.vertex).map(|switch| switch.0),
        node: machine.as_node(end.vertex).map(|node| node.0),
        port: end.port,
    }
}

fn list(text: &mut String, key: &str, items: impl Iterator<Item = String>, end: &str) {
    let items: Vec<String> = items.collect();
    let open = if items.is_empty() { "" } else { "\n" };
    let _ = writeln!(text, "\"{key}\": [{open}{}{open}]{end}", items.join(",\n"));
}

fn json(value: &impl Serialize) -> String {
    // INVARIANT: the types above hold no map with keys that are no strings and no writer that fails.
    #[allow(clippy::expect_used)]
    serde_json::to_string(value).expect("plain data is JSON")
}

#[cfg(test)]
mod tests;
