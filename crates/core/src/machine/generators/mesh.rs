//! n-dimensional mesh: a switch is cabled to its neighbours up and down in each dimension; borders stay open.
//!
//! Ports, numbers and coordinates are those of `grid.rs`, so a mesh and a torus of one shape number alike.
//! Dimensions of length 1 are allowed and have no cables.
//!
//! Source: textbook form in Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5.

use super::grid::{Dimension, Grid};
use super::nodes::{NODES, NODES_PER_SWITCH, node_total};
use super::{Context, Generator, GeneratorError};
use crate::machine::Machine;
use crate::params::{Args, Kind, Param};

/// The mesh generator.
pub struct Mesh;

impl Generator for Mesh {
    fn name(&self) -> &'static str {
        "mesh"
    }

    fn summary(&self) -> &'static str {
        "n-dimensional mesh with parallel cables (Dally and Towles 2004)"
    }

    fn params(&self) -> &'static [Param] {
        &[SHAPE, PARALLEL, NODES_PER_SWITCH, NODES]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let dimensions = args.ints("shape").iter().map(|&length| Dimension::Line(length)).collect();
        let grid = Grid { dimensions, parallel: args.int("parallel") };
        grid.build(node_total(args, grid.switch_count()), context)
    }
}

/// The shape of a mesh or torus.
pub const SHAPE: Param = Param {
    name: "shape",
    doc: "switches in each dimension, the fastest first",
    kind: Kind::Ints(1, 1_000_000),
    default: None,
};

/// Cables between two neighbours.
pub const PARALLEL: Param = Param {
    name: "parallel",
    doc: "`r`: parallel cables between two neighbours",
    kind: Kind::Int(1, 127),
    default: Some("1"),
};

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn the_meshes_of_the_fail_in_place_study_have_their_counts() {
        assert_eq!(sizes(&built("mesh(5,5; 6; nodes=256)")), (25, 256, 240));
        assert_eq!(sizes(&built("mesh(3,3,3; 4; 10)")), (27, 270, 216));
    }

    #[test]
    fn sizes_and_diameter_follow_the_closed_forms() {
        for (shape, text) in [(vec![7], "7"), (vec![4, 3], "4x3"), (vec![2, 3, 1, 4], "2x3x1x4")] {
            let machine = built(&format!("mesh({text}; 2; 3)"));
            let switches: usize = shape.iter().product();
            let links: usize = shape.iter().map(|k| 2 * (switches - switches / k)).sum();
            assert_eq!(sizes(&machine), (switches, 3 * switches, links));
            assert_eq!(diameter(&machine), shape.iter().map(|k| k - 1).sum::<usize>());
        }
    }

    #[test]
    fn a_port_number_means_one_direction_on_every_switch() {
        let machine = built("mesh(3,3; 2)");
        let coordinates = machine.coordinates().unwrap();
        assert_eq!(coordinates.wraps, [false, false]);
        for switch in machine.switches() {
            let here = coordinates.position(switch.index());
            for port in 1..=8u8 {
                let (dimension, up) = (usize::from((port - 1) / 4), (port - 1) / 2 % 2 == 1);
                let there =
                    machine.channel_at(machine.switch_vertex(switch), port).map(|channel| {
                        let head = machine.as_switch(machine.head(channel).vertex).unwrap();
                        coordinates.position(head.index())[dimension]
                    });
                let want = if up {
                    here[dimension].checked_add(1)
                } else {
                    here[dimension].checked_sub(1)
                };
                assert_eq!(there, want.filter(|&coordinate| coordinate < 3));
            }
            assert!(machine.channel_at(machine.switch_vertex(switch), 9).is_some());
        }
    }

    #[test]
    fn refuses_too_many_ports_and_too_many_switches() {
        let error = refused("mesh(3,3; 100)");
        assert!(
            error.starts_with("a switch has 1 to 254 ports, this one would need 401"),
            "{error}"
        );
        let error = refused("mesh(1000000,1000000,1000000,1000000)");
        assert!(error.contains("2^64 or more switches"), "{error}");
    }
}
