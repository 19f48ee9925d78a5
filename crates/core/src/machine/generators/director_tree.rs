//! Trees of director switches: one box alone, or edge boxes below top boxes.
//!
//! In a two-level tree every leaf chip of an edge box splits its external ports between nodes and uplinks by the
//! oversubscription ratio, in favour of uplinks (8 to 4 on the 12 ports of a 144-port box at 2:1, as in Chinook). The
//! uplinks go to the top boxes in turn, and within a top box to its leaf chips in turn, so both are evenly used; a leaf
//! chip with fewer uplinks than there are top boxes reaches the others through its own spines. How real machines are
//! cabled between boxes is rarely published: this order is a GUESS.
//!
//! Source: Vishnu, Krishnan, Panda, "An Efficient Hardware-Software Approach to Network Fault
//! Tolerance with InfiniBand", 2010, Figures 3 and 4.
//! Departs from it: the variant that uses free spine ports for uplinks is left out.

use super::director::{D144, D288, D324, D648, Director, Model};
use super::fat_tree::OVERSUBSCRIPTION;
use super::limits::{Size, product};
use super::nodes::attach_evenly;
use super::oversubscription::Oversubscription;
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The director-tree generator.
pub struct DirectorTree;

impl Generator for DirectorTree {
    fn name(&self) -> &'static str {
        "director-tree"
    }

    fn summary(&self) -> &'static str {
        "one director switch, or a two-level tree of them, down to the crossbar chips (Vishnu et \
         al. 2010)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "ports",
                doc: "external ports of a box: 144 or 288 (24-port chips), 324 or 648 (36-port \
                      chips)",
                kind: Kind::Choice(&["144", "288", "324", "648"]),
                default: None,
            },
            Param {
                name: "edges",
                doc: "boxes with nodes; 1 is a box alone",
                kind: Kind::Int(1, 1_000),
                default: Some("1"),
            },
            Param {
                name: "tops",
                doc: "boxes above the edge boxes; 0 means as few as have the ports (none above a \
                      box alone)",
                kind: Kind::Int(0, 1_000),
                default: Some("0"),
            },
            OVERSUBSCRIPTION,
            Param {
                name: "nodes",
                doc: "number of nodes, in equal shares to the edge boxes' leaf chips; 0 means as \
                      many as fit",
                kind: Kind::Int(0, 4_000_000),
                default: Some("0"),
            },
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let model = match args.text("ports") {
            "144" => D144,
            "288" => D288,
            "324" => D324,
            _ => D648,
        };
        let ratio = Oversubscription::read(args.text("oversubscription"))?;
        let edges = args.int("edges");
        let (down, up) =
            if edges == 1 { (model.external(), 0) } else { ratio.split(model.external())? };
        let tops = top_count(model, edges, model.leaves * up, args.int("tops"))?;
        let most = product([edges, model.leaves, down]);
        let nodes = match args.int("nodes") {
            0 => most,
            nodes => nodes,
        };
        if nodes > most {
            return Err(GeneratorError::Impossible(format!(
                "{edges} edge boxes with {down} ports for nodes at each of {} leaf chips hold at \
                 most {most} nodes, got {nodes}; take more edge boxes or a larger \
                 oversubscription",
                model.leaves
            )));
        }
        let switches = (edges + tops) * model.chips();
        Size { switches, nodes, ports: switches * model.radix }.check(&context.name)?;
        build(model, [edges, tops], up, nodes, context)
    }
}

