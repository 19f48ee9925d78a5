//! What parts and cables are called on screen, and finding them again by what a user types.
//!
//! A part is called by its name if that is unique and could not be mistaken for a GUID, else `name (guid 0x...)`, else
//! `0x...`; a cable is `A[3] <-> B[7]`. [`Names::find_part`] and its siblings read all of these back, and raw names,
//! GUIDs in any usual form, port GUIDs, and a host's name where the host is one node.

use std::collections::HashMap;

mod lids;
mod words;

pub use words::{host_name, read_guid, system_name};

use super::graph::{Machine, PortRef};
use crate::ids::{ChannelId, LinkId, NodeId, SwitchId, VertexId};
use words::distance;

/// Names of the parts of one machine.
pub struct Names<'a> {
    machine: &'a Machine,
    by_name: HashMap<&'a str, Found>,
    by_host: HashMap<&'a str, Found>,
    by_guid: HashMap<u64, VertexId>,
    by_port_guid: HashMap<u64, Found>,
}

/// Why a text names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No part is called that.
    #[error("there is no {wanted} `{given}`; {hint}")]
    NoSuchPart {
        /// `part`, `switch` or `node`.
        wanted: &'static str,
        /// The text given.
        given: String,
        /// What comes near.
        hint: String,
    },
    /// Several parts are called that.
    #[error("`{given}` is the name of {count} parts ({some}); give the GUID")]
    Ambiguous {
        /// The text given.
        given: String,
        /// How many.
        count: usize,
        /// Some of them.
        some: String,
    },
    /// The part is of the other sort.
    #[error("`{given}` is a {found}; a {wanted} is wanted here")]
    OtherSort {
        /// The text given.
        given: String,
        /// What it is.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// The text has not the form of a cable.
    #[error("`{given}` is no cable; write one plug, `switch[3]`, or both, `switch[3] <-> node[1]`")]
    NoCable {
        /// The text given.
        given: String,
    },
    /// Nothing is plugged in there.
    #[error("port {port} of `{part}` has no cable; its cabled ports are {cabled}")]
    Unplugged {
        /// The part.
        part: String,
        /// The port.
        port: u32,
        /// Its ports with cables.
        cabled: String,
    },
    /// The two plugs are not on one cable.
    #[error("`{given}` is not one cable; `{plug}` is cabled to `{far}`")]
    NotJoined {
        /// The text given.
        given: String,
        /// Its first plug.
        plug: String,
        /// What that plug is cabled to.
        far: String,
    },
    /// Several cables, or none, join the two parts.
    #[error("{count} cables join `{a}` and `{b}`; give a port, `{a}[3]`")]
    CableCount {
        /// How many.
        count: usize,
        /// One part.
        a: String,
        /// The other.
        b: String,
    },
}

/// One part, or how many.
#[derive(Clone, Copy)]
enum Found {
    One(VertexId),
    Several,
}

impl<'a> Names<'a> {
    /// Prepares the names of `machine`.
    ///
    /// # Complexity
    /// Linear in parts.
    #[must_use]
    pub fn new(machine: &'a Machine) -> Self {
        let mut names = Names {
            machine,
            by_name: HashMap::with_capacity(machine.vertex_count()),
            by_host: HashMap::new(),
            by_guid: HashMap::with_capacity(machine.vertex_count()),
            by_port_guid: HashMap::new(),
        };
        for vertex in (0..machine.vertex_count()).map(VertexId::from_index) {
            let info = machine.part(vertex);
            add(&mut names.by_name, info.name.as_str(), vertex);
            names.by_guid.insert(info.guid, vertex);
            if machine.as_node(vertex).is_some()
                && let Some(host) = host_name(&info.name)
            {
                add(&mut names.by_host, host, vertex);
            }
        }
        for endpoint in machine.endpoints() {
            let guid = machine.endpoint_info(endpoint).guid;
            add(&mut names.by_port_guid, guid, machine.endpoint(endpoint).vertex);
        }
        names
    }

    /// What a part is called.
    #[must_use]
    pub fn part(&self, vertex: VertexId) -> String {
        let info = self.machine.part(vertex);
        let unique = matches!(self.by_name.get(info.name.as_str()), Some(Found::One(_)));
        match info.name.trim() {
            "" => format!("0x{:016x}", info.guid),
            _ if unique && !looks_made_up(&info.name) => info.name.clone(),
            _ => format!("{}{GUID_BEGINS}{:016x})", info.name, info.guid),
        }
    }

    /// What a switch is called.
    #[must_use]
    pub fn switch(&self, switch: SwitchId) -> String {
        self.part(self.machine.switch_vertex(switch))
    }

    /// What a node is called.
    #[must_use]
    pub fn node(&self, node: NodeId) -> String {
        self.part(self.machine.node_vertex(node))
    }

