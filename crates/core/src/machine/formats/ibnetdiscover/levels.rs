//! Which adapters share a host and which switch chips share a box, as far as names and system GUIDs tell.

use std::collections::HashMap;

use crate::machine::names::{host_name, system_name};
use crate::machine::{Level, Machine, NodeKind};

/// Adds the levels `host` and `chassis` where they say more than the parts themselves.
///
/// `chassis` holds the number of the box of each vertex, where grouped output gives one.
pub(super) fn add(machine: &mut Machine, chassis: &[Option<u32>]) {
    let (hosts, boxes) = (hosts(machine), boxes(machine, chassis));
    let levels = &mut machine.levels;
    levels.extend(hosts.into_iter().chain(boxes));
}

/// Nodes by the first word of `gpu01 mlx5_0`, if any two share it. Nodes that share the whole name are not one host:
/// an adapter is in it once.
fn hosts(machine: &Machine) -> Option<Level> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for node in machine.nodes() {
        *names.entry(machine.node(node).name.as_str()).or_default() += 1;
    }
    let mut groups = Groups::new(machine, "host");
    for node in machine.nodes().filter(|&node| machine.node(node).kind == NodeKind::Host) {
        let name = machine.node(node).name.as_str();
        if let Some(host) = host_name(name).filter(|_| names[name] == 1) {
            groups.put(machine.node_vertex(node).index(), host.to_owned());
        }
    }
    groups.finish()
}

/// Switches by the number of their box, else by a system GUID that several share.
fn boxes(machine: &Machine, chassis: &[Option<u32>]) -> Option<Level> {
    let mut chips: HashMap<u64, usize> = HashMap::new();
    for switch in machine.switches() {
        *chips.entry(machine.switch(switch).system_guid).or_default() += 1;
    }
    chips.remove(&0);
    let mut groups = Groups::new(machine, "chassis");
    for switch in machine.switches() {
        let info = machine.switch(switch);
        let vertex = machine.switch_vertex(switch).index();
        let shared = chips.get(&info.system_guid).is_some_and(|&count| count > 1);
        match chassis[vertex] {
            Some(number) => groups.put(vertex, format!("chassis {number}")),
            None if shared => groups.put(vertex, format!("0x{:016x}", info.system_guid)),
            None => {}
        }
    }
    let mut level = groups.finish()?;
    name_boxes(machine, &mut level);
    Some(level)
}

/// Calls a box by the name that its chips share, `dir1` of `MF0;dir1:IS5600/L01/U1`, if no other box has it.
fn name_boxes(machine: &Machine, level: &mut Level) {
    let mut names: Vec<Option<&str>> = vec![None; level.groups.len()];
    let mut mixed = vec![false; level.groups.len()];
    for switch in machine.switches() {
        let group = level.of_vertex[machine.switch_vertex(switch).index()];
        if group == Level::NONE {
            continue;
        }
        let name = system_name(&machine.switch(switch).name);
        let known = &mut names[group as usize];
        mixed[group as usize] |= name.is_none() || known.is_some_and(|known| Some(known) != name);
        *known = name;
    }
    let mut used: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().flatten() {
        *used.entry(name).or_default() += 1;
    }
    for (group, name) in names.iter().enumerate() {
        if let Some(name) = name.filter(|name| !mixed[group] && used[name] == 1) {
            level.groups[group] = name.to_owned();
        }
    }
}

/// Names of groups, found again in constant time.
struct Groups {
    level: Level,
    known: HashMap<String, u32>,
    shared: bool,
}

impl Groups {
    fn new(machine: &Machine, name: &str) -> Self {
        let level = Level {
            name: name.to_owned(),
            groups: Vec::new(),
            of_vertex: vec![Level::NONE; machine.vertex_count()],
        };
        Groups { level, known: HashMap::new(), shared: false }
    }

    fn put(&mut self, vertex: usize, group: String) {
        let groups = &mut self.level.groups;
        let next = groups.len() as u32;
        let index = *self.known.entry(group.clone()).or_insert(next);
        if index == next {
            groups.push(group);
        } else {
            self.shared = true;
        }
        self.level.of_vertex[vertex] = index;
    }

    /// The level, if any of its groups has two members.
    fn finish(self) -> Option<Level> {
        self.shared.then_some(self.level)
    }
}
