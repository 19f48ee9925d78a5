//! From a machine to the text that ibsim loads and ibnetdiscover prints.

use std::fmt::Write;

use super::super::FormatError;
use super::blocks::{clean, reads_as_aggregation};
use super::line::{KIND, KINDS, SUMMARY};
use crate::ids::{EndpointId, VertexId};
use crate::machine::{
    LidOwner, Machine, NodeKind, PartInfo, PortRef, UNICAST_LIDS, WireLidError, WireLids,
};

/// Writes all switches, then all nodes, each with its cabled ports in order.
pub(super) fn write(machine: &Machine) -> Result<String, FormatError> {
    let lids = WireLids::of_machine(machine).map_err(|error| FormatError::Unwritable {
        format: "ibnetdiscover",
        reason: match error {
            WireLidError::TooMany { plane, owners } => format!(
                "{owners} ports and switches of plane {plane} need LIDs, a subnet has \
                 {UNICAST_LIDS}"
            ),
            other => other.to_string(),
        },
        advice: "write it as json, which keeps everything; planning has no such limit".to_owned(),
    })?;
    let mut writer = Writer { machine, lids, text: String::new() };
    writer.head();
    for vertex in 0..machine.vertex_count() {
        writer.block(VertexId::from_index(vertex));
    }
    Ok(writer.text)
}

struct Writer<'a> {
    machine: &'a Machine,
    lids: WireLids,
    text: String,
}

/// `write!` to a `String` cannot fail.
macro_rules! put {
    ($writer:expr, $($argument:tt)*) => {
        let _ = writeln!($writer.text, $($argument)*);
    };
}

impl Writer<'_> {
    fn head(&mut self) {
        let machine = self.machine;
        put!(self, "#\n# Topology file: written by runflat\n#");
        put!(
            self,
            "{SUMMARY} switches={} nodes={} links={} synthetic={} name={}",
            machine.switch_count(),
            machine.node_count(),
            machine.link_count(),
            machine.synthetic(),
            clean(machine.name())
        );
    }

    fn block(&mut self, vertex: VertexId) {
        let machine = self.machine;
        let info = machine.part(vertex);
        put!(self, "\nvendid=0x{:x}\ndevid=0x{:x}", info.vendor, info.device);
        // ibsim gives a part without this line its own GUID as the system's.
        if info.system_guid != 0 {
            put!(self, "sysimgguid=0x{:x}", info.system_guid);
        }
        let (id, name) = (id(machine, vertex), clean(&info.name));
        match machine.as_switch(vertex) {
            Some(switch) => {
                put!(self, "switchguid=0x{:x}({:x})", info.guid, info.guid);
                let base = if info.enhanced { "enhanced" } else { "base" };
                let lid = self.lids.first(LidOwner::Switch(switch));
                put!(
                    self,
                    "Switch\t{} \"{id}\"\t\t# \"{name}\" {base} port 0 lid {lid} lmc {}",
                    info.radix,
                    info.lmc
                );
            }
            None => {
                let unsaid = unsaid(info);
                if let Some((_, word)) = KINDS.iter().find(|(kind, _)| Some(*kind) == unsaid) {
                    put!(self, "{KIND} {word}");
                }
                let router = info.kind == NodeKind::Router;
                let (attribute, block) = if router { ("rtguid", "Rt") } else { ("caguid", "Ca") };
                put!(self, "{attribute}=0x{:x}", info.guid);
                put!(self, "{block}\t{} \"{id}\"\t\t# \"{name}\"", info.radix);
            }
        }
        for channel in machine.channels_from(vertex) {
            self.port(machine.tail(channel), machine.head(channel), machine.rate(channel.link()));
        }
    }

    fn port(&mut self, own: PortRef, far: PortRef, rate: crate::units::LinkRate) {
        let machine = self.machine;
        let (id, name) = (id(machine, far.vertex), clean(&machine.part(far.vertex).name));
        // ibsim reads `word=` here as an option of the port, and the name is on its own block's line anyway.
        let name = name.replace('=', "-");
        let _ = match self.endpoint(own) {
            Some(end) => write!(
                self.text,
                "[{}]({:x}) \t\"{id}\"[{}]",
                own.port,
                machine.endpoint_info(end).guid,
                far.port
            ),
            None => write!(self.text, "[{}]\t\"{id}\"[{}]", own.port, far.port),
        };
        if let Some(end) = self.endpoint(far) {
            let _ = write!(self.text, "({:x}) ", machine.endpoint_info(end).guid);
        }
        let _ = write!(self.text, "\t\t# ");
        if let Some(end) = self.endpoint(own) {
            let lid = self.lids.first(LidOwner::Endpoint(end));
            let _ = write!(self.text, "lid {lid} lmc {} ", machine.endpoint_info(end).lmc);
        }
        let far_lid = match (machine.as_switch(far.vertex), self.endpoint(far)) {
            (Some(switch), _) => self.lids.first(LidOwner::Switch(switch)),
            (None, Some(end)) => self.lids.first(LidOwner::Endpoint(end)),
            (None, None) => 0,
        };
        put!(self, "\"{name}\" lid {far_lid} {rate}");
    }

    /// The endpoint at a plug, if it is a node's.
    fn endpoint(&self, plug: PortRef) -> Option<EndpointId> {
        let mut ends = self.machine.endpoints_of(self.machine.as_node(plug.vertex)?);
        ends.find(|&end| self.machine.endpoint(end) == plug)
    }
}

/// The kind of a node, if its block's own words would not give it back.
fn unsaid(info: &PartInfo) -> Option<NodeKind> {
    let read_as_aggregation = reads_as_aggregation(&info.name);
    match info.kind {
        NodeKind::Host if read_as_aggregation => Some(NodeKind::Host),
        NodeKind::Aggregation if !read_as_aggregation => Some(NodeKind::Aggregation),
        _ => None,
    }
}

fn id(machine: &Machine, vertex: VertexId) -> String {
    let info = machine.part(vertex);
    let letter = match (machine.as_switch(vertex), info.kind) {
        (Some(_), _) => 'S',
        (None, NodeKind::Router) => 'R',
        (None, _) => 'H',
    };
    format!("{letter}-{:016x}", info.guid)
}