    /// A plug, as `A[3]`.
    #[must_use]
    pub fn plug(&self, plug: PortRef) -> String {
        format!("{}[{}]", self.part(plug.vertex), plug.port)
    }

    /// A cable, as `A[3] <-> B[7]`.
    #[must_use]
    pub fn link(&self, link: LinkId) -> String {
        let [a, b] = self.machine.ends(link);
        format!("{}{JOINS}{}", self.plug(a), self.plug(b))
    }

    /// The part that `text` names.
    ///
    /// # Errors
    /// If none does, with what comes near, or several do.
    pub fn find_part(&self, text: &str) -> Result<VertexId, NameError> {
        self.find(text, "part")
    }

    /// The switch that `text` names.
    ///
    /// # Errors
    /// As [`Names::find_part`], or if it is a node.
    pub fn find_switch(&self, text: &str) -> Result<SwitchId, NameError> {
        let vertex = self.find(text, "switch")?;
        self.machine.as_switch(vertex).ok_or_else(|| NameError::OtherSort {
            given: text.to_owned(),
            found: "node",
            wanted: "switch",
        })
    }

    /// The node that `text` names.
    ///
    /// # Errors
    /// As [`Names::find_part`], or if it is a switch.
    pub fn find_node(&self, text: &str) -> Result<NodeId, NameError> {
        let vertex = self.find(text, "node")?;
        self.machine.as_node(vertex).ok_or_else(|| NameError::OtherSort {
            given: text.to_owned(),
            found: "switch",
            wanted: "node",
        })
    }

