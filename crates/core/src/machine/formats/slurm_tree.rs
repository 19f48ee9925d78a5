//! Slurm's topology.conf for `topology/tree`: switches with one parent each.
//!
//! Reading makes a tree of switches with one cable to the parent and one-port nodes; `LinkSpeed` is ignored, as Slurm
//! does. Writing flattens the fabric, since a leaf of a fat tree has many parents: leaves are grouped by how few
//! cables part them, nearest first, and each group becomes one virtual switch. A two-level fat tree gives one switch
//! over its leaves, a three-level one adds a switch a pod, a torus is flat. Spines do not appear: what hosts no node
//! is no help in placing jobs, and a lost spine must not change the file. Separate fabrics are separate roots. Switch
//! names, order and grouping depend on names alone, so that a new version of the file shows what changed.
//!
//! Limits: virtual switches get names of their own, and leaves that stand side by side at unequal heights of a file
//! that was read may be grouped anew.
//!
//! Source: the manual page topology.conf(5); groups are single-linkage clusters, found as in Mehlhorn, "A faster
//! approximation algorithm for the Steiner problem in graphs", IPL 1988.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::hostlist::{compress, natural};
use super::slurm_names::{self, Host};
use super::topology_conf::{self, Record, mentions, records, twice};
use super::{Format, FormatError, Import, Warning};
use crate::machine::{Builder, Machine, Part};
use crate::units::LinkRate;

/// The `topology/tree` format.
pub struct SlurmTree;

impl Format for SlurmTree {
    fn names(&self) -> &'static [&'static str] {
        &["slurm-tree", "slurm"]
    }

    fn summary(&self) -> &'static str {
        "Slurm's topology.conf with SwitchName= lines"
    }

    fn recognises(&self, text: &str) -> bool {
        mentions(text, "SwitchName")
    }

    fn read(&self, text: &str, label: &str) -> Result<Import, FormatError> {
        let records = records(text, label, &["switchname", "nodes", "switches", "linkspeed"])?;
        Tree::read(&records, label)?.build(label)
    }

    fn write(&self, machine: &Machine) -> Result<String, FormatError> {
        let hosts = slurm_names::hosts(machine);
        if hosts.is_empty() {
            return Err(FormatError::Unwritable {
                format: "slurm-tree",
                reason: "no switch has a host below it".to_owned(),
                advice: "Slurm's tree begins at leaf switches; write it as json or ibnetdiscover"
                    .to_owned(),
            });
        }
        Ok(flatten(machine, &hosts))
    }
}

/// The file's tree, by index.
struct Tree {
    switches: Vec<(String, usize)>,
    nodes: Vec<(String, usize)>,
    /// Children of each switch in the order written.
    children: Vec<Vec<Child>>,
    parent: Vec<Option<usize>>,
}

#[derive(Clone, Copy)]
enum Child {
    Switch(usize),
    Node(usize),
}

impl Tree {
    fn read(records: &[Record], label: &str) -> Result<Self, FormatError> {
        let mut switch_index: HashMap<&str, usize> = HashMap::new();
        let mut switches = Vec::new();
        for record in records {
            let Some(name) = record.field("switchname") else {
                let found = "found a line without `SwitchName=`".to_owned();
                let allowed = "every line names a switch";
                return Err(topology_conf::wrong(label, record.line, found, allowed));
            };
            if let Some(&known) = switch_index.get(name) {
                let (_, earlier): &(String, usize) = &switches[known];
                return Err(twice(label, record.line, *earlier, name, "is declared as a switch"));
            }
            switch_index.insert(name, switches.len());
            switches.push((name.to_owned(), record.line));
        }
        let mut tree = Tree {
            children: vec![Vec::new(); switches.len()],
            parent: vec![None; switches.len()],
            switches,
            nodes: Vec::new(),
        };
        let mut node_lines: HashMap<String, usize> = HashMap::new();
        for (at, record) in records.iter().enumerate() {
            let (nodes, below) = (record.names("nodes", label)?, record.names("switches", label)?);
            check_ports(label, record.line, &tree.switches[at].0, nodes.len() + below.len())?;
            for name in nodes {
                if let Some(&earlier) = node_lines.get(&name) {
                    return Err(twice(label, record.line, earlier, &name, "is put below a switch"));
                }
                node_lines.insert(name.clone(), record.line);
                tree.children[at].push(Child::Node(tree.nodes.len()));
                tree.nodes.push((name, record.line));
            }
            for name in below {
                let Some(&child) = switch_index.get(name.as_str()) else {
                    let found = format!("switch `{name}` stands below `{}`", tree.switches[at].0);
                    let allowed = "it needs a line `SwitchName=` of its own";
                    return Err(topology_conf::wrong(label, record.line, found, allowed));
                };
                if let Some(parent) = tree.parent[child] {
                    let earlier = tree.switches[parent].1;
                    return Err(twice(label, record.line, earlier, &name, "is put below a switch"));
                }
                tree.parent[child] = Some(at);
                tree.children[at].push(Child::Switch(child));
            }
        }
        tree.check(label)?;
        Ok(tree)
    }

