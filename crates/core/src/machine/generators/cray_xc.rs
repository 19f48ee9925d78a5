//! Cray XC (Cascade): a dragonfly whose groups are two-dimensional all-to-alls of Aries routers.
//!
//! A blade is one router with its nodes, 16 blades make a chassis, 3 chassis a cabinet, 2 cabinets a group. Within a
//! chassis all routers are cabled to each other (green, 1 cable); the routers at one slot of the 6 chassis of a group
//! likewise (black, 3 cables); groups all to all (blue). A router has 48 ports: 15 green, 15 black, up to 10 blue, up
//! to 8 for nodes. A group thus has 960 blue ports, in optical cables of 4, so there are at most 241 groups; how many
//! are cabled was bought site by site, so it is a parameter, and which router has which blue cable (see
//! `global_links.rs`) is a GUESS.
//!
//! Source: Faanes et al., "Cray Cascade: a Scalable HPC System based on a Dragonfly Network", SC12; the hierarchy as in
//! Wende, Steinke, Reinefeld, "The Impact of Process Placement and Oversubscription on Application Performance", 2015.
//! Limits: whole groups; service blades are not told from compute blades.

use super::dragonfly::{PARALLEL_GLOBAL, parallel_global};
use super::global_links::GlobalLinks;
use super::limits::Size;
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The Cray XC generator.
pub struct CrayXc;

impl Generator for CrayXc {
    fn name(&self) -> &'static str {
        "cray-xc"
    }

    fn summary(&self) -> &'static str {
        "Cray XC30/40: blades, chassis, cabinets and groups of Aries routers (Faanes et al. 2012, \
         Wende et al. 2015)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "groups",
                doc: "electrical groups of two cabinets",
                kind: Kind::Int(1, 241),
                default: None,
            },
            PARALLEL_GLOBAL,
            Param {
                name: "nodes_per_blade",
                doc: "nodes on a blade's router",
                kind: Kind::Int(1, 8),
                default: Some("4"),
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (groups, nodes) = (args.int("groups"), args.int("nodes_per_blade"));
        let parallel = parallel_global(args, groups, ROUTERS * BLUE_PORTS)?;
        let switches = groups * ROUTERS;
        Size { switches, nodes: switches * nodes, ports: switches * ROUTER_PORTS }
            .check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let mut routers = Vec::new();
        for blade in 0..switches {
            routers.push(add_blade(&mut builder, blade, nodes, context)?);
        }
        for group in routers.chunks(ROUTERS as usize) {
            cable_group(&mut builder, group, context);
        }
        for ends in (GlobalLinks { groups, switches: ROUTERS, parallel }).ends() {
            let [low, high] =
                ends.map(|(group, router)| routers[(group * ROUTERS + router) as usize]);
            builder.cable(low, high, context.rate);
        }
        Ok(builder.build()?)
    }
}

const BLADES: u64 = 16;
const CHASSIS: u64 = 3;
const CABINETS: u64 = 2;
const ROUTERS: u64 = BLADES * CHASSIS * CABINETS;
const BLACK_CABLES: usize = 3;
const BLUE_PORTS: u64 = 10;
const ROUTER_PORTS: u64 = 48;

/// Adds blade number `blade` under Cray's names: cabinet `c3-0`, chassis `c3-0c1`, blade `c3-0c1s15`.
fn add_blade(
    builder: &mut Builder,
    blade: u64,
    nodes: u64,
    context: &Context,
) -> Result<Part, GeneratorError> {
    let (slot, chassis) = (blade % BLADES, blade / BLADES % CHASSIS);
    let cabinet = format!("c{}-0", blade / BLADES / CHASSIS);
    let chassis = format!("{cabinet}c{chassis}");
    let name = format!("{chassis}s{slot}");
    let group = format!("group{}", blade / ROUTERS);
    let router = builder.switch(format!("{name}a0"), ROUTER_PORTS)?;
    let mut parts = vec![router];
    for node in 0..nodes {
        let node = builder.node(format!("{name}n{node}"), 1);
        builder.cable(node, router, context.rate);
        parts.push(node);
    }
    for part in parts {
        builder.group("blade", &name, part);
        builder.group("chassis", &chassis, part);
        builder.group("cabinet", &cabinet, part);
        builder.group("group", &group, part);
    }
    Ok(router)
}

fn cable_group(builder: &mut Builder, group: &[Part], context: &Context) {
    let blades = BLADES as usize;
    for (index, &router) in group.iter().enumerate() {
        let chassis_end = (index / blades + 1) * blades;
        for &green in &group[index + 1..chassis_end] {
            builder.cable(router, green, context.rate);
        }
        for &black in group[index..].iter().step_by(blades).skip(1) {
            for _ in 0..BLACK_CABLES {
                builder.cable(router, black, context.rate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    /// Green and black cables of one group.
    const LOCAL: usize = 6 * (16 * 15 / 2) + 16 * (6 * 5 / 2) * 3;

    #[test]
    fn one_group_is_a_two_dimensional_all_to_all() {
        let machine = built("cray-xc(1)");
        assert_eq!(sizes(&machine), (96, 384, LOCAL));
        assert_eq!(diameter(&machine), 2);
        assert!(machine.switches().all(|switch| {
            machine.channels_from(machine.switch_vertex(switch)).count() == 4 + 15 + 15
        }));
    }

    #[test]
    fn two_groups_with_192_blue_cables_are_the_cascade_of_the_routing_studies() {
        assert_eq!(sizes(&built("cray-xc(2; 192; 8)")), (192, 1536, 3072));
    }

    #[test]
    fn the_machine_of_wende_has_five_groups_of_two_cabinets() {
        let machine = built("cray-xc(5)");
        assert_eq!(sizes(&machine), (480, 1920, 5 * LOCAL + 10 * 240));
        // The ten blue cables of a router reach all four other groups, so there is no hop before one.
        assert_eq!(diameter(&machine), 3);
        let names: Vec<_> = machine
            .levels()
            .iter()
            .map(|level| (level.name.as_str(), level.groups.len()))
            .collect();
        assert_eq!(names, [("blade", 480), ("chassis", 30), ("cabinet", 10), ("group", 5)]);
        let last = machine.part(machine.node_vertex(crate::ids::NodeId(1919)));
        assert_eq!(last.name, "c9-0c2s15n3");
    }

    #[test]
    fn refuses_more_blue_cables_than_ports() {
        assert!(refused("cray-xc(5; 241)").contains("at most 240 cables"));
        assert!(refused("cray-xc(1; 1)").contains("take parallel=0"));
        assert!(refused("cray-xc(242)").contains("a whole number from 1 to 241"));
    }
}
