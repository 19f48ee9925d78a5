//! Puts a machine together part by part; the only place that checks one.

use std::collections::BTreeMap;

use super::graph::{EndpointInfo, Machine, NO_CHANNEL, PartInfo, PortRef};
use super::hierarchy::{Coordinates, Level};
use crate::ids::{NodeId, SwitchId, VertexId};
use crate::units::LinkRate;

/// A switch or a node while the machine is still growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A switch.
    Switch(SwitchId),
    /// A node.
    Node(NodeId),
}

/// Why parts do not make a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// Two parts have one GUID.
    #[error(
        "GUID 0x{guid:016x} belongs to both `{first}` and `{second}`; every switch and node needs its own"
    )]
    SameGuid {
        /// The GUID.
        guid: u64,
        /// Name of one part.
        first: String,
        /// Name of the other.
        second: String,
    },
    /// Two parts have one name where parts go by name.
    #[error("two parts are called `{name}`; give each its own name")]
    SameName {
        /// The name.
        name: String,
    },
    /// A cable to a part that is not there.
    #[error("a cable ends at `{name}`, which is no switch and no node")]
    NoSuchPart {
        /// The name.
        name: String,
    },
    /// A port number beyond the part's ports.
    #[error("`{part}` has ports 1 to {radix}, got port {port}")]
    NoSuchPort {
        /// The part's name.
        part: String,
        /// Its number of ports.
        radix: u8,
        /// The port asked for.
        port: u32,
    },
    /// Two cables in one port.
    #[error("port {port} of `{part}` has two cables")]
    PortTaken {
        /// The part's name.
        part: String,
        /// The port.
        port: u8,
    },
    /// A cable from a part to itself.
    #[error("`{part}` is cabled to itself; a cable joins two parts")]
    SelfLink {
        /// The part's name.
        part: String,
    },
    /// More ports than an InfiniBand switch can number.
    #[error(
        "a switch has 1 to 254 ports, this one would need {radix}; use fewer nodes or cables a switch"
    )]
    Radix {
        /// Ports asked for.
        radix: u64,
    },
    /// Nothing in it.
    #[error("a machine needs at least one switch or node")]
    Empty,
    /// Ids are 32-bit.
    #[error("{count} parts or ports are more than 32-bit ids can number; make the machine smaller")]
    TooLarge {
        /// Parts, ports or channels asked for.
        count: u64,
    },
}

/// A machine under construction.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    synthetic: bool,
    switches: Vec<PartInfo>,
    nodes: Vec<PartInfo>,
    free_port: [Vec<u8>; 2],
    links: Vec<([(Part, u8); 2], LinkRate)>,
    endpoint_infos: BTreeMap<(NodeId, u8), EndpointInfo>,
    coordinates: Option<Coordinates>,
    levels: Vec<GrowingLevel>,
}

/// A level while parts are still put into its groups.
#[derive(Clone, Debug, Default)]
struct GrowingLevel {
    name: String,
    groups: Vec<String>,
    /// Place of each group by name.
    index: BTreeMap<String, u32>,
    members: Vec<(Part, u32)>,
}

/// First of the GUIDs that generated switches get; nodes follow at [`NODE_GUIDS`].
const SWITCH_GUIDS: u64 = 0x0053_0000_0000_0000;
const NODE_GUIDS: u64 = 0x0048_0000_0000_0000;

impl Builder {
    /// An empty machine called `name`, generated (`synthetic`) or read from a real fabric.
    #[must_use]
    pub fn new(name: impl Into<String>, synthetic: bool) -> Self {
        Builder { name: name.into(), synthetic, ..Builder::default() }
    }

