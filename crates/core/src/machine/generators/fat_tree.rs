//! Two- and three-level fat trees of switches with one radix `R`, with an oversubscription ratio at the leaves.
//!
//! A leaf with ratio `s` (ports down to ports up) has `u = ceil(R / (1 + s))` ports up and `R - u` for nodes, so it is
//! never more oversubscribed than asked; 36 ports make 18 + 18 at 1:1 and 24 + 12 at 2:1. Above the leaves nothing is
//! oversubscribed. Two levels: every leaf is cabled equally to every spine. Three levels: pods of up to `R / 2` leaves
//! below `u` middle switches, and the k-th middle switches of all pods are joined by the k-th row of cores. Full, that
//! is `R (R - u)` nodes, or `R floor(R / 2) (R - u)` in three levels: 11,664 for `R` = 36 at 1:1.
//!
//! Fewer nodes than that take the fewest leaves and pods, equally filled, and the fewest spines, middles and cores that
//! can still be cabled equally (a divisor of the uplinks), with parallel cables.
//!
//! Source: Leiserson, "Fat-Trees: Universal Networks for Hardware-Efficient Supercomputing", IEEE Trans. Computers
//! C-34(10), 1985; the pods as in Al-Fares, Loukissas, Vahdat, "A Scalable, Commodity Data Center Network
//! Architecture", SIGCOMM 2008.

use super::limits::{Size, product};
use super::nodes::{attach_evenly, share};
use super::oversubscription::Oversubscription;
use super::spines::{join, spine_count};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The fat-tree generator.
pub struct FatTree;

impl Generator for FatTree {
    fn name(&self) -> &'static str {
        "fat-tree"
    }

    fn summary(&self) -> &'static str {
        "two- or three-level fat tree of equal switches, oversubscribed or not (Leiserson 1985, \
         Al-Fares et al. 2008)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "radix",
                doc: "`R`: ports of every switch",
                kind: Kind::Int(2, 254),
                default: None,
            },
            Param {
                name: "levels",
                doc: "levels of switches, 2 or 3",
                kind: Kind::Int(2, 3),
                default: Some("2"),
            },
            OVERSUBSCRIPTION,
            Param {
                name: "nodes",
                doc: "number of nodes, in equal shares to the leaves; 0 means as many as the tree \
                      can hold",
                kind: Kind::Int(0, 4_000_000),
                default: Some("0"),
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let radix = args.int("radix");
        let (down, up) = Oversubscription::read(args.text("oversubscription"))?.split(radix)?;
        let levels = args.int("levels");
        let most_leaves = if levels == 2 { radix } else { radix * (radix / 2) };
        let nodes = match args.int("nodes") {
            0 => most_leaves * down,
            nodes => nodes,
        };
        if nodes > most_leaves * down {
            return Err(GeneratorError::Impossible(format!(
                "{levels} levels of {radix}-port switches with {down} ports down and {up} up at a \
                 leaf hold at most {} nodes, got {nodes}; take 3 levels, a larger radix or a \
                 larger oversubscription",
                most_leaves * down
            )));
        }
        let leaves = nodes.div_ceil(down);
        let tree = Tree { radix, nodes, leaves, up };
        if levels == 2 { tree.two_levels(context) } else { tree.three_levels(context) }
    }
}

/// Ports down to ports up at the leaves of a tree.
pub const OVERSUBSCRIPTION: Param = Param {
    name: "oversubscription",
    doc: "ports down to ports up at a leaf, as in 2:1 or 1.5; the leaf rounds in favour of ports \
          up",
    kind: Kind::Text,
    default: Some("1:1"),
};

struct Tree {
    radix: u64,
    nodes: u64,
    leaves: u64,
    /// Ports of a leaf for the level above.
    up: u64,
}

impl Tree {
    fn two_levels(&self, context: &Context) -> Result<Machine, GeneratorError> {
        let spines =
            spine_count(self.leaves, self.up, self.radix).ok_or_else(|| self.too_wide())?;
        self.check(self.leaves + spines, context)?;
        let mut builder = Builder::new(&context.name, true);
        let leaves = self.row(&mut builder, "leaf", self.leaves)?;
        let spines = self.row(&mut builder, "spine", spines)?;
        attach_evenly(&mut builder, &leaves, self.nodes, context.rate);
        join(&mut builder, &leaves, &spines, self.up, context.rate);
        Ok(builder.build()?)
    }

