//! What Slurm calls the parts of a fabric, and the one leaf switch it puts each host under.
//!
//! Slurm schedules hosts, not adapters, and wants each below one switch. Which adapters are one host is told by the
//! level `host`, else by names. A host with ports in several planes is put into the plane that serves the most hosts,
//! the others do not appear; within a plane its first cabled port decides. So the rails of a machine give one tree, and
//! separate fabrics give separate roots.

use std::collections::{BTreeMap, HashMap};

use crate::ids::SwitchId;
use crate::machine::names::{host_name, system_name};
use crate::machine::{Machine, NodeKind};

/// A host and the switch it stands below.
pub(super) struct Host {
    pub name: String,
    pub leaf: SwitchId,
}

/// All hosts with a cabled port, in order of their first node; aggregation nodes and routers are none.
pub(super) fn hosts(machine: &Machine) -> Vec<Host> {
    let mut same_name: HashMap<&str, usize> = HashMap::new();
    for node in machine.nodes() {
        *same_name.entry(machine.node(node).name.as_str()).or_default() += 1;
    }
    let level = machine.level("host");
    // Every port a host has: plane, then node and port order.
    let mut order: Vec<String> = Vec::new();
    let mut ports: HashMap<String, BTreeMap<u32, SwitchId>> = HashMap::new();
    let mut raw_of: HashMap<String, &str> = HashMap::new();
    for endpoint in machine.endpoints() {
        let info = machine.node(machine.endpoint_node(endpoint));
        let far = machine.head(machine.injection(endpoint)).vertex;
        let Some(leaf) = machine.as_switch(far).filter(|_| info.kind == NodeKind::Host) else {
            continue;
        };
        let vertex = machine.node_vertex(machine.endpoint_node(endpoint));
        let group =
            level.and_then(|level| level.groups.get(level.of_vertex[vertex.index()] as usize));
        let raw = group.map(String::as_str).or(host_name(&info.name)).unwrap_or_default();
        let name = Some(allowed(raw)).filter(|name| !name.is_empty());
        let single = group.is_some() || same_name[info.name.as_str()] == 1;
        // Two hosts may look alike once the characters that Slurm refuses are gone.
        let mut own = |name: &String| *raw_of.entry(name.clone()).or_insert(raw) == raw;
        let name = match name {
            Some(name) if single && own(&name) => name,
            name => format!("{}-{:016x}", name.unwrap_or_else(|| "node".to_owned()), info.guid),
        };
        if !ports.contains_key(&name) {
            order.push(name.clone());
        }
        let plane = machine.plane_of_endpoint(endpoint);
        ports.entry(name).or_default().entry(plane).or_insert(leaf);
    }
    let mut served: BTreeMap<u32, usize> = BTreeMap::new();
    for plane in order.iter().flat_map(|name| ports[name].keys()) {
        *served.entry(*plane).or_default() += 1;
    }
    let leaf_of = |name: &String| {
        let best = ports[name].iter().max_by_key(|(plane, _)| (served[plane], u32::MAX - **plane));
        best.map(|(_, &leaf)| leaf)
    };
    let host = |name: String| Some(Host { leaf: leaf_of(&name)?, name });
    order.into_iter().filter_map(host).collect()
}

/// A name for every switch: the system's where one switch has it, else the full name, else the GUID; only characters
/// that Slurm allows.
pub(super) fn switches(machine: &Machine) -> Vec<String> {
    let candidates = |switch: SwitchId| {
        let name = machine.switch(switch).name.as_str();
        [system_name(name).map(allowed), Some(allowed(name))]
            .into_iter()
            .flatten()
            .filter(|name| !name.is_empty())
    };
    let mut used: HashMap<String, usize> = HashMap::new();
    for switch in machine.switches() {
        let mut names: Vec<String> = candidates(switch).collect();
        names.dedup();
        for name in names {
            *used.entry(name).or_default() += 1;
        }
    }
    let name = |switch: SwitchId| {
        let mut own = candidates(switch).filter(|name| used[name] == 1);
        own.next().unwrap_or_else(|| format!("switch-{:016x}", machine.switch(switch).guid))
    };
    machine.switches().map(name).collect()
}

/// `MF0-ib5-SX6036-U1`: letters, digits, `.`, `_` and single dashes for all else.
pub(super) fn allowed(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '.' | '_') {
            text.push(character);
        } else if !text.ends_with('-') {
            text.push('-');
        }
    }
    text.trim_matches('-').to_owned()
}