    /// A machine of named switches and one-port-a-cable nodes; ports are numbered in the order of the cables.
    ///
    /// # Errors
    /// If a cable names no part, two parts have one name, or a switch would need too many ports.
    pub fn from_names(
        name: &str,
        switches: &[String],
        nodes: &[String],
        cables: &[(String, String)],
        rate: LinkRate,
    ) -> Result<Machine, MachineError> {
        let mut cable_count: BTreeMap<&str, u64> = BTreeMap::new();
        for end in cables.iter().flat_map(|(a, b)| [a, b]) {
            *cable_count.entry(end).or_default() += 1;
        }
        let count = |name: &String| cable_count.get(name.as_str()).copied().unwrap_or(0);
        let mut builder = Builder::new(name, true);
        let mut parts: BTreeMap<&str, Part> = BTreeMap::new();
        for (names, is_switch) in [(switches, true), (nodes, false)] {
            for name in names {
                let part = if is_switch {
                    builder.switch(name, count(name).max(1))?
                } else {
                    builder.node(name, check_radix(count(name).max(1))?)
                };
                if parts.insert(name, part).is_some() {
                    return Err(MachineError::SameName { name: name.clone() });
                }
            }
        }
        for (a, b) in cables {
            let part = |name: &String| {
                let found = parts.get(name.as_str()).copied();
                found.ok_or_else(|| MachineError::NoSuchPart { name: name.clone() })
            };
            let ends = (part(a)?, part(b)?);
            builder.cable(ends.0, ends.1, rate);
        }
        builder.build()
    }

    /// Adds a generated switch with `radix` ports.
    ///
    /// # Errors
    /// If InfiniBand cannot number that many ports.
    pub fn switch(&mut self, name: impl Into<String>, radix: u64) -> Result<Part, MachineError> {
        let radix = check_radix(radix)?;
        let guid = SWITCH_GUIDS + self.switches.len() as u64 + 1;
        Ok(self.switch_part(PartInfo { name: name.into(), guid, radix, ..PartInfo::default() }))
    }

    /// Adds a generated node with `ports` ports.
    pub fn node(&mut self, name: impl Into<String>, ports: u8) -> Part {
        // Port GUIDs follow the node's GUID, so nodes stand 16 apart as real adapters do.
        let guid = NODE_GUIDS + (self.nodes.len() as u64 + 1) * 16;
        self.node_part(PartInfo { name: name.into(), guid, radix: ports, ..PartInfo::default() })
    }

    /// Adds a switch of which more is known.
    pub fn switch_part(&mut self, info: PartInfo) -> Part {
        self.switches.push(info);
        self.free_port[0].push(1);
        Part::Switch(SwitchId::from_index(self.switches.len() - 1))
    }

    /// Adds a node of which more is known.
    pub fn node_part(&mut self, info: PartInfo) -> Part {
        self.nodes.push(info);
        self.free_port[1].push(1);
        Part::Node(NodeId::from_index(self.nodes.len() - 1))
    }

    /// What is known of a part added before.
    #[must_use]
    pub fn info(&self, part: Part) -> &PartInfo {
        match part {
            Part::Switch(switch) => &self.switches[switch.index()],
            Part::Node(node) => &self.nodes[node.index()],
        }
    }

    /// Changes what is known of a part added before (its radix too, as long as its cables fit).
    pub fn info_mut(&mut self, part: Part) -> &mut PartInfo {
        match part {
            Part::Switch(switch) => &mut self.switches[switch.index()],
            Part::Node(node) => &mut self.nodes[node.index()],
        }
    }

    /// Cables `a` to `b`, each at its lowest port that no cable was given by this function yet.
    pub fn cable(&mut self, a: Part, b: Part, rate: LinkRate) {
        let port_a = self.next_port(a);
        let port_b = self.next_port(b);
        self.cable_ports((a, port_a), (b, port_b), rate);
    }

    /// Cables two given ports.
    pub fn cable_ports(&mut self, a: (Part, u8), b: (Part, u8), rate: LinkRate) {
        self.links.push(([a, b], rate));
    }