    /// No switch stands below itself, and each has ports enough.
    fn check(&self, label: &str) -> Result<(), FormatError> {
        let mut reached = vec![false; self.switches.len()];
        let mut stack: Vec<usize> =
            (0..self.switches.len()).filter(|&switch| self.parent[switch].is_none()).collect();
        while let Some(switch) = stack.pop() {
            reached[switch] = true;
            for child in &self.children[switch] {
                if let Child::Switch(child) = child {
                    stack.push(*child);
                }
            }
        }
        if let Some(looped) = reached.iter().position(|reached| !reached) {
            let (name, line) = &self.switches[looped];
            let found = format!("switch `{name}` stands below itself");
            return Err(topology_conf::wrong(label, *line, found, "switches form trees"));
        }
        for (at, (name, line)) in self.switches.iter().enumerate() {
            check_ports(label, *line, name, self.ports(at))?;
        }
        Ok(())
    }

    fn ports(&self, switch: usize) -> usize {
        self.children[switch].len() + usize::from(self.parent[switch].is_some())
    }

    fn build(self, label: &str) -> Result<Import, FormatError> {
        let wrap = |source| FormatError::Machine { label: label.to_owned(), source };
        let mut builder = Builder::new(label.rsplit('/').next().unwrap_or(label), false);
        let mut switches = Vec::new();
        for (at, (name, _)) in self.switches.iter().enumerate() {
            switches.push(builder.switch(name, self.ports(at).max(1) as u64).map_err(wrap)?);
        }
        let nodes: Vec<Part> = self.nodes.iter().map(|(name, _)| builder.node(name, 1)).collect();
        for (at, children) in self.children.iter().enumerate() {
            for child in children {
                let below = match *child {
                    Child::Switch(switch) => switches[switch],
                    Child::Node(node) => nodes[node],
                };
                builder.cable(below, switches[at], LinkRate::EDR);
            }
        }
        let text = format!(
            "Slurm's files tell no cables: one of {} is assumed at each node and below each switch",
            LinkRate::EDR
        );
        let machine = builder.build().map_err(wrap)?;
        Ok(Import { machine, warnings: vec![Warning { line: 0, text }] })
    }
}

/// A switch has no more ports than InfiniBand numbers.
fn check_ports(label: &str, line: usize, name: &str, ports: usize) -> Result<(), FormatError> {
    if ports <= 254 {
        return Ok(());
    }
    let found = format!("switch `{name}` needs {ports} ports");
    let allowed = "a switch has at most 254: put switches between";
    Err(topology_conf::wrong(label, line, found, allowed))
}

/// A switch of the written tree: a leaf or a group of switches.
struct Group {
    name: String,
    /// Levels of groups below.
    height: usize,
    children: Vec<usize>,
}

