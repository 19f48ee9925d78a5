//! Dragonfly `dragonfly(p,a,h,g)`: groups of `a` switches, all to all within a group and between groups.
//!
//! With fewer than `a h + 1` groups, any two groups get as many parallel cables as all pairs can have alike,
//! `floor(a h / (g - 1))`; ports that do not suffice for one more cable to every group stay empty. Which switch has
//! which cable is told by `global_links.rs`. Nodes, switches of the group, other groups: ports in this order.
//!
//! Source: Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008.
//! Limits: the flat group of that paper; see `cray-xc` for a two-dimensional one.

use super::global_links::GlobalLinks;
use super::limits::{Size, product};
use super::nodes::{NODES, attach_evenly, share};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The dragonfly generator.
pub struct Dragonfly;

impl Generator for Dragonfly {
    fn name(&self) -> &'static str {
        "dragonfly"
    }

    fn summary(&self) -> &'static str {
        "dragonfly(p,a,h,g) with parallel global cables (Kim et al. 2008)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "nodes_per_switch",
                doc: "`p`: nodes on each switch",
                kind: Kind::Int(1, 253),
                default: None,
            },
            Param {
                name: "switches_per_group",
                doc: "`a`: switches in a group, cabled all to all",
                kind: Kind::Int(1, 254),
                default: None,
            },
            Param {
                name: "global_ports",
                doc: "`h`: ports of a switch for other groups",
                kind: Kind::Int(1, 253),
                default: None,
            },
            Param {
                name: "groups",
                doc: "`g`: number of groups, at most a h + 1; 0 means a h + 1",
                kind: Kind::Int(0, 65_000),
                default: Some("0"),
            },
            PARALLEL_GLOBAL,
            NODES,
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (p, a) = (args.int("nodes_per_switch"), args.int("switches_per_group"));
        let h = args.int("global_ports");
        let groups = match args.int("groups") {
            0 => a * h + 1,
            groups => groups,
        };
        let parallel = parallel_global(args, groups, a * h)?;
        let switches = groups * a;
        let nodes = match args.int("nodes") {
            0 => switches * p,
            nodes => nodes,
        };
        let radix = nodes.div_ceil(switches) + a - 1 + h;
        Size { switches, nodes, ports: product([switches, radix]) }.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let mut parts: Vec<Part> = Vec::new();
        for index in 0..switches {
            parts.push(builder.switch(format!("s{}.{}", index / a, index % a), radix)?);
        }
        attach_evenly(&mut builder, &parts, nodes, context.rate);
        for group in parts.chunks(a as usize) {
            for (index, &switch) in group.iter().enumerate() {
                for &other in &group[index + 1..] {
                    builder.cable(switch, other, context.rate);
                }
            }
        }
        for ends in (GlobalLinks { groups, switches: a, parallel }).ends() {
            let [low, high] = ends.map(|(group, switch)| parts[(group * a + switch) as usize]);
            builder.cable(low, high, context.rate);
        }
        add_groups(&mut builder, &parts, a, nodes);
        Ok(builder.build()?)
    }
}

/// Parallel cables between two groups.
pub const PARALLEL_GLOBAL: Param = Param {
    name: "parallel",
    doc: "cables between any two groups; 0 means as many as all pairs can have alike",
    kind: Kind::Int(0, 65_000),
    default: Some("0"),
};

/// The cables between any two of `groups` groups that have `ports` for them each.
pub fn parallel_global(args: &Args, groups: u64, ports: u64) -> Result<u64, GeneratorError> {
    let most = GlobalLinks::most_parallel(groups, ports);
    if most == 0 && groups > 1 {
        return Err(GeneratorError::Impossible(format!(
            "a group has {ports} ports for other groups, so there are 1 to {} groups, got \
             {groups}; take fewer groups",
            ports + 1
        )));
    }
    match args.int(PARALLEL_GLOBAL.name) {
        0 => Ok(most),
        _ if groups == 1 => Err(GeneratorError::Impossible(
            "one group has no other group to be cabled to; take parallel=0 or more groups"
                .to_owned(),
        )),
        parallel if parallel > most => Err(GeneratorError::Impossible(format!(
            "a group has {ports} ports for other groups, so each of {groups} groups has at most \
             {most} cables to any other, got parallel={parallel}; take fewer groups or cables"
        ))),
        parallel => Ok(parallel),
    }
}

/// Puts switches and their nodes, which were attached evenly, into a group for every `a` switches.
fn add_groups(builder: &mut Builder, parts: &[Part], a: u64, nodes: u64) {
    let mut node = 0u32;
    for (&switch, index) in parts.iter().zip(0..) {
        let group = format!("group{}", index / a);
        builder.group("group", &group, switch);
        for _ in 0..share(nodes, parts.len() as u64, index) {
            builder.group("group", &group, Part::Node(crate::ids::NodeId(node)));
            node += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn maximal_dragonflies_follow_kim() {
        for (p, a, h) in [(2, 4, 2), (1, 3, 1), (3, 2, 3)] {
            let machine = built(&format!("dragonfly({p},{a},{h})"));
            let groups = a * h + 1;
            let links = groups * a * (a - 1) / 2 + groups * (groups - 1) / 2;
            assert_eq!(sizes(&machine), (groups * a, groups * a * p, links));
            assert_eq!(diameter(&machine), 3);
            assert!(machine.switches().all(|switch| {
                machine.channels_from(machine.switch_vertex(switch)).count() == p + a - 1 + h
            }));
        }
    }

    #[test]
    fn fewer_groups_get_parallel_cables() {
        assert_eq!(sizes(&built("dragonfly(6,12,6,15)")), (180, 1080, 1515));
        assert_eq!(built("dragonfly(7,14,7,23)").node_count(), 2254);
        assert_eq!(sizes(&built("dragonfly(1,3,2,2)")), (6, 6, 3 + 3 + 6));
        assert_eq!(sizes(&built("dragonfly(1,3,2,3, parallel=1)")).2, 9 + 3);
        assert_eq!(sizes(&built("dragonfly(2,4,2,1)")), (4, 8, 6));
    }

    #[test]
    fn groups_hold_their_switches_and_nodes() {
        let machine = built("dragonfly(2,4,2, nodes=70)");
        let level = machine.level("group").unwrap();
        assert_eq!(level.groups.len(), 9);
        for endpoint in machine.endpoints() {
            let switch = machine.head(machine.injection(endpoint)).vertex;
            let node = machine.node_vertex(machine.endpoint_node(endpoint));
            assert_eq!(level.of_vertex[node.index()], level.of_vertex[switch.index()]);
        }
    }

    #[test]
    fn refuses_more_groups_or_cables_than_ports() {
        assert_eq!(
            refused("dragonfly(2,4,2,10)"),
            "a group has 8 ports for other groups, so there are 1 to 9 groups, got 10; take fewer \
             groups"
        );
        assert!(
            refused("dragonfly(2,4,2,5, parallel=3)").contains("at most 2 cables to any other")
        );
        assert!(
            refused("dragonfly(2,4,2,1, parallel=1)").contains("take parallel=0 or more groups")
        );
        assert!(refused("dragonfly(100,100,100)").contains("would have 1000100 switches"));
        assert!(refused("dragonfly(100,100,100,2)").contains("this one would need 299"));
    }
}
