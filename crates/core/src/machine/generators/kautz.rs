//! Kautz graph `K(b, n)` of switches, each arc a cable: words of `n` letters out of `b + 1`, neighbours different.
//!
//! There are `(b + 1) b^(n-1)` switches; word `s1 s2 .. sn` has an arc to each `s2 .. sn x` with `x` unlike `sn`.
//! Cables have no direction, so every arc becomes `r` cables that both directions use, and a switch has `2 b r` ports
//! for them. No arc is a loop, as neighbouring letters differ; the two opposite arcs between words of two alternating
//! letters become `2 r` cables. The undirected diameter is at most `n`. Ports: nodes first, then arcs in order of
//! words.
//!
//! Source: Kautz, "Bounds on Directed (d, k) Graphs", 1968; as a fabric in Domke, Hoefler, Matsuoka, SC14.

use super::limits::{Size, product};
use super::mesh::PARALLEL;
use super::nodes::{NODES, NODES_PER_SWITCH, attach_evenly, node_total};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine};
use crate::params::{Args, Kind, Param};

/// The Kautz graph generator.
pub struct Kautz;

impl Generator for Kautz {
    fn name(&self) -> &'static str {
        "kautz"
    }

    fn summary(&self) -> &'static str {
        "Kautz graph K(b, n), every arc a bundle of cables (Kautz 1968)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "base",
                doc: "`b`: arcs that leave a switch",
                kind: Kind::Int(1, 126),
                default: None,
            },
            Param {
                name: "length",
                doc: "`n`: letters of a word",
                kind: Kind::Int(1, 20),
                default: None,
            },
            PARALLEL,
            NODES_PER_SWITCH,
            NODES,
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (base, length, parallel) =
            (args.int("base"), args.count("length"), args.int("parallel"));
        let words = Words { base, tails: base.saturating_pow(length - 1), length };
        let switch_count = words.tails.saturating_mul(base + 1);
        let nodes = node_total(args, switch_count);
        let radix = nodes.div_ceil(switch_count) + 2 * base * parallel;
        let ports = product([switch_count, radix]);
        Size { switches: switch_count, nodes, ports }.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let mut switches = Vec::new();
        for index in 0..switch_count {
            let name =
                words.letters(index).iter().map(u64::to_string).collect::<Vec<_>>().join(".");
            switches.push(builder.switch(format!("s{name}"), radix)?);
        }
        attach_evenly(&mut builder, &switches, nodes, context.rate);
        for index in 0..switch_count {
            let mut letters = words.letters(index);
            let last = letters[letters.len() - 1];
            letters.rotate_left(1);
            for letter in (0..=base).filter(|&letter| letter != last) {
                if let Some(end) = letters.last_mut() {
                    *end = letter;
                }
                let to = words.index(&letters);
                for _ in 0..parallel {
                    builder.cable(switches[index as usize], switches[to as usize], context.rate);
                }
            }
        }
        Ok(builder.build()?)
    }
}

/// The words of a Kautz graph in lexicographic order.
struct Words {
    base: u64,
    length: u32,
    /// Words that begin with one letter.
    tails: u64,
}

impl Words {
    fn letters(&self, index: u64) -> Vec<u64> {
        let mut letters = vec![index / self.tails];
        let (mut rest, mut weight) = (index % self.tails, self.tails);
        for place in 1..self.length as usize {
            weight /= self.base;
            // Rank among the letters unlike the one before.
            let rank = rest / weight;
            letters.push(rank + u64::from(rank >= letters[place - 1]));
            rest %= weight;
        }
        letters
    }

    fn index(&self, letters: &[u64]) -> u64 {
        let ranks = letters.windows(2).map(|pair| pair[1] - u64::from(pair[1] > pair[0]));
        ranks.fold(letters[0], |index, rank| index * self.base + rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn words_are_numbered_in_order() {
        let words = Words { base: 3, length: 3, tails: 9 };
        for index in 0..36 {
            let letters = words.letters(index);
            assert!(letters.windows(2).all(|pair| pair[0] != pair[1]));
            assert_eq!(words.index(&letters), index);
        }
        assert_eq!((words.letters(0), words.letters(35)), (vec![0, 1, 0], vec![3, 2, 3]));
    }

    #[test]
    fn sizes_and_diameter_follow_kautz() {
        for (b, n) in [(1usize, 3u32), (2, 1), (2, 4), (3, 3), (4, 2)] {
            let machine = built(&format!("kautz({b},{n},2)"));
            let switches = (b + 1) * b.pow(n - 1);
            assert_eq!(sizes(&machine), (switches, switches, 2 * b * switches));
            assert!(diameter(&machine) <= n as usize);
        }
    }

    #[test]
    fn the_kautz_networks_of_the_studies_have_their_counts() {
        assert_eq!(sizes(&built("kautz(3,3, nodes=252)")), (36, 252, 108));
        assert_eq!(sizes(&built("kautz(5; 3; 2; 7)")), (150, 1050, 1500));
        assert_eq!(sizes(&built("kautz(7; 3; 1; 6)")), (392, 2352, 2744));
    }

    #[test]
    fn opposite_arcs_are_two_cables() {
        let machine = built("kautz(2; 1)");
        assert_eq!(sizes(&machine), (3, 3, 6));
    }

    #[test]
    fn refuses_too_many_words_and_ports() {
        assert!(refused("kautz(126; 20)").contains("2^64 or more switches"));
        assert!(refused("kautz(10; 2; 20)").contains("this one would need 401"));
    }
}