/// The number of top boxes, checked: `uplinks` is those of one edge box.
fn top_count(model: Model, edges: u64, uplinks: u64, asked: u64) -> Result<u64, GeneratorError> {
    let least = (edges * uplinks).div_ceil(model.ports);
    let tops = if asked == 0 { least } else { asked };
    let problem = if edges == 1 && tops > 0 {
        "a box alone has no box above it; take tops=0 or more edges".to_owned()
    } else if tops < least {
        format!(
            "{edges} edge boxes have {} uplinks, {tops} top boxes have {} ports; take at least \
             {least} tops or a larger oversubscription",
            edges * uplinks,
            tops * model.ports
        )
    } else if tops > uplinks {
        format!(
            "an edge box has {uplinks} uplinks and cannot reach {tops} top boxes; take fewer tops \
             or edges, or a smaller oversubscription"
        )
    } else {
        return Ok(tops);
    };
    Err(GeneratorError::Impossible(problem))
}

fn build(
    model: Model,
    [edges, tops]: [u64; 2],
    uplinks: u64,
    nodes: u64,
    context: &Context,
) -> Result<Machine, GeneratorError> {
    let mut builder = Builder::new(&context.name, true);
    let mut boxes: Vec<Director> = Vec::new();
    for number in 0..edges + tops {
        let name =
            if number < edges { format!("edge{number}") } else { format!("top{}", number - edges) };
        boxes.push(model.build(&mut builder, &name, number, context.rate)?);
    }
    let mut top = boxes.split_off(edges as usize);
    let leaves: Vec<Part> = boxes.into_iter().flat_map(|edge| edge.leaves).collect();
    attach_evenly(&mut builder, &leaves, nodes, context.rate);
    let mut turn = 0;
    for leaf in leaves {
        for _ in 0..uplinks {
            let above = top[turn].next_leaf();
            builder.cable(leaf, above, context.rate);
            turn = (turn + 1) % top.len();
        }
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn a_lone_box_is_a_clos_network_of_its_chips() {
        for (ports, switches) in [(144, 24), (288, 36), (324, 27), (648, 54)] {
            let machine = built(&format!("director-tree({ports})"));
            assert_eq!(sizes(&machine), (switches, ports, ports));
            assert_eq!(diameter(&machine), 2);
        }
        assert_eq!(built("director-tree(144; nodes=100)").node_count(), 100);
    }

    #[test]
    fn twelve_disjoint_paths_join_leaf_blocks_of_the_144_port_box() {
        let machine = built("director-tree(144)");
        let spines =
            machine.channels_from(crate::ids::VertexId(0)).map(|c| machine.head(c).vertex.0);
        assert_eq!(
            spines.filter(|&head| head < 24).collect::<Vec<_>>(),
            (12..24).collect::<Vec<_>>()
        );
    }

    #[test]
    fn chinook_has_eight_nodes_and_four_uplinks_a_leaf_chip() {
        let machine = built("director-tree(144; 6; 2; 2:1)");
        assert_eq!(sizes(&machine), (8 * 24, 6 * 96, 8 * 144 + 6 * 48));
        assert_eq!(machine.plane_count(), 1);
        assert_eq!(machine.level("chassis").unwrap().groups.len(), 8);
    }

    #[test]
    fn full_bisection_takes_as_few_tops_as_have_the_ports() {
        let machine = built("director-tree(288; 4)");
        assert_eq!(sizes(&machine), (6 * 36, 4 * 144, 6 * 288 + 4 * 144));
    }

    #[test]
    fn refuses_trees_whose_boxes_do_not_fit() {
        let error = refused("director-tree(144; 4; 1)");
        assert!(error.contains("take at least 2 tops"), "{error}");
        assert!(refused("director-tree(144; 1; 1)").contains("take tops=0 or more edges"));
        assert!(
            refused("director-tree(144; 2; 73)")
                .contains("has 72 uplinks and cannot reach 73 top boxes")
        );
        assert!(
            refused("director-tree(144; nodes=145)").contains("hold at most 144 nodes, got 145")
        );
        let error = refused("director-tree(288; 1000; 0; 100)");
        assert!(error.contains("has 24 uplinks and cannot reach 84 top boxes"), "{error}");
        assert!(refused("director-tree(96)").contains("one of 144, 288, 324, 648"));
    }
}
