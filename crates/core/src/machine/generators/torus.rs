//! n-dimensional torus: the mesh with every dimension closed to a ring.
//!
//! A ring of length 2 is one bundle of `r` cables, not two: the k-ary n-cube with k = 2 is then the hypercube, as its
//! authors have it. Such a dimension counts as a line in the machine's coordinates, for nothing goes round it. Ports,
//! numbers and coordinates are those of `grid.rs`.
//!
//! Source: Dally, "Performance Analysis of k-ary n-cube Interconnection Networks", IEEE Trans. Computers 39(6), 1990.

use super::grid::{Dimension, Grid};
use super::mesh::{PARALLEL, SHAPE};
use super::nodes::{NODES, NODES_PER_SWITCH, node_total};
use super::{Context, Generator, GeneratorError};
use crate::machine::Machine;
use crate::params::{Args, Param};

/// The torus generator.
pub struct Torus;

impl Generator for Torus {
    fn name(&self) -> &'static str {
        "torus"
    }

    fn summary(&self) -> &'static str {
        "n-dimensional torus (k-ary n-cube) with parallel cables (Dally 1990)"
    }

    fn params(&self) -> &'static [Param] {
        &[SHAPE, PARALLEL, NODES_PER_SWITCH, NODES]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let shape = args.ints("shape");
        if shape.contains(&1) {
            let shape = shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
            return Err(GeneratorError::Impossible(format!(
                "torus needs at least 2 nodes per dimension, got {shape} (use `mesh` to drop a \
                 dimension)"
            )));
        }
        let dimensions = shape.iter().map(|&length| Dimension::Ring(length)).collect();
        let grid = Grid { dimensions, parallel: args.int("parallel") };
        grid.build(node_total(args, grid.switch_count()), context)
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn sizes_and_diameter_follow_the_closed_forms() {
        for (shape, text) in [(vec![3], "3"), (vec![4, 5], "4x5"), (vec![3, 4, 5, 3], "3x4x5x3")] {
            let machine = built(&format!("torus({text}; 2; 3)"));
            let switches: usize = shape.iter().product();
            assert_eq!(sizes(&machine), (switches, 3 * switches, 2 * switches * shape.len()));
            assert_eq!(diameter(&machine), shape.iter().map(|k| k / 2).sum::<usize>());
        }
    }

    #[test]
    fn the_tori_of_the_routing_studies_have_their_counts() {
        assert_eq!(sizes(&built("torus(7,7,7; 4; nodes=2200)")), (343, 2200, 4116));
        assert_eq!(sizes(&built("torus(6,5,5; 4; 7)")), (150, 1050, 1800));
    }

    #[test]
    fn a_ring_of_two_is_one_cable() {
        let machine = built("torus(2,2,2)");
        assert_eq!(sizes(&machine), (8, 8, 12));
        assert_eq!(built("torus(2,3)").coordinates().unwrap().wraps, [false, true]);
    }

    #[test]
    fn refuses_a_dimension_of_one() {
        assert_eq!(
            refused("torus(3,1,3)"),
            "torus needs at least 2 nodes per dimension, got 3x1x3 (use `mesh` to drop a dimension)"
        );
    }

    #[test]
    fn deals_a_total_of_nodes_evenly() {
        let machine = built("torus(3,3; 1; nodes=11)");
        let on = |switch: u32| {
            let ends = machine.endpoints().map(|e| machine.head(machine.injection(e)));
            ends.filter(|end| end.vertex.0 == switch).map(|end| end.port).collect::<Vec<_>>()
        };
        assert_eq!((on(0), on(1), on(2), on(8)), (vec![5, 6], vec![5, 6], vec![5], vec![5]));
    }
}