fn flatten(machine: &Machine, hosts: &[Host]) -> String {
    let names = slurm_names::switches(machine);
    let mut hosts_of: Vec<Vec<&str>> = vec![Vec::new(); machine.switch_count()];
    for host in hosts {
        hosts_of[host.leaf.index()].push(&host.name);
    }
    let mut leaves: Vec<usize> =
        (0..hosts_of.len()).filter(|&switch| !hosts_of[switch].is_empty()).collect();
    leaves.sort_by(|&a, &b| natural(&names[a], &names[b]));
    let mut text = String::new();
    for &leaf in &leaves {
        let nodes = compress(hosts_of[leaf].iter().copied());
        let _ = writeln!(text, "SwitchName={} Nodes={nodes}", names[leaf]);
    }
    let mut groups: Vec<Group> = leaves
        .iter()
        .map(|&leaf| Group { name: names[leaf].clone(), height: 0, children: Vec::new() })
        .collect();
    gather(machine, &leaves, &mut groups);
    let mut above: Vec<&Group> = groups[leaves.len()..].iter().collect();
    above.sort_by(|a, b| a.height.cmp(&b.height).then_with(|| natural(&a.name, &b.name)));
    for group in above {
        let below = compress(group.children.iter().map(|&child| groups[child].name.as_str()));
        let _ = writeln!(text, "SwitchName={} Switches={below}", group.name);
    }
    text
}

/// Joins leaves into groups, those with the fewest cables between them first.
fn gather(machine: &Machine, leaves: &[usize], groups: &mut Vec<Group>) {
    let mut set = DisjointSets((0..leaves.len()).collect());
    let mut group_of: Vec<usize> = (0..leaves.len()).collect();
    let bridges = bridges(machine, leaves);
    let mut at = 0;
    while at < bridges.len() {
        let length = bridges[at].0;
        // Old sets that end up in one new set become the children of one group.
        let mut merged: Vec<usize> = Vec::new();
        while at < bridges.len() && bridges[at].0 == length {
            let (_, a, b) = bridges[at];
            let (a, b) = (set.find(a), set.find(b));
            if a != b {
                merged.extend([a, b]);
                set.0[a.max(b)] = a.min(b);
            }
            at += 1;
        }
        merged.sort_unstable();
        merged.dedup();
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for old in merged {
            children.entry(set.find(old)).or_default().push(group_of[old]);
        }
        for (new, children) in children {
            let height = 1 + children.iter().map(|&child| groups[child].height).max().unwrap_or(0);
            // Leaves are in order of names: the lowest index of a set is its first name.
            let name = format!("above{height}-{}", groups[new].name);
            group_of[new] = groups.len();
            groups.push(Group { name, height, children });
        }
    }
    let mut taken: HashMap<String, usize> = HashMap::new();
    for group in groups.iter_mut() {
        while taken.insert(group.name.clone(), 1).is_some() {
            group.name.push('_');
        }
    }
}

/// Pairs of leaves and how many cables part them, shortest first: enough pairs to join all leaves at their distances.
fn bridges(machine: &Machine, leaves: &[usize]) -> Vec<(u32, usize, usize)> {
    const UNSEEN: u32 = u32::MAX;
    let mut nearest = vec![(UNSEEN, usize::MAX); machine.switch_count()];
    let mut queue: Vec<usize> = leaves.to_vec();
    for (index, &leaf) in leaves.iter().enumerate() {
        nearest[leaf] = (0, index);
    }
    let neighbours = |switch: usize| {
        machine
            .channels_from(crate::ids::VertexId::from_index(switch))
            .filter_map(|channel| machine.as_switch(machine.head(channel).vertex))
    };
    let mut next = 0;
    while let Some(&switch) = queue.get(next) {
        next += 1;
        let (distance, leaf) = nearest[switch];
        for far in neighbours(switch) {
            if nearest[far.index()].0 == UNSEEN {
                nearest[far.index()] = (distance + 1, leaf);
                queue.push(far.index());
            }
        }
    }
    let mut bridges = Vec::new();
    for &switch in &queue {
        let (distance, leaf) = nearest[switch];
        for far in neighbours(switch) {
            let (far_distance, far_leaf) = nearest[far.index()];
            if leaf < far_leaf {
                bridges.push((distance + 1 + far_distance, leaf, far_leaf));
            }
        }
    }
    bridges.sort_unstable();
    bridges.dedup();
    bridges
}

/// Sets of indices, each told by its lowest member.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }
}

#[cfg(test)]
mod tests;