    /// The cable that `text` names: one plug `A[3]`, both `A[3] <-> B[7]`, or `A <-> B` where one cable joins the two.
    ///
    /// # Errors
    /// If a part is not found, a port has no cable, or the plugs are not on one cable.
    pub fn find_link(&self, text: &str) -> Result<LinkId, NameError> {
        // A name may hold the arrow itself, so every place is tried; without any, the first failure is told.
        let mut failure = None;
        for (at, _) in text.match_indices(JOINS.trim()) {
            let (a, b) = (text[..at].trim(), text[at + JOINS.trim().len()..].trim());
            match self.join(text, a, b) {
                Ok(link) => return Ok(link),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match (self.find_plug(text), failure) {
            (Ok(Some(plug)), _) => Ok(plug.link()),
            (_, Some(failure)) | (Err(failure), None) => Err(failure),
            (Ok(None), None) => Err(NameError::NoCable { given: text.to_owned() }),
        }
    }

    fn join(&self, text: &str, a: &str, b: &str) -> Result<LinkId, NameError> {
        match (self.find_plug(a)?, self.find_plug(b)?) {
            (Some(one), Some(other)) if one.link() == other.link() => Ok(one.link()),
            (Some(one), Some(_)) => Err(self.not_joined(text, one)),
            (Some(plug), None) => self.joins(text, plug, b),
            (None, Some(plug)) => self.joins(text, plug, a),
            (None, None) => {
                let (a, b) = (self.find_part(a)?, self.find_part(b)?);
                let channels = self.machine.channels_from(a);
                let mut links = channels.filter(|&channel| self.machine.head(channel).vertex == b);
                match (links.next(), links.count()) {
                    (Some(link), 0) => Ok(link.link()),
                    (first, more) => Err(NameError::CableCount {
                        count: usize::from(first.is_some()) + more,
                        a: self.part(a),
                        b: self.part(b),
                    }),
                }
            }
        }
    }

    /// The cable of a plug, if it goes to the part called `far`.
    fn joins(&self, text: &str, plug: ChannelId, far: &str) -> Result<LinkId, NameError> {
        if self.machine.head(plug).vertex == self.find_part(far)? {
            Ok(plug.link())
        } else {
            Err(self.not_joined(text, plug))
        }
    }

    fn not_joined(&self, text: &str, plug: ChannelId) -> NameError {
        let (own, far) = (self.machine.tail(plug), self.machine.head(plug));
        NameError::NotJoined { given: text.to_owned(), plug: self.plug(own), far: self.plug(far) }
    }

    /// The channel that leaves by plug `A[3]`; `None` if the text has not that form.
    fn find_plug(&self, text: &str) -> Result<Option<ChannelId>, NameError> {
        let Some((part, port)) = split_plug(text) else { return Ok(None) };
        let vertex = self.find_part(part)?;
        let channel =
            u8::try_from(port).ok().and_then(|port| self.machine.channel_at(vertex, port));
        channel.map(Some).ok_or_else(|| NameError::Unplugged {
            part: self.part(vertex),
            port,
            cabled: self.cabled_ports(vertex),
        })
    }

    /// `1-20, 22`.
    fn cabled_ports(&self, vertex: VertexId) -> String {
        let mut runs: Vec<[u8; 2]> = Vec::new();
        for channel in self.machine.channels_from(vertex) {
            let port = self.machine.tail(channel).port;
            match runs.last_mut() {
                Some([_, end]) if *end + 1 == port => *end = port,
                _ => runs.push([port, port]),
            }
        }
        let run = |[first, last]: &[u8; 2]| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        let runs: Vec<String> = runs.iter().map(run).collect();
        if runs.is_empty() { "none".to_owned() } else { runs.join(", ") }
    }

    fn find(&self, text: &str, wanted: &'static str) -> Result<VertexId, NameError> {
        let trimmed = text.trim();
        // GUIDs come first: no name is shown that could be one.
        let guid = match trimmed.strip_suffix(')').and_then(|text| text.rsplit_once(GUID_BEGINS)) {
            Some((_, digits)) => u64::from_str_radix(digits, 16).ok(),
            None => read_guid(trimmed),
        };
        if let Some(&vertex) = guid.and_then(|guid| self.by_guid.get(&guid)) {
            return Ok(vertex);
        }
        let named = [text, trimmed].into_iter().find_map(|text| self.by_name.get(text));
        let named = named.filter(|_| !trimmed.is_empty());
        let port = guid.and_then(|guid| self.by_port_guid.get(&guid));
        if let Some(&Found::One(vertex)) = named.or(port) {
            return Ok(vertex);
        }
        let of_host = self.by_host.get(trimmed);
        match (named, of_host) {
            (None, Some(&Found::One(vertex))) => Ok(vertex),
            (None, None) => Err(NameError::NoSuchPart {
                wanted,
                given: text.to_owned(),
                hint: self.near_misses(trimmed, wanted),
            }),
            _ => Err(self.ambiguous(text, trimmed)),
        }
    }

    fn ambiguous(&self, given: &str, trimmed: &str) -> NameError {
        let machine = self.machine;
        let meant = |vertex: &VertexId| {
            let name = &machine.part(*vertex).name;
            name == given || name == trimmed || host_name(name) == Some(trimmed)
        };
        let all: Vec<VertexId> =
            (0..machine.vertex_count()).map(VertexId::from_index).filter(meant).collect();
        let mut some: Vec<String> =
            all.iter().take(SHOWN).map(|&vertex| self.part(vertex)).collect();
        if all.len() > SHOWN {
            some.push("...".to_owned());
        }
        NameError::Ambiguous { given: given.to_owned(), count: all.len(), some: some.join(", ") }
    }

    /// The names closest to `text`, or where to look.
    fn near_misses(&self, text: &str, wanted: &'static str) -> String {
        let lower = text.to_lowercase();
        let wrong_sort = |vertex: VertexId| {
            let switch = self.machine.as_switch(vertex).is_some();
            (wanted == "switch" && !switch) || (wanted == "node" && switch)
        };
        let allowed = (lower.chars().count() / 4).max(2);
        let mut near: Vec<(usize, VertexId)> = Vec::new();
        for vertex in (0..self.machine.vertex_count()).map(VertexId::from_index) {
            let name = self.machine.part(vertex).name.to_lowercase();
            if name.is_empty() || wrong_sort(vertex) {
                continue;
            }
            let host = host_name(&name).unwrap_or(&name);
            let inside = lower.len() > 2 && name.contains(&lower);
            let distance =
                if inside { 1 } else { distance(&lower, host).min(distance(&lower, &name)) };
            if distance <= allowed {
                near.push((distance, vertex));
            }
        }
        near.sort_unstable();
        near.truncate(SHOWN);
        if near.is_empty() {
            return "give the name as the fabric file has it, or a GUID as 0x...".to_owned();
        }
        let near = near.iter().map(|&(_, vertex)| format!("`{}`", self.part(vertex)));
        format!("did you mean {}", near.collect::<Vec<_>>().join(", "))
    }
}

const JOINS: &str = " <-> ";
const GUID_BEGINS: &str = " (guid 0x";
/// Candidates that a message lists.
const SHOWN: usize = 3;

fn add<K: std::hash::Hash + Eq>(map: &mut HashMap<K, Found>, key: K, vertex: VertexId) {
    map.entry(key).and_modify(|found| *found = Found::Several).or_insert(Found::One(vertex));
}

/// Whether a raw name could be mistaken for a name that is made up here from a GUID, or loses its ends when trimmed.
fn looks_made_up(name: &str) -> bool {
    name.trim() != name || read_guid(name).is_some() || name.contains(GUID_BEGINS)
}

/// `A[3]` as `A` and 3.
fn split_plug(text: &str) -> Option<(&str, u32)> {
    let (part, port) = text.trim().strip_suffix(']')?.rsplit_once('[')?;
    Some((part.trim(), port.trim().parse().ok()?))
}

#[cfg(test)]
mod tests;
