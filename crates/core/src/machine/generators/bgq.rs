//! IBM Blue Gene/Q: a five-dimensional torus A, B, C, D, E with a node on every router and E of length 2.
//!
//! Each router has ten links, two a dimension, so a dimension of length 2 (always E) has two cables between its
//! neighbours. A midplane is 4x4x4x4x2. Node and switch `i` are one chip; A counts fastest. Ports and coordinates are
//! those of `grid.rs`, the node on port 11.
//!
//! Source: Chen et al., "The IBM Blue Gene/Q Interconnection Network and Message Unit", SC11.
//! Limits: whole tori; the eleventh link to I/O nodes is left out.

use super::grid::{Dimension, Grid};
use super::{Context, Generator, GeneratorError};
use crate::machine::Machine;
use crate::params::{Args, Kind, Param};

/// The Blue Gene/Q generator.
pub struct Bgq;

impl Generator for Bgq {
    fn name(&self) -> &'static str {
        "bgq"
    }

    fn summary(&self) -> &'static str {
        "IBM Blue Gene/Q, bgq(A,B,C,D,E): five-dimensional torus with one node a router (Chen et \
         al. 2011)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "a",
                doc: "`A`: length of the first dimension",
                kind: LENGTH,
                default: None,
            },
            Param {
                name: "b",
                doc: "`B`: length of the second dimension",
                kind: LENGTH,
                default: None,
            },
            Param {
                name: "c",
                doc: "`C`: length of the third dimension",
                kind: LENGTH,
                default: None,
            },
            Param {
                name: "d",
                doc: "`D`: length of the fourth dimension",
                kind: LENGTH,
                default: None,
            },
            Param {
                name: "e",
                doc: "`E`: length of the fifth dimension, 2 in every machine",
                kind: Kind::Int(2, 2),
                default: Some("2"),
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let lengths = ["a", "b", "c", "d", "e"].map(|name| Dimension::DoubleRing(args.int(name)));
        let grid = Grid { dimensions: lengths.to_vec(), parallel: 1 };
        grid.build(grid.switch_count(), context)
    }
}

const LENGTH: Kind = Kind::Int(2, 128);

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn a_midplane_has_512_nodes_and_ten_links_each() {
        let machine = built("bgq(4,4,4,4,2)");
        assert_eq!(sizes(&machine), (512, 512, 5 * 512));
        assert_eq!(diameter(&machine), 2 + 2 + 2 + 2 + 1);
        assert_eq!(machine.coordinates().unwrap().shape, [4, 4, 4, 4, 2]);
        assert!(
            machine.switches().all(|switch| {
                machine.channels_from(machine.switch_vertex(switch)).count() == 11
            })
        );
    }

    #[test]
    fn the_fifth_dimension_may_be_left_out() {
        assert_eq!(sizes(&built("bgq(2,2,2,2)")), (32, 32, 160));
    }

    #[test]
    fn refuses_another_fifth_dimension_and_absurd_sizes() {
        assert!(refused("bgq(4,4,4,4,4)").contains("`e` is a whole number from 2 to 2, got `4`"));
        assert!(refused("bgq(128,128,128,128)").contains("would have 536870912 switches"));
    }
}
