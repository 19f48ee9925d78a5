//! Deimos at TU Dresden, reconstructed: three 288-port directors in a row, 728 nodes, 108 switches.
//!
//! Synthetic: built from public counts, not from a recorded fabric. Known: 728 nodes on three ISR 9288 directors of
//! 24-port chips, 3 x 36 = 108 switches, about 1,600 links; 864 internal and 728 node cables make 1,592. GUESS: the
//! directors form a chain with 30 cables a hop; trunk cables go to leaf chips in turn; nodes fill the remaining
//! external ports in equal rounds over all leaf chips.
//!
//! Source: Domke, Hoefler, Matsuoka, "Fail-in-Place Network Design", SC14 (counts).

use super::director::{D288, Director};
use super::nodes::attach_shares;
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};
use crate::units::{LinkRate, Speed};

/// The Deimos generator.
pub struct Deimos;

impl Generator for Deimos {
    fn name(&self) -> &'static str {
        "deimos"
    }

    fn summary(&self) -> &'static str {
        "synthetic reconstruction of Deimos: three chained 288-port directors (counts of Domke et \
         al. 2014)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "trunk",
                doc: "cables between neighbouring directors (GUESS: 30)",
                kind: Kind::Int(1, 144),
                default: Some("30"),
            },
            Param {
                name: "nodes",
                doc: "number of nodes",
                kind: Kind::Int(1, 860),
                default: Some("728"),
            },
        ]
    }

    // GUESS: the study's tools take an old dump without rates as DDR.
    fn rate(&self) -> LinkRate {
        LinkRate { lanes: 4, speed: Speed::Ddr }
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (trunk, nodes) = (args.int("trunk"), args.int("nodes"));
        let room = DIRECTORS * D288.ports - 2 * HOPS * trunk;
        if nodes > room {
            return Err(GeneratorError::Impossible(format!(
                "three 288-port directors with {trunk} cables a hop have {room} ports for nodes, \
                 got {nodes}; take fewer nodes or trunk cables"
            )));
        }
        let mut builder = Builder::new(&context.name, true);
        let mut directors: Vec<Director> = Vec::new();
        for number in 0..DIRECTORS {
            let name = format!("director{number}");
            directors.push(D288.build(&mut builder, &name, number, context.rate)?);
        }
        let leaves: Vec<Part> =
            directors.iter().flat_map(|director| director.leaves.iter().copied()).collect();
        let mut free = vec![D288.external(); leaves.len()];
        for hop in 0..HOPS as usize {
            for _ in 0..trunk {
                let ends = [hop, hop + 1].map(|at| directors[at].next_leaf());
                builder.cable(ends[0], ends[1], context.rate);
                for (leaf, free) in leaves.iter().zip(&mut free) {
                    *free -= u64::from(ends.contains(leaf));
                }
            }
        }
        let shares = deal(nodes, &free);
        attach_shares(&mut builder, leaves.into_iter().zip(shares), context.rate);
        Ok(builder.build()?)
    }
}

const DIRECTORS: u64 = 3;
/// Joints of the chain.
const HOPS: u64 = DIRECTORS - 1;

/// Deals `count` nodes in rounds: each round gives one to every leaf with a free port.
fn deal(count: u64, free: &[u64]) -> Vec<u64> {
    let mut shares = vec![0; free.len()];
    let mut left = count.min(free.iter().sum());
    while left > 0 {
        for (share, free) in shares.iter_mut().zip(free) {
            if *share < *free && left > 0 {
                *share += 1;
                left -= 1;
            }
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn counts_are_those_of_the_study() {
        let machine = built("deimos");
        assert_eq!(sizes(&machine), (108, 728, 864 + 60));
        // "About 1,600 links": internal and node cables, without the guessed trunks.
        assert_eq!(machine.link_count() - 60, 1592);
        assert_eq!((machine.plane_count(), machine.level("chassis").unwrap().groups.len()), (1, 3));
        assert!(diameter(&machine) <= 8);
        assert!(machine.synthetic());
    }

    #[test]
    fn nodes_are_dealt_in_rounds() {
        assert_eq!(deal(7, &[1, 5, 3]), [1, 3, 3]);
        assert_eq!(deal(9, &[1, 5, 3]), [1, 5, 3]);
    }

    #[test]
    fn refuses_more_nodes_than_ports() {
        assert_eq!(
            refused("deimos(nodes=745)"),
            "three 288-port directors with 30 cables a hop have 744 ports for nodes, got 745; take \
             fewer nodes or trunk cables"
        );
        assert_eq!(built("deimos(nodes=744)").node_count(), 744);
        assert_eq!(built("deimos(144; 288)").node_count(), 288);
    }
}
