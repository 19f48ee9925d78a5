//! Rail-optimised fat tree of GPU clusters: the i-th adapter of every host is cabled to the i-th leaf of its pod.
//!
//! A host has one adapter (a node) a GPU, 8 as a rule; the adapters of one index are a rail. Traffic between two hosts
//! of a pod stays on one leaf if both ends use the same rail. With spines `all`, every leaf of every pod is cabled
//! equally to every spine (`R / 2` uplinks unless `hosts_per_pod` leaves another number of ports); with `rail` each
//! rail has spines of its own and is a plane, so that other rails are reached inside a host only; with `none` there is
//! one pod and a leaf is a plane. Levels: `host`, `pod`, `rail`.
//!
//! Source: NVIDIA DGX SuperPOD reference architecture (public); the rail-only network of Wang et al., "Rail-only: A
//! Low-Cost High-Performance Network for Training LLMs with Trillion Parameters", Hot Interconnects 2024.
//! Limits: two levels of switches; links inside a host (NVLink) are no part of the fabric.

use super::limits::{Size, product};
use super::spines::{join, spine_count};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The rail-optimised fat-tree generator.
pub struct RailFatTree;

impl Generator for RailFatTree {
    fn name(&self) -> &'static str {
        "rail-fat-tree"
    }

    fn summary(&self) -> &'static str {
        "rail-optimised or rail-only fat tree of GPU hosts (NVIDIA SuperPOD, Wang et al. 2024)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "hosts",
                doc: "number of hosts; pods are filled in order",
                kind: Kind::Int(1, 100_000),
                default: None,
            },
            Param {
                name: "rails",
                doc: "adapters (nodes) of a host, each on a rail of its own",
                kind: Kind::Int(1, 64),
                default: Some("8"),
            },
            Param {
                name: "radix",
                doc: "`R`: ports of every switch",
                kind: Kind::Int(2, 254),
                default: Some("64"),
            },
            Param {
                name: "hosts_per_pod",
                doc: "hosts that share a set of leaves; 0 means R/2, or R without spines",
                kind: Kind::Int(0, 254),
                default: Some("0"),
            },
            Param {
                name: "spines",
                doc: "whether spines join all leaves, the leaves of each rail (rail-only), or \
                      there are none",
                kind: Kind::Choice(&["all", "rail", "none"]),
                default: Some("all"),
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (hosts, rails, radix) = (args.int("hosts"), args.int("rails"), args.int("radix"));
        let spines = args.text("spines");
        let per_pod = match (args.int("hosts_per_pod"), spines) {
            (0, "none") => radix,
            (0, _) => radix / 2,
            (given, _) => given,
        };
        let pods = hosts.div_ceil(per_pod);
        let up = radix.saturating_sub(per_pod);
        let (rows, leaves_joined) = match spines {
            "all" => (1, pods * rails),
            "rail" => (rails, pods),
            _ => (0, 0),
        };
        if per_pod > radix || (rows > 0 && up == 0) {
            return Err(GeneratorError::Impossible(format!(
                "a leaf of {radix} ports cannot serve {per_pod} hosts{}; take fewer hosts_per_pod \
                 or a larger radix",
                if rows > 0 { " and have uplinks" } else { "" }
            )));
        }
        if rows == 0 && pods > 1 {
            return Err(GeneratorError::Impossible(format!(
                "{hosts} hosts make {pods} pods of {per_pod}, which nothing would join; take \
                 spines=all or rail, or at most {per_pod} hosts"
            )));
        }
        let row = if rows == 0 { Some(0) } else { spine_count(leaves_joined, up, radix) };
        let row = row.ok_or_else(|| {
            GeneratorError::Impossible(format!(
                "spines of {radix} ports cannot join {leaves_joined} leaves ({pods} pods of \
                 {per_pod} hosts); take fewer hosts{} or a larger radix",
                if rows == 1 { ", spines=rail" } else { "" }
            ))
        })?;
        let cluster = Cluster { hosts, rails, radix, per_pod, pods, up, rows, row };
        cluster.build(context)
    }
}

struct Cluster {
    hosts: u64,
    rails: u64,
    radix: u64,
    per_pod: u64,
    pods: u64,
    /// Uplinks of a leaf.
    up: u64,
    /// Rows of spines: one for all rails, one for each, or none.
    rows: u64,
    /// Spines in a row.
    row: u64,
}

