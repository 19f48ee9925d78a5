//! Extended generalised fat tree `XGFT(h; m1..mh; w1..wh)`: each level has its own numbers of children and parents.
//!
//! Nodes are level 0, switches levels 1 to `h`. A part at level `i` is a word of `h` digits: positions 1 to `i` count
//! to `w`, positions `i + 1` to `h` count to `m`; it is cabled to the `w(i+1)` parts above whose words differ from its
//! own at most in position `i + 1`. A node has `w1` ports; as nodes do not forward, the machine has `w1` planes.
//!
//! Source: Öhring, Ibel, Das, Kumar, "On Generalized Fat Trees", IPPS 1995.

use super::limits::{Size, product};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The extended generalised fat tree generator.
pub struct Xgft;

impl Generator for Xgft {
    fn name(&self) -> &'static str {
        "xgft"
    }

    fn summary(&self) -> &'static str {
        "extended generalised fat tree XGFT(h; m1..mh; w1..wh) (Öhring et al. 1995)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "height",
                doc: "`h`: levels of switches",
                kind: Kind::Int(1, 16),
                default: None,
            },
            Param {
                name: "children",
                doc: "`m1..mh`: parts below a switch of level 1 to h",
                kind: Kind::Ints(1, 254),
                default: None,
            },
            Param {
                name: "parents",
                doc: "`w1..wh`: switches above a part of level 0 (the nodes) to h-1",
                kind: Kind::Ints(1, 254),
                default: None,
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let tree = Tree { children: args.ints("children"), parents: args.ints("parents") };
        let (height, below, above) = (args.int("height"), tree.children.len(), tree.parents.len());
        if below as u64 != height || above as u64 != height {
            return Err(GeneratorError::Impossible(format!(
                "XGFT of height {height} needs {height} numbers of children and of parents, got \
                 {below} and {above} (write XGFT(2; 16,16; 1,16))"
            )));
        }
        tree.build(context)
    }
}

/// `m` and `w` of the paper, index 0 for level 1.
struct Tree<'a> {
    children: &'a [u64],
    parents: &'a [u64],
}

impl Tree<'_> {
    /// Number of parts at `level`; level 0 are the nodes.
    fn count(&self, level: usize) -> u64 {
        let (above, below) = (&self.children[level..], &self.parents[..level]);
        product(above.iter().chain(below).copied())
    }

    /// Ports of a switch at `level`, from 1.
    fn radix(&self, level: usize) -> u64 {
        self.children[level - 1] + self.parents.get(level).copied().unwrap_or(0)
    }

    fn build(&self, context: &Context) -> Result<Machine, GeneratorError> {
        let height = self.children.len();
        let mut size = Size { switches: 0, nodes: self.count(0), ports: 0 };
        for level in 1..=height {
            let ports = self.count(level).saturating_mul(self.radix(level));
            size.switches = size.switches.saturating_add(self.count(level));
            size.ports = size.ports.saturating_add(ports);
        }
        size.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        // INVARIANT: the parameter's bounds fit a port number.
        let node_ports = self.parents[0] as u8;
        let mut lower: Vec<Part> =
            (0..size.nodes).map(|node| builder.node(format!("n{node}"), node_ports)).collect();
        let mut low = 1;
        for level in 1..=height {
            let upper = self.add_level(&mut builder, level)?;
            let (children, parents) = (self.children[level - 1], self.parents[level - 1]);
            for (index, &part) in (0..).zip(&lower) {
                // Both words have the same digits in the positions before (`rest`) and after (`high`) this one.
                let (high, rest): (u64, u64) = (index / (children * low), index % low);
                for parent in 0..parents {
                    let above = (high * parents + parent) * low + rest;
                    builder.cable(part, upper[above as usize], context.rate);
                }
            }
            lower = upper;
            low *= parents;
        }
        Ok(builder.build()?)
    }

    fn add_level(&self, builder: &mut Builder, level: usize) -> Result<Vec<Part>, GeneratorError> {
        let mut switches = Vec::new();
        for index in 0..self.count(level) {
            switches.push(builder.switch(format!("s{level}.{index}"), self.radix(level))?);
        }
        Ok(switches)
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn sizes_follow_oehring() {
        for (m, w) in [([4, 3, 2], [1, 2, 3]), ([2, 2, 5], [2, 3, 1]), ([3, 1, 2], [1, 1, 1])] {
            let list = |all: [usize; 3]| all.map(|one| one.to_string()).join(",");
            let machine = built(&format!("XGFT(3; {}; {})", list(m), list(w)));
            let level = |i: usize| w[..i].iter().chain(&m[i..]).product::<usize>();
            let switches = (1..=3).map(level).sum();
            let links = level(1) * w[1] + level(2) * w[2];
            assert_eq!(sizes(&machine), (switches, level(0), links));
            assert_eq!(machine.endpoint_count(), level(0) * w[0]);
            assert_eq!(machine.plane_count(), w[0]);
        }
    }

    #[test]
    fn a_full_bisection_tree_is_the_kary_ntree() {
        let machine = built("xgft(2; 4,4; 1,4)");
        assert_eq!(sizes(&machine), sizes(&built("4-ary 2-tree")));
        assert_eq!(diameter(&machine), diameter(&built("4-ary 2-tree")));
    }

    #[test]
    fn switches_of_neighbouring_levels_join_where_words_agree() {
        // XGFT(2; 2,3; 1,2): 3 leaves of 2 nodes, each below both tops.
        let machine = built("xgft(2; 2,3; 1,2)");
        for leaf in 0..3u32 {
            let heads =
                machine.channels_from(crate::ids::VertexId(leaf)).map(|c| machine.head(c).vertex.0);
            assert_eq!(heads.collect::<Vec<_>>(), [5 + 2 * leaf, 6 + 2 * leaf, 3, 4]);
        }
    }

    #[test]
    fn refuses_lists_that_do_not_match_the_height() {
        assert_eq!(
            refused("XGFT(3; 4,4; 1,4,4)"),
            "XGFT of height 3 needs 3 numbers of children and of parents, got 2 and 3 (write \
             XGFT(2; 16,16; 1,16))"
        );
    }
}