    fn three_levels(&self, context: &Context) -> Result<Machine, GeneratorError> {
        // An odd port of a middle switch goes up, as at the leaves.
        let (middle_down, middle_up) = (self.radix / 2, self.radix.div_ceil(2));
        let pods = self.leaves.div_ceil(middle_down);
        let most = self.leaves.div_ceil(pods);
        let middles = spine_count(most, self.up, middle_down).ok_or_else(|| self.too_wide())?;
        let cores = spine_count(pods, middle_up, self.radix).ok_or_else(|| self.too_wide())?;
        self.check(self.leaves + middles * (pods + cores), context)?;
        let mut builder = Builder::new(&context.name, true);
        let leaves = self.row(&mut builder, "leaf", self.leaves)?;
        let middle = self.row(&mut builder, "middle", pods * middles)?;
        let core = self.row(&mut builder, "core", middles * cores)?;
        attach_evenly(&mut builder, &leaves, self.nodes, context.rate);
        let mut first = 0;
        for (pod, middle) in middle.chunks(middles as usize).enumerate() {
            let after = first + share(self.leaves, pods, pod as u64) as usize;
            join(&mut builder, &leaves[first..after], middle, self.up, context.rate);
            for &part in leaves[first..after].iter().chain(middle) {
                builder.group("pod", &format!("pod{pod}"), part);
            }
            first = after;
        }
        for (index, core) in core.chunks(cores as usize).enumerate() {
            let row: Vec<Part> =
                middle.iter().copied().skip(index).step_by(middles as usize).collect();
            join(&mut builder, &row, core, middle_up, context.rate);
        }
        Ok(builder.build()?)
    }

    fn row(
        &self,
        builder: &mut Builder,
        name: &str,
        count: u64,
    ) -> Result<Vec<Part>, GeneratorError> {
        let switch = |index| Ok(builder.switch(format!("{name}{index}"), self.radix)?);
        (0..count).map(switch).collect()
    }

    fn check(&self, switches: u64, context: &Context) -> Result<(), GeneratorError> {
        let ports = product([switches, self.radix]);
        Size { switches, nodes: self.nodes, ports }.check(&context.name)
    }

    /// Not reached while the number of nodes is checked; kept as a sentence, not a panic.
    fn too_wide(&self) -> GeneratorError {
        GeneratorError::Impossible(format!(
            "{} leaves are more than {}-port switches can join; take fewer nodes or a larger radix",
            self.leaves, self.radix
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn full_trees_follow_the_closed_forms() {
        for radix in [2usize, 4, 6, 10] {
            let half = radix / 2;
            let machine = built(&format!("fat-tree({radix}; 2)"));
            assert_eq!(sizes(&machine), (radix + half, radix * half, radix * half));
            let machine = built(&format!("fat-tree({radix}; 3)"));
            let links = 2 * radix * half * half;
            assert_eq!(sizes(&machine), (5 * half * half, radix * half * half, links));
            assert_eq!(diameter(&machine), 4);
        }
    }

    #[test]
    fn the_36_port_three_level_tree_has_11664_nodes() {
        let machine = built("fat-tree(36; 3)");
        assert_eq!(sizes(&machine), (648 + 648 + 324, 11_664, 2 * 11_664));
        assert_eq!(machine.plane_count(), 1);
        assert_eq!(machine.level("pod").unwrap().groups.len(), 36);
    }

    #[test]
    fn an_oversubscribed_leaf_splits_its_ports() {
        let machine = built("fat-tree(36; 2; 2:1)");
        assert_eq!(sizes(&machine), (36 + 12, 36 * 24, 36 * 12));
        let machine = built("fat-tree(36; 3; 2:1)");
        assert_eq!(sizes(&machine), (648 + 36 * 12 + 12 * 18, 648 * 24, 2 * 648 * 12));
    }

    #[test]
    fn fewer_nodes_take_fewer_switches_and_parallel_cables() {
        // The 324-port director: 18 leaves, 9 spines, two cables between any two.
        assert_eq!(sizes(&built("fat-tree(36; 2; nodes=324)")), (27, 324, 324));
        let machine = built("fat-tree(36; 3; nodes=1000)");
        assert_eq!((machine.node_count(), machine.plane_count()), (1000, 1));
        let leaves = machine.endpoints().map(|e| machine.head(machine.injection(e)).vertex.0);
        assert_eq!(leaves.max(), Some(55));
    }

    #[test]
    fn refuses_more_nodes_than_fit() {
        assert_eq!(
            refused("fat-tree(36; 2; 1:1; 649)"),
            "2 levels of 36-port switches with 18 ports down and 18 up at a leaf hold at most 648 \
             nodes, got 649; take 3 levels, a larger radix or a larger oversubscription"
        );
        assert!(refused("fat-tree(36; 2; 1:1000)").contains("needs all of them as uplinks"));
        assert!(refused("fat-tree(254; 3)").contains("and 4096766 nodes; at most"));
        assert!(refused("fat-tree(36; 2; fast)").contains("got `fast`"));
    }
}
