//! n-dimensional hypercube: `2^n` switches, cabled where their numbers differ in one bit.
//!
//! Dimension `d` has the same ports at both ends of its cables, `d r + 1` to `d r + r`; nodes come after.
//!
//! Source: Seitz, "The Cosmic Cube", Communications of the ACM 28(1), 1985.

use super::grid::{Dimension, Grid};
use super::mesh::PARALLEL;
use super::nodes::{NODES, NODES_PER_SWITCH, node_total};
use super::{Context, Generator, GeneratorError};
use crate::machine::Machine;
use crate::params::{Args, Kind, Param};

/// The hypercube generator.
pub struct Hypercube;

impl Generator for Hypercube {
    fn name(&self) -> &'static str {
        "hypercube"
    }

    fn summary(&self) -> &'static str {
        "n-dimensional hypercube with parallel cables (Seitz 1985)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "dimensions",
                doc: "`n`: bits of a switch's number",
                kind: Kind::Int(1, 19),
                default: None,
            },
            PARALLEL,
            NODES_PER_SWITCH,
            NODES,
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let dimensions = vec![Dimension::Pair; args.int("dimensions") as usize];
        let grid = Grid { dimensions, parallel: args.int("parallel") };
        grid.build(node_total(args, grid.switch_count()), context)
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn sizes_and_diameter_follow_the_closed_forms() {
        for n in [1usize, 2, 5] {
            let machine = built(&format!("hypercube({n}; 2; 3)"));
            assert_eq!(sizes(&machine), (1 << n, 3 << n, n << n));
            assert_eq!(diameter(&machine), n);
        }
    }

    #[test]
    fn a_dimension_has_one_port_number_and_flips_one_bit() {
        let machine = built("hypercube(4)");
        for switch in machine.switches() {
            for bit in 0..4u8 {
                let channel = machine.channel_at(machine.switch_vertex(switch), bit + 1).unwrap();
                let head = machine.head(channel);
                assert_eq!((head.vertex.0, head.port), (switch.0 ^ (1 << bit), bit + 1));
            }
        }
    }

    #[test]
    fn refuses_too_many_ports() {
        assert!(refused("hypercube(19; 127)").contains("would have 524288 switches with"));
        assert!(refused("hypercube(3; 127)").contains("this one would need 382"));
    }
}