    /// Says what a fabric file knows of a node's port. Kept only if the port is cabled in the end.
    pub fn endpoint_info(&mut self, node: NodeId, port: u8, info: EndpointInfo) {
        self.endpoint_infos.insert((node, port), info);
    }

    /// Gives the switches coordinates.
    pub fn coordinates(&mut self, coordinates: Coordinates) {
        self.coordinates = Some(coordinates);
    }

    /// Puts `part` into `group` of `level`. Levels come out in order of first use: use the innermost first.
    pub fn group(&mut self, level: &str, group: &str, part: Part) {
        let at = match self.levels.iter().position(|growing| growing.name == level) {
            Some(at) => at,
            None => {
                self.levels.push(GrowingLevel { name: level.to_owned(), ..Default::default() });
                self.levels.len() - 1
            }
        };
        let GrowingLevel { groups, index, members, .. } = &mut self.levels[at];
        // Generators add group after group, so the wanted one is nearly always the last.
        let place = if groups.last().is_some_and(|last| last == group) {
            groups.len() as u32 - 1
        } else {
            *index.entry(group.to_owned()).or_insert_with(|| {
                groups.push(group.to_owned());
                groups.len() as u32 - 1
            })
        };
        members.push((part, place));
    }

    fn next_port(&mut self, part: Part) -> u8 {
        let free = match part {
            Part::Switch(switch) => &mut self.free_port[0][switch.index()],
            Part::Node(node) => &mut self.free_port[1][node.index()],
        };
        let port = *free;
        *free = free.saturating_add(1);
        port
    }

    fn vertex(&self, part: Part) -> VertexId {
        match part {
            Part::Switch(switch) => VertexId(switch.0),
            Part::Node(node) => VertexId::from_index(self.switches.len() + node.index()),
        }
    }

    /// Checks everything and freezes the machine.
    ///
    /// # Errors
    /// Ports out of range or taken twice, GUIDs used twice, an empty or oversized machine.
    pub fn build(self) -> Result<Machine, MachineError> {
        let part_count = self.switches.len() + self.nodes.len();
        if part_count == 0 {
            return Err(MachineError::Empty);
        }
        let mut port_base = vec![0u32];
        let mut ports = 0u64;
        for part in self.switches.iter().chain(&self.nodes) {
            ports += u64::from(part.radix);
            port_base.push(ports as u32);
        }
        let largest = ports.max(part_count as u64).max(self.links.len() as u64 * 2);
        if largest >= u64::from(u32::MAX) {
            return Err(MachineError::TooLarge { count: largest });
        }
        let mut port_channel = vec![NO_CHANNEL; ports as usize];
        let mut channel_tail = Vec::with_capacity(self.links.len() * 2);
        let mut link_rate = Vec::with_capacity(self.links.len());
        for &(ends, rate) in &self.links {
            if ends[0].0 == ends[1].0 {
                return Err(MachineError::SelfLink { part: self.info(ends[0].0).name.clone() });
            }
            link_rate.push(rate);
            for (part, port) in ends {
                let info = self.info(part);
                if port == 0 || port > info.radix {
                    let part = info.name.clone();
                    return Err(MachineError::NoSuchPort {
                        part,
                        radix: info.radix,
                        port: port.into(),
                    });
                }
                let vertex = self.vertex(part);
                let slot =
                    &mut port_channel[port_base[vertex.index()] as usize + usize::from(port) - 1];
                if *slot != NO_CHANNEL {
                    return Err(MachineError::PortTaken { part: info.name.clone(), port });
                }
                *slot = channel_tail.len() as u32;
                channel_tail.push(PortRef { vertex, port });
            }
        }
        self.check_guids()?;
        let levels = self.levels_by_vertex(part_count);
        let switch_count = self.switches.len() as u32;
        let mut machine = Machine {
            name: self.name,
            synthetic: self.synthetic,
            switch_count,
            parts: self.switches.into_iter().chain(self.nodes).collect(),
            port_base,
            port_channel,
            channel_tail,
            link_rate,
            endpoint_port: Vec::new(),
            endpoint_info: Vec::new(),
            endpoint_base: vec![0],
            coordinates: self.coordinates,
            levels,
            switch_plane: Vec::new(),
            endpoint_plane: Vec::new(),
            plane_count: 0,
        };
        add_endpoints(&mut machine, &self.endpoint_infos);
        add_planes(&mut machine);
        Ok(machine)
    }

