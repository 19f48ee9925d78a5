//! TSUBAME2.0 at Tokyo Tech, reconstructed: two rails of edge switches below six 324-port directors each.
//!
//! Synthetic: built from public counts, not from a recorded fabric. Known: 1,408 compute nodes with a port in each of
//! two independent rails, 1,555 nodes, about 500 switches and 7,000 switch links, Grid Director 4700 (324 ports) above
//! Grid Director 4036 (36 ports), full bisection. A full edge switch has 18 nodes and 18 uplinks, 3 to each director.
//!
//! GUESS, fitted so that the totals come out: rail 1 has 98 edge switches and also serves the 147 storage and service
//! nodes (260 switches, 3,708 links); rail 2 has 81, three of them with 2 uplinks to each director (243 switches, 3,384
//! links). Nodes 0 to 1403 fill 78 edge switches of each rail in order; the others share the remaining ones equally.
//! Uplinks take a director's leaf chips in turn.
//!
//! Source: Domke, Hoefler, Matsuoka, "Fail-in-Place Network Design", SC14 (counts), and public pages on the machine.

use super::director::{D324, Director};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};
use crate::units::LinkRate;

/// The TSUBAME2.0 generator.
pub struct Tsubame2;

impl Generator for Tsubame2 {
    fn name(&self) -> &'static str {
        "tsubame2"
    }

    fn summary(&self) -> &'static str {
        "synthetic reconstruction of TSUBAME2.0, both rails or the second (counts of Domke et al. \
         2014)"
    }

    fn params(&self) -> &'static [Param] {
        &[Param {
            name: "rails",
            doc: "2: both rails, a compute node has a port in each; 1: the second rail alone, \
                  compute nodes only",
            kind: Kind::Int(1, 2),
            default: Some("2"),
        }]
    }

    fn rate(&self) -> LinkRate {
        LinkRate::QDR
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let rails: &[Rail] = if args.int("rails") == 2 { &[FIRST, SECOND] } else { &[SECOND] };
        let mut builder = Builder::new(&context.name, true);
        let mut edges = Vec::new();
        for rail in rails {
            edges.push(rail.add_switches(&mut builder, context)?);
        }
        let (ports, services) = if rails.len() == 2 { (2, SERVICE_NODES) } else { (1, 0) };
        let compute = (0..COMPUTE_NODES).map(|index| builder.node(format!("n{index}"), ports));
        let mut nodes: Vec<Part> = compute.collect();
        nodes.extend((0..services).map(|index| builder.node(format!("service{index}"), 1)));
        for (rail, edges) in rails.iter().zip(edges) {
            let served = if rail.services { nodes.len() } else { COMPUTE_NODES };
            for (index, &node) in nodes[..served].iter().enumerate() {
                let edge = if index < FULL_EDGES * EDGE_NODES {
                    index / EDGE_NODES
                } else {
                    FULL_EDGES + index % (edges.len() - FULL_EDGES)
                };
                builder.cable(node, edges[edge], context.rate);
            }
        }
        Ok(builder.build()?)
    }
}

const COMPUTE_NODES: usize = 1408;
/// Storage, login and management: 1,555 nodes less the compute nodes.
const SERVICE_NODES: usize = 147;
/// Edge switches of either rail that are full of compute nodes.
const FULL_EDGES: usize = 78;
const EDGE_NODES: usize = 18;
/// Directors of a rail.
const DIRECTORS: u64 = 6;
const EDGE_PORTS: u64 = 36;

/// What is known and guessed of one rail.
struct Rail {
    number: u64,
    edges: usize,
    /// Uplinks to each director of an edge switch that is full of compute nodes, and of the others.
    uplinks: [u64; 2],
    services: bool,
}

const FIRST: Rail = Rail { number: 1, edges: 98, uplinks: [3, 3], services: true };
const SECOND: Rail = Rail { number: 2, edges: 81, uplinks: [3, 2], services: false };

impl Rail {
    /// Adds the rail's switches, cabled, and gives its edge switches.
    fn add_switches(
        &self,
        builder: &mut Builder,
        context: &Context,
    ) -> Result<Vec<Part>, GeneratorError> {
        let rail = format!("rail{}", self.number);
        let mut directors: Vec<Director> = Vec::new();
        for index in 0..DIRECTORS {
            let (name, number) = (format!("{rail}.core{index}"), self.number * DIRECTORS + index);
            directors.push(D324.build(builder, &name, number, context.rate)?);
        }
        for &chip in
            directors.iter().flat_map(|director| director.leaves.iter().chain(&director.spines))
        {
            builder.group("rail", &rail, chip);
        }
        let mut edges = Vec::new();
        for index in 0..self.edges {
            let edge = builder.switch(format!("{rail}.edge{index}"), EDGE_PORTS)?;
            builder.group("rail", &rail, edge);
            for director in &mut directors {
                for _ in 0..self.uplinks[usize::from(index >= FULL_EDGES)] {
                    builder.cable(edge, director.next_leaf(), context.rate);
                }
            }
            edges.push(edge);
        }
        Ok(edges)
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn both_rails_have_the_public_totals() {
        let machine = built("tsubame2");
        assert_eq!(sizes(&machine), (503, 1555, 3708 + 3384));
        assert_eq!((machine.plane_count(), machine.endpoint_count()), (2, 2 * 1408 + 147));
        for node in machine.nodes() {
            let planes: Vec<_> =
                machine.endpoints_of(node).map(|e| machine.plane_of_endpoint(e)).collect();
            assert_eq!(planes, if node.index() < 1408 { vec![0, 1] } else { vec![0] });
        }
        assert!(machine.synthetic());
    }

    #[test]
    fn the_second_rail_alone_is_that_of_the_routing_studies() {
        let machine = built("tsubame2(1)");
        assert_eq!(sizes(&machine), (243, 1408, 3384));
        assert_eq!((machine.plane_count(), machine.endpoint_count()), (1, 1408));
        assert!(diameter(&machine) <= 6);
        assert_eq!(machine.level("chassis").unwrap().groups.len(), 6);
    }

    #[test]
    fn refuses_a_third_rail() {
        assert_eq!(
            refused("tsubame2(3)"),
            "tsubame2: `rails` is a whole number from 1 to 2, got `3`"
        );
    }
}
