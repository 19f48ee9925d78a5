//! Fujitsu Tofu: a six-dimensional mesh and torus X, Y, Z, A, B, C with a node on every router.
//!
//! A, B, C span a unit of 2x3x2 nodes: B is a ring of 3, A and C are pairs. Units stand in a torus of X, Y, Z; a length
//! of 2 there is one cable and 1 is none. A router has ten links: two each in X, Y, Z and B, one each in A and C. X
//! counts fastest. Ports and coordinates are those of `grid.rs`, the node on port 11.
//!
//! Source: Ajima, Sumimoto, Shimizu, "Tofu: A 6D Mesh/Torus Interconnect for Exascale Computers", IEEE Computer 42(11),
//! 2009. Departs from it: that paper leaves X, Y, Z meshes or tori to the installation, here they are tori, as in the
//! K computer (24x18x16 units of compute nodes).

use super::grid::{Dimension, Grid};
use super::{Context, Generator, GeneratorError};
use crate::machine::Machine;
use crate::params::{Args, Kind, Param};

/// The Tofu generator.
pub struct Tofu;

impl Generator for Tofu {
    fn name(&self) -> &'static str {
        "tofu"
    }

    fn summary(&self) -> &'static str {
        "Fujitsu Tofu, tofu(X,Y,Z): torus of units of 2x3x2 nodes (Ajima et al. 2009)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                doc: "`X`: units in the first dimension",
                kind: LENGTH,
                default: None,
            },
            Param {
                name: "y",
                doc: "`Y`: units in the second dimension",
                kind: LENGTH,
                default: None,
            },
            Param {
                name: "z",
                doc: "`Z`: units in the third dimension",
                kind: LENGTH,
                default: None,
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let mut dimensions = ["x", "y", "z"].map(|name| Dimension::Ring(args.int(name))).to_vec();
        dimensions.extend([Dimension::Pair, Dimension::Ring(3), Dimension::Pair]);
        let grid = Grid { dimensions, parallel: 1 };
        grid.build(grid.switch_count(), context)
    }
}

const LENGTH: Kind = Kind::Int(1, 1_000);

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn every_router_has_ten_links() {
        let machine = built("tofu(3,4,5)");
        assert_eq!(sizes(&machine), (720, 720, 720 * 10 / 2));
        assert_eq!(diameter(&machine), 1 + 2 + 2 + 1 + 1 + 1);
        let coordinates = machine.coordinates().unwrap();
        assert_eq!(coordinates.shape, [3, 4, 5, 2, 3, 2]);
        assert_eq!(coordinates.wraps, [true, true, true, false, true, false]);
    }

    #[test]
    fn a_lone_unit_is_a_two_by_three_by_two_grid() {
        let machine = built("tofu(1,1,1)");
        assert_eq!(sizes(&machine), (12, 12, 6 + 12 + 6));
    }

    #[test]
    fn refuses_absurd_sizes() {
        assert!(refused("tofu(1000,1000,1000)").contains("would have 12000000000 switches"));
    }
}