    fn check_guids(&self) -> Result<(), MachineError> {
        let mut order: Vec<&PartInfo> = self.switches.iter().chain(&self.nodes).collect();
        order.sort_by_key(|part| part.guid);
        match order.windows(2).find(|pair| pair[0].guid == pair[1].guid) {
            Some(pair) => Err(MachineError::SameGuid {
                guid: pair[0].guid,
                first: pair[0].name.clone(),
                second: pair[1].name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn levels_by_vertex(&self, part_count: usize) -> Vec<Level> {
        let level = |growing: &GrowingLevel| {
            let mut of_vertex = vec![Level::NONE; part_count];
            for &(part, group) in &growing.members {
                of_vertex[self.vertex(part).index()] = group;
            }
            Level { name: growing.name.clone(), groups: growing.groups.clone(), of_vertex }
        };
        self.levels.iter().map(level).collect()
    }
}

/// Checks a number of ports that a generator worked out.
fn check_radix(radix: u64) -> Result<u8, MachineError> {
    match u8::try_from(radix) {
        Ok(radix @ 1..=254) => Ok(radix),
        _ => Err(MachineError::Radix { radix }),
    }
}

fn add_endpoints(machine: &mut Machine, infos: &BTreeMap<(NodeId, u8), EndpointInfo>) {
    for node in machine.nodes() {
        let vertex = machine.node_vertex(node);
        let cabled: Vec<PortRef> =
            machine.channels_from(vertex).map(|channel| machine.tail(channel)).collect();
        for plug in cabled {
            let default = EndpointInfo {
                guid: machine.part(vertex).guid.wrapping_add(plug.port.into()),
                ..EndpointInfo::default()
            };
            machine.endpoint_info.push(infos.get(&(node, plug.port)).copied().unwrap_or(default));
            machine.endpoint_port.push(plug);
        }
        machine.endpoint_base.push(machine.endpoint_port.len() as u32);
    }
}

/// Numbers the planes: connected sets of switches in order of their lowest switch, then back-to-back node pairs.
fn add_planes(machine: &mut Machine) {
    const UNSEEN: u32 = u32::MAX;
    let mut switch_plane = vec![UNSEEN; machine.switch_count()];
    let mut planes = 0;
    let mut stack = Vec::new();
    for start in machine.switches() {
        if switch_plane[start.index()] != UNSEEN {
            continue;
        }
        switch_plane[start.index()] = planes;
        stack.push(start);
        while let Some(switch) = stack.pop() {
            for channel in machine.channels_from(machine.switch_vertex(switch)) {
                if let Some(next) = machine.as_switch(machine.head(channel).vertex)
                    && switch_plane[next.index()] == UNSEEN
                {
                    switch_plane[next.index()] = planes;
                    stack.push(next);
                }
            }
        }
        planes += 1;
    }
    let mut link_plane = BTreeMap::new();
    let mut endpoint_plane = Vec::with_capacity(machine.endpoint_count());
    for endpoint in machine.endpoints() {
        let channel = machine.injection(endpoint);
        endpoint_plane.push(match machine.as_switch(machine.head(channel).vertex) {
            Some(switch) => switch_plane[switch.index()],
            None => *link_plane.entry(channel.link()).or_insert_with(|| {
                planes += 1;
                planes - 1
            }),
        });
    }
    machine.switch_plane = switch_plane;
    machine.endpoint_plane = endpoint_plane;
    machine.plane_count = planes;
}
