//! Slurm's topology.conf for `topology/block`: sets of nodes that are close.
//!
//! A block file says which nodes are near each other and nothing of the network between blocks. Reading makes one
//! switch a block, a level `block`, and one switch above all blocks with one cable to each, since jobs may span
//! blocks: that switch and those cables are made up, and a warning says so. `BlockSizes` is not kept. Writing takes
//! the level `block` if the machine has one, else each leaf switch is a block; `BlockSizes` is the size of the
//! smallest block, which is Slurm's default too.
//!
//! Source: the manual page topology.conf(5).

use std::collections::HashMap;
use std::fmt::Write;

use super::hostlist::{compress, natural};
use super::slurm_names;
use super::topology_conf::{self, mentions, records, twice};
use super::{Format, FormatError, Import, Warning};
use crate::machine::{Builder, Level, Machine};
use crate::units::LinkRate;

/// The `topology/block` format.
pub struct SlurmBlock;

/// Name of the level that holds the blocks.
const LEVEL: &str = "block";

impl Format for SlurmBlock {
    fn names(&self) -> &'static [&'static str] {
        &["slurm-block"]
    }

    fn summary(&self) -> &'static str {
        "Slurm's topology.conf with BlockName= lines"
    }

    fn recognises(&self, text: &str) -> bool {
        mentions(text, "BlockName")
    }

    fn read(&self, text: &str, label: &str) -> Result<Import, FormatError> {
        let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
        let mut block_lines: HashMap<String, usize> = HashMap::new();
        let mut node_lines: HashMap<String, usize> = HashMap::new();
        let mut warnings = Vec::new();
        for record in records(text, label, &["blockname", "nodes", "blocksizes"])? {
            if record.field("blocksizes").is_some() {
                let text = "BlockSizes is not kept: a machine has no scheduling sizes".to_owned();
                warnings.push(Warning { line: record.line, text });
            }
            let Some(name) = record.field("blockname") else { continue };
            if let Some(earlier) = block_lines.insert(name.to_owned(), record.line) {
                return Err(twice(label, record.line, earlier, name, "is declared as a block"));
            }
            let nodes = record.names("nodes", label)?;
            if nodes.is_empty() || nodes.len() > 253 {
                let found = format!("block `{name}` has {} nodes", nodes.len());
                let allowed = "1 to 253 nodes stand below the one switch of a block";
                return Err(topology_conf::wrong(label, record.line, found, allowed));
            }
            for node in &nodes {
                if let Some(earlier) = node_lines.insert(node.clone(), record.line) {
                    return Err(twice(label, record.line, earlier, node, "is put into a block"));
                }
            }
            blocks.push((name.to_owned(), nodes));
        }
        let machine = build(&blocks, label)?;
        let rate = LinkRate::EDR;
        let text = if blocks.len() > 1 {
            format!(
                "Slurm's file tells no cables: one of {rate} is assumed at each node and from each \
                 block to a switch above all blocks, which is made up too"
            )
        } else {
            format!("Slurm's file tells no cables: one of {rate} is assumed at each node")
        };
        warnings.push(Warning { line: 0, text });
        Ok(Import { machine, warnings })
    }

    fn write(&self, machine: &Machine) -> Result<String, FormatError> {
        let hosts = slurm_names::hosts(machine);
        let switches = slurm_names::switches(machine);
        let level = machine.level(LEVEL);
        let mut blocks: HashMap<String, Vec<&str>> = HashMap::new();
        let mut order = Vec::new();
        for host in &hosts {
            let vertex = machine.switch_vertex(host.leaf).index();
            let group = level.map_or(Level::NONE, |level| level.of_vertex[vertex]);
            let name = match level {
                Some(level) if group != Level::NONE => {
                    slurm_names::allowed(&level.groups[group as usize])
                }
                _ => switches[host.leaf.index()].clone(),
            };
            if !blocks.contains_key(&name) {
                order.push(name.clone());
            }
            blocks.entry(name).or_default().push(&host.name);
        }
        let Some(smallest) = order.iter().map(|name| blocks[name].len()).min() else {
            return Err(FormatError::Unwritable {
                format: "slurm-block",
                reason: "no switch has a host below it".to_owned(),
                advice: "a block is a set of hosts; write it as json or ibnetdiscover".to_owned(),
            });
        };
        order.sort_by(|a, b| natural(a, b));
        let mut text = String::new();
        for name in &order {
            let nodes = compress(blocks[name].iter().copied());
            let _ = writeln!(text, "BlockName={name} Nodes={nodes}");
        }
        let _ = writeln!(text, "BlockSizes={smallest}");
        Ok(text)
    }
}

fn build(blocks: &[(String, Vec<String>)], label: &str) -> Result<Machine, FormatError> {
    let wrap = |source| FormatError::Machine { label: label.to_owned(), source };
    let several = blocks.len() > 1;
    let mut builder = Builder::new(label.rsplit('/').next().unwrap_or(label), false);
    let mut switches = Vec::new();
    for (name, nodes) in blocks {
        let ports = nodes.len() + usize::from(several);
        let switch = builder.switch(name, ports as u64).map_err(wrap)?;
        builder.group(LEVEL, name, switch);
        switches.push(switch);
    }
    for (&switch, (name, nodes)) in switches.iter().zip(blocks) {
        for node in nodes {
            let part = builder.node(node, 1);
            builder.group(LEVEL, name, part);
            builder.cable(part, switch, LinkRate::EDR);
        }
    }
    if several {
        let above = builder.switch("above-all-blocks", blocks.len() as u64).map_err(wrap)?;
        for &switch in &switches {
            builder.cable(switch, above, LinkRate::EDR);
        }
    }
    builder.build().map_err(wrap)
}

#[cfg(test)]
mod tests {
    use super::super::{read, write};

    const FILE: &str = "BlockName=b0 Nodes=n[0-2]\nBlockName=b1 Nodes=n[3-6]\nBlockSizes=3,6\n";

    #[test]
    fn blocks_come_back_as_they_were() {
        let import = read(FILE.as_bytes(), "topology.conf").unwrap();
        let machine = &import.machine;
        assert_eq!((machine.switch_count(), machine.node_count()), (3, 7));
        assert_eq!(machine.plane_count(), 1);
        assert_eq!(machine.level("block").unwrap().groups, ["b0", "b1"]);
        let lines: Vec<usize> = import.warnings.iter().map(|warning| warning.line).collect();
        assert_eq!(lines, [0, 3]);
        let text = write(machine, "slurm-block").unwrap();
        assert_eq!(text, FILE.replace("3,6\n", "3\n"));
    }

    #[test]
    fn leaf_switches_are_the_blocks_of_a_machine_without_that_level() {
        let machine = crate::machine::generators::make(
            "2-ary 2-tree",
            &crate::params::Given::new(),
            crate::rng::Seed(1),
        );
        let text = write(&machine.unwrap(), "slurm-block").unwrap();
        let blocks = "BlockName=s0.0 Nodes=n[0-1]\nBlockName=s0.1 Nodes=n[2-3]\n";
        assert_eq!(text, format!("{blocks}BlockSizes=2\n"));
    }

    #[test]
    fn says_which_line_repeats_a_node() {
        let text = "BlockName=b0 Nodes=n[0-2]\nBlockName=b1 Nodes=n2\n";
        assert_eq!(
            read(text.as_bytes(), "topology.conf").unwrap_err().to_string(),
            "topology.conf:2: `n2` is put into a block, but line 1 says so of it too (name it once)"
        );
    }
}
