//! Slim Fly: McKay-Miller-Širáň graphs, diameter 2 with nearly the most switches that a degree allows.
//!
//! `2 q^2` switches, `q = 4 w + delta` a prime power with `delta` in {-1, 0, 1}. Switches `(0, x, y)` are joined where
//! their `y` differ by an element of `X`, `(1, m, c)` where their `c` differ by one of `X'`, and `(0, x, y)` to `(1, m,
//! c)` where `y = m x + c`, all in the field of `q` elements with primitive element xi. `X` and `X'` are the even and
//! odd powers of xi for `delta` in {0, 1}; for -1 both change parity half-way, which makes them closed under negation.
//! The degree is `k' = (3 q - delta) / 2`. Cabinet `i` holds `(0, i, *)` and `(1, i, *)`.
//!
//! Source: Besta and Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC14; the sets after Hafner,
//! "Geometric Realisation of the Graphs of McKay-Miller-Širáň", J. Combinatorial Theory B 90(2), 2004.

use super::finite_field::FiniteField;
use super::limits::{Size, product};
use super::nodes::{NODES, attach_evenly};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine, Part};
use crate::params::{Args, Kind, Param};

/// The Slim Fly generator.
pub struct SlimFly;

impl Generator for SlimFly {
    fn name(&self) -> &'static str {
        "slim-fly"
    }

    fn summary(&self) -> &'static str {
        "Slim Fly on McKay-Miller-Širáň graphs, diameter 2 (Besta and Hoefler 2014)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "order",
                doc: "`q`: a prime power that is not 2 more than a multiple of 4",
                kind: Kind::Int(3, 169),
                default: None,
            },
            Param {
                name: "nodes_per_switch",
                doc: "`p`: nodes on each switch; 0 means half the degree, rounded up, for full \
                      global bandwidth",
                kind: Kind::Int(0, 253),
                default: Some("0"),
            },
            NODES,
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let q = args.int("order");
        let field = FiniteField::new(q).filter(|_| q % 4 != 2).ok_or_else(|| {
            GeneratorError::Impossible(format!(
                "slim-fly needs a prime power of the form 4w-1, 4w or 4w+1, got {q}; the next ones \
                 are {}",
                neighbours_in_size(q)
            ))
        })?;
        let graph = Graph::new(field, q);
        let degree = q + graph.sets[0].len() as u64;
        let switches = 2 * q * q;
        let nodes = match (args.int("nodes"), args.int("nodes_per_switch")) {
            (0, 0) => switches * degree.div_ceil(2),
            (0, each) => switches * each,
            (nodes, _) => nodes,
        };
        let radix = degree + nodes.div_ceil(switches);
        Size { switches, nodes, ports: product([switches, radix]) }.check(&context.name)?;
        graph.build(nodes, radix, context)
    }
}

/// The orders below and above `q` that are allowed.
fn neighbours_in_size(q: u64) -> String {
    let fits = |&q: &u64| q % 4 != 2 && FiniteField::new(q).is_some();
    let near = [(3..q).rev().find(fits), (q + 1..=169).find(fits)];
    near.into_iter().flatten().map(|q| q.to_string()).collect::<Vec<_>>().join(" and ")
}

struct Graph {
    field: FiniteField,
    q: u64,
    /// `X` and `X'`.
    sets: [Vec<u64>; 2],
}

impl Graph {
    fn new(field: FiniteField, q: u64) -> Self {
        let exponents = |prime: u64| -> Vec<u64> {
            if q % 4 == 3 {
                // q = 4w - 1: w exponents of one parity, then w of the other.
                let w = q.div_ceil(4);
                (0..w).map(|i| 2 * i + prime).chain((w..2 * w).map(|i| 2 * i + prime - 1)).collect()
            } else {
                (0..q / 2).map(|i| 2 * i + prime).collect()
            }
        };
        let sets = [0, 1].map(|prime| {
            exponents(prime).into_iter().map(|exponent| field.power(exponent)).collect()
        });
        Graph { field, q, sets }
    }

    fn build(&self, nodes: u64, radix: u64, context: &Context) -> Result<Machine, GeneratorError> {
        let q = self.q;
        let mut builder = Builder::new(&context.name, true);
        let mut switches = Vec::new();
        for half in 0..2 {
            for column in 0..q {
                for row in 0..q {
                    let part = builder.switch(format!("s{half}.{column}.{row}"), radix)?;
                    builder.group("cabinet", &format!("cabinet{column}"), part);
                    switches.push(part);
                }
            }
        }
        attach_evenly(&mut builder, &switches, nodes, context.rate);
        for (half, set) in [0, q * q].into_iter().zip(&self.sets) {
            for column in 0..q {
                let first = (half + column * q) as usize;
                self.cable_column(&mut builder, &switches[first..first + q as usize], set, context);
            }
        }
        for x in 0..q {
            for m in 0..q {
                let product = self.field.multiply(m, x);
                for c in 0..q {
                    let y = self.field.add(product, c);
                    let [low, high] =
                        [x * q + y, q * q + m * q + c].map(|at| switches[at as usize]);
                    builder.cable(low, high, context.rate);
                }
            }
        }
        Ok(builder.build()?)
    }

    /// Joins the switches of a column whose rows differ by an element of `set`, which is closed under negation.
    fn cable_column(&self, builder: &mut Builder, column: &[Part], set: &[u64], context: &Context) {
        for (&switch, row) in column.iter().zip(0..) {
            for &step in set {
                let other = self.field.add(row, step);
                if row < other {
                    builder.cable(switch, column[other as usize], context.rate);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::generators::tests::{built, diameter, refused, sizes};

    #[test]
    fn sizes_degree_and_diameter_follow_besta_and_hoefler() {
        for q in [3usize, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23] {
            let delta = [0, 1, 0, -1][q % 4];
            let degree = (3 * q as isize - delta) as usize / 2;
            let machine = built(&format!("slim-fly({q}; 1)"));
            assert_eq!(sizes(&machine), (2 * q * q, 2 * q * q, q * q * degree), "{q}");
            assert!(machine.switches().all(|switch| {
                machine.channels_from(machine.switch_vertex(switch)).count() == degree + 1
            }));
            assert_eq!(diameter(&machine), 2, "{q}");
        }
    }

    #[test]
    fn the_balanced_network_of_the_paper_has_10830_nodes() {
        assert_eq!(sizes(&built("slim-fly(19)")), (722, 10_830, 722 * 29 / 2));
    }

    #[test]
    fn the_smallest_is_the_hoffman_singleton_graph_at_order_5() {
        let machine = built("slim-fly(5)");
        assert_eq!(sizes(&machine), (50, 200, 175));
        assert_eq!(machine.level("cabinet").unwrap().groups.len(), 5);
    }

    #[test]
    fn refuses_orders_without_a_graph() {
        assert_eq!(
            refused("slim-fly(6)"),
            "slim-fly needs a prime power of the form 4w-1, 4w or 4w+1, got 6; the next ones are 5 \
             and 7"
        );
        assert!(refused("slim-fly(15)").contains("the next ones are 13 and 16"));
        assert!(refused("slim-fly(168)").contains("the next ones are 167 and 169"));
        assert!(refused("slim-fly(127)").contains("a switch has 1 to 254 ports"));
    }
}
