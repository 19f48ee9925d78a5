//! HyperX: switches in a grid, all to all along every dimension, `K` parallel cables in each.
//!
//! `HyperX(L, S, K, T)` is written `hyperx(S; K; T)`: the number of dimensions `L` is the length of `S`. Hamming graphs
//! and the flattened butterfly are HyperX networks. Ports stand in fixed blocks: dimension by dimension, the other
//! coordinates ascending, `K` cables each; nodes come after. Numbers count dimension 0 fastest.
//!
//! Source: Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: Topology, Routing, and Packaging of Efficient Large-Scale
//! Networks", SC09.

use super::limits::{Size, port, product};
use super::nodes::{NODES, attach_after};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Coordinates, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The HyperX generator.
pub struct Hyperx;

impl Generator for Hyperx {
    fn name(&self) -> &'static str {
        "hyperx"
    }

    fn summary(&self) -> &'static str {
        "HyperX: all to all along every dimension of a grid (Ahn et al. 2009)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "shape",
                doc: "`S`: switches in each dimension, the fastest first",
                kind: Kind::Ints(2, 254),
                default: None,
            },
            Param {
                name: "widths",
                doc: "`K`: parallel cables in each dimension, or one number for all",
                kind: Kind::Ints(1, 253),
                default: Some("1"),
            },
            Param {
                name: "terminals",
                doc: "`T`: nodes on each switch",
                kind: Kind::Int(1, 253),
                default: Some("1"),
            },
            NODES,
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (shape, widths) = (args.ints("shape"), args.ints("widths"));
        let widths = match widths {
            &[width] => vec![width; shape.len()],
            _ if widths.len() == shape.len() => widths.to_vec(),
            _ => {
                return Err(GeneratorError::Impossible(format!(
                    "hyperx with {} dimensions needs one width or {}, got {}",
                    shape.len(),
                    shape.len(),
                    widths.len()
                )));
            }
        };
        let switches = product(shape.iter().copied());
        let nodes = match args.int("nodes") {
            0 => switches.saturating_mul(args.int("terminals")),
            nodes => nodes,
        };
        Lattice { shape, widths, switches, nodes }.build(context)
    }
}

struct Lattice<'a> {
    shape: &'a [u64],
    widths: Vec<u64>,
    switches: u64,
    nodes: u64,
}

impl Lattice<'_> {
    fn build(&self, context: &Context) -> Result<Machine, GeneratorError> {
        let taken: u64 = self.shape.iter().zip(&self.widths).map(|(s, k)| (s - 1) * k).sum();
        let radix = taken + self.nodes.div_ceil(self.switches);
        let ports = product([self.switches, radix]);
        Size { switches: self.switches, nodes: self.nodes, ports }.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let mut of_switch = Vec::new();
        let mut switches = Vec::new();
        for index in 0..self.switches {
            let mut rest = index;
            let mut name = String::from("s");
            for (dimension, length) in self.shape.iter().enumerate() {
                let dot = if dimension == 0 { "" } else { "." };
                name = format!("{name}{dot}{}", rest % length);
                of_switch.push((rest % length) as u32);
                rest /= length;
            }
            switches.push(builder.switch(name, radix)?);
        }
        self.cable(&mut builder, &switches, context)?;
        attach_after(&mut builder, &switches, taken, self.nodes, context.rate)?;
        builder.coordinates(Coordinates {
            shape: self.shape.iter().map(|&length| length as u32).collect(),
            wraps: vec![false; self.shape.len()],
            of_switch,
        });
        Ok(builder.build()?)
    }

    fn cable(
        &self,
        builder: &mut Builder,
        switches: &[Part],
        context: &Context,
    ) -> Result<(), GeneratorError> {
        for index in 0..self.switches {
            let (mut stride, mut block) = (1, 0);
            for (&length, &width) in self.shape.iter().zip(&self.widths) {
                let at = index / stride % length;
                for other in at + 1..length {
                    let far = index + (other - at) * stride;
                    for cable in 1..=width {
                        // Blocks skip a switch's own coordinate: `other` is one block earlier, `at` is not.
                        let near_port = port(block + (other - 1) * width + cable)?;
                        let far_port = port(block + at * width + cable)?;
                        let ends = [switches[index as usize], switches[far as usize]];
                        builder.cable_ports(
                            (ends[0], near_port),
                            (ends[1], far_port),
                            context.rate,
                        );
                    }
                }
                stride *= length;
                block += (length - 1) * width;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn sizes_and_diameter_follow_ahn() {
        for (shape, widths, t) in [(vec![4], vec![2], 3), (vec![2, 3, 4], vec![3, 1, 2], 2)] {
            let list =
                |all: &[usize]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
            let machine = built(&format!("hyperx({}; {}; {t})", list(&shape), list(&widths)));
            let switches: usize = shape.iter().product();
            let degree: usize = shape.iter().zip(&widths).map(|(s, k)| (s - 1) * k).sum();
            assert_eq!(sizes(&machine), (switches, switches * t, switches * degree / 2));
            assert_eq!(diameter(&machine), shape.len());
        }
    }

    #[test]
    fn one_width_serves_all_dimensions() {
        assert_eq!(sizes(&built("hyperx(3,3; 2)")), sizes(&built("hyperx(3,3; 2,2)")));
    }

    #[test]
    fn ports_name_the_other_coordinate() {
        let machine = built("hyperx(4,3; 1)");
        let coordinates = machine.coordinates().unwrap();
        for switch in machine.switches() {
            let here = coordinates.position(switch.index());
            let heads =
                machine.channels_from(machine.switch_vertex(switch)).take(3).map(|channel| {
                    let head = machine.as_switch(machine.head(channel).vertex).unwrap();
                    coordinates.position(head.index())[0]
                });
            assert_eq!(
                heads.collect::<Vec<_>>(),
                (0..4).filter(|&x| x != here[0]).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn refuses_widths_that_do_not_match_the_shape() {
        assert_eq!(
            refused("hyperx(4,4,4; 1,2; 4)"),
            "hyperx with 3 dimensions needs one width or 3, got 2"
        );
        assert!(refused("hyperx(200,200; 1)").contains("this one would need 399"));
    }
}
