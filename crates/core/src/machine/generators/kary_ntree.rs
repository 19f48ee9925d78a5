//! k-ary n-tree: `k^n` nodes under `n` levels of `k^(n-1)` switches, full bisection.
//!
//! Switch `(l, w)` stands at level `l` (0 = leaves) with `w` an (n-1)-digit number in base k; it is cabled to the k
//! switches one level up whose digits differ from `w` at most in digit `l`. Top switches have k ports, the others 2 k.
//! Fewer or more nodes than `k^n` may be attached (the unbalanced trees of the fail-in-place study): leaves get equal
//! shares, the first leaves one more, and such a leaf has more than 2 k ports.
//!
//! Source: Petrini and Vanneschi, "k-ary n-trees: High Performance Networks for Massively Parallel Architectures",
//! IPPS 1997.

use super::limits::Size;
use super::nodes::attach_evenly;
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine};
use crate::params::{Args, Kind, Param};

/// The k-ary n-tree generator.
pub struct KaryNtree;

impl Generator for KaryNtree {
    fn name(&self) -> &'static str {
        "kary-ntree"
    }

    fn summary(&self) -> &'static str {
        "k-ary n-tree, also written `16-ary 2-tree` (Petrini and Vanneschi 1997)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "arity",
                doc: "`k`: switches above (and below) a switch",
                kind: Kind::Int(2, 127),
                default: None,
            },
            Param {
                name: "levels",
                doc: "`n`: levels of switches",
                kind: Kind::Int(1, 8),
                default: None,
            },
            Param {
                name: "nodes",
                doc: "number of nodes, in equal shares to the leaves; 0 means k^n",
                kind: Kind::Int(0, 4_000_000),
                default: Some("0"),
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (arity, levels) = (args.int("arity"), args.int("levels") as u32);
        let leaves = arity.pow(levels - 1);
        let node_count = match args.int("nodes") {
            0 => leaves * arity,
            nodes => nodes,
        };
        let switches = leaves * u64::from(levels);
        let ports = switches.saturating_mul(arity + arity.max(node_count.div_ceil(leaves)));
        Size { switches, nodes: node_count, ports }.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let mut switches = Vec::new();
        for level in 0..u64::from(levels) {
            let below = if level == 0 { node_count.div_ceil(leaves) } else { arity };
            let above = if level + 1 == u64::from(levels) { 0 } else { arity };
            for word in 0..leaves {
                switches.push(builder.switch(format!("s{level}.{word}"), (below + above).max(1))?);
            }
        }
        let switch = |level: u64, word: u64| switches[(level * leaves + word) as usize];
        attach_evenly(&mut builder, &switches[..leaves as usize], node_count, context.rate);
        for level in 0..u64::from(levels) - 1 {
            let weight = arity.pow(level as u32);
            for word in 0..leaves {
                let digit = word / weight % arity;
                for above in 0..arity {
                    let upper = word - digit * weight + above * weight;
                    builder.cable(switch(level, word), switch(level + 1, upper), context.rate);
                }
            }
        }
        Ok(builder.build()?)
    }
}

/// Reads `16-ary 2-tree` as `kary-ntree(16; 2)`.
#[must_use]
pub fn notation(text: &str) -> Option<String> {
    let (arity, rest) = text.trim().split_once("-ary")?;
    let levels = rest.trim().strip_suffix("-tree")?;
    Some(format!("kary-ntree({};{})", arity.trim(), levels.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use crate::params::Given;
    use crate::rng::Seed;

    #[test]
    fn sizes_follow_petrini_and_vanneschi() {
        for (arity, levels) in [(2u32, 1u32), (2, 3), (4, 3), (16, 2)] {
            let machine =
                make(&format!("{arity}-ary {levels}-tree"), &Given::new(), Seed(1)).unwrap();
            let (arity, leaves) = (arity as usize, (arity as usize).pow(levels - 1));
            assert_eq!(machine.node_count(), leaves * arity);
            assert_eq!(machine.switch_count(), leaves * levels as usize);
            assert_eq!(machine.switch_links().count(), leaves * arity * (levels as usize - 1));
            assert_eq!(machine.plane_count(), 1);
        }
    }

    #[test]
    fn deals_extra_nodes_round_robin_as_in_the_unbalanced_tree_of_the_study() {
        let machine = make("kary-ntree(16;2;270)", &Given::new(), Seed(1)).unwrap();
        assert_eq!(machine.node_count(), 270);
        let at = |leaf: u32| {
            let ends = machine.endpoints().map(|e| machine.head(machine.injection(e)).vertex.0);
            ends.filter(|&end| end == leaf).count()
        };
        assert_eq!((at(0), at(13), at(14), at(15)), (17, 17, 16, 16));
    }
}