impl Cluster {
    fn build(&self, context: &Context) -> Result<Machine, GeneratorError> {
        let switches = self.pods * self.rails + self.rows * self.row;
        let ports = product([switches, self.radix]);
        Size { switches, nodes: self.hosts * self.rails, ports }.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let mut leaves = Vec::new();
        for index in 0..self.pods * self.rails {
            let (pod, rail) = (index / self.rails, index % self.rails);
            leaves.push(builder.switch(format!("leaf{pod}.{rail}"), self.radix)?);
        }
        self.add_hosts(&mut builder, &leaves, context);
        for (index, &leaf) in leaves.iter().enumerate() {
            let (pod, rail) = (index as u64 / self.rails, index as u64 % self.rails);
            builder.group("pod", &format!("pod{pod}"), leaf);
            builder.group("rail", &format!("rail{rail}"), leaf);
        }
        for row in 0..self.rows {
            let mut spines = Vec::new();
            for index in 0..self.row {
                let name = if self.rows == 1 {
                    format!("spine{index}")
                } else {
                    format!("spine{row}.{index}")
                };
                let spine = builder.switch(name, self.radix)?;
                if self.rows == self.rails {
                    builder.group("rail", &format!("rail{row}"), spine);
                }
                spines.push(spine);
            }
            let every = if self.rows == 1 { 1 } else { self.rails };
            let joined: Vec<Part> =
                leaves.iter().copied().skip(row as usize).step_by(every as usize).collect();
            join(&mut builder, &joined, &spines, self.up, context.rate);
        }
        Ok(builder.build()?)
    }

    fn add_hosts(&self, builder: &mut Builder, leaves: &[Part], context: &Context) {
        for host in 0..self.hosts {
            let (name, pod) = (format!("host{host}"), host / self.per_pod);
            for rail in 0..self.rails {
                let node = builder.node(format!("h{host}.{rail}"), 1);
                builder.cable(node, leaves[(pod * self.rails + rail) as usize], context.rate);
                builder.group("host", &name, node);
                builder.group("pod", &format!("pod{pod}"), node);
                builder.group("rail", &format!("rail{rail}"), node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn four_scalable_units_have_32_leaves_and_16_spines() {
        let machine = built("rail-fat-tree(128)");
        assert_eq!(sizes(&machine), (32 + 16, 1024, 32 * 32));
        assert_eq!((machine.plane_count(), diameter(&machine)), (1, 2));
        let groups = |level: &str| machine.level(level).unwrap().groups.len();
        assert_eq!((groups("host"), groups("pod"), groups("rail")), (128, 4, 8));
    }

    #[test]
    fn adapter_i_of_every_host_is_on_leaf_i_of_its_pod() {
        let machine = built("rail-fat-tree(10; 4; 16; 3)");
        for endpoint in machine.endpoints() {
            let (host, rail) = (endpoint.0 / 4, endpoint.0 % 4);
            assert_eq!(machine.head(machine.injection(endpoint)).vertex.0, host / 3 * 4 + rail);
        }
        let rails = machine.level("rail").unwrap();
        assert!(
            machine
                .nodes()
                .all(|node| { rails.of_vertex[machine.node_vertex(node).index()] == node.0 % 4 })
        );
    }

    #[test]
    fn rail_only_makes_a_plane_of_each_rail() {
        let machine = built("rail-fat-tree(128; spines=rail)");
        assert_eq!(sizes(&machine), (32 + 8 * 2, 1024, 32 * 32));
        assert_eq!(machine.plane_count(), 8);
        let rail = machine.level("rail").unwrap();
        assert!(
            machine.switches().all(|switch| {
                rail.of_vertex[switch.index()] == machine.plane_of_switch(switch)
            })
        );
        let machine = built("rail-fat-tree(64; spines=none)");
        assert_eq!(sizes(&machine), (8, 512, 0));
        assert_eq!(machine.plane_count(), 8);
    }

    #[test]
    fn refuses_what_two_levels_cannot_join() {
        assert!(
            refused("rail-fat-tree(257)").contains("cannot join 72 leaves (9 pods of 32 hosts)")
        );
        assert!(refused("rail-fat-tree(65; spines=none)").contains("which nothing would join"));
        assert!(refused("rail-fat-tree(64; 8; 64; 64)").contains("and have uplinks"));
        assert!(refused("rail-fat-tree(64; 8; 64; 65; none)").contains("cannot serve 65 hosts;"));
    }
}
