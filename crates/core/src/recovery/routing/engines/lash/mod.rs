//! LASH: shortest paths, each pair of switches in the first lane where it closes no credit loop.
//!
//! Routes are shortest ways from one breadth-first tree a switch (`ways`); then every two switches get a layer in which both
//! ways between them, with all others there, have no cycle of dependencies, and layers are evened out (`layers`).
//! The service level and the lane of a pair are its layer. Load is not balanced over ways of equal length.
//!
//! OpenSM lays out all pairs of switches, also those between switches without nodes, whose ways down and up again cost a
//! tree up to nine layers; with `switches=with-nodes` only switches where nodes are attached count, and trees take one.
//!
//! Source: Skeie, Lysne, Theiss, "Layered Shortest Path (LASH) Routing in Irregular System Area Networks", IPDPS 2002;
//! `reference/routing-engines.md`, section 5. Routed as OpenSM, tables and layers before balancing are OpenSM's. Departs
//! from it: the balancing draws other pairs, lanes always start at 0, and there is no mesh analysis. Acyclicity is kept
//! up turn by turn, where OpenSM searches anew for each pair (and clears a switches^2 matrix for it).
//! Limits: refuses what does not fit the lanes allowed; memory is switches^2 x 2 bytes, x 6 if several lanes are evened
//! out, and a byte for each switch and LID.

mod layers;
#[cfg(test)]
mod tests;
mod ways;

use crate::ids::SwitchId;
use crate::machine::{LidOwner, Lids, SwitchGraph};
use crate::params::{Args, Kind, Param};
use crate::recovery::routing::{
    Compat, Engine, Lanes, Lft, Outcome, RouteOptions, Routing, VisitOrder,
};
use layers::{Assignment, Layers, NOWHERE, pair};
use ways::Ways;

/// The LASH engine.
pub struct Lash;

impl Engine for Lash {
    fn name(&self) -> &'static str {
        "lash"
    }

    fn title(&self) -> &'static str {
        "LASH"
    }

    fn summary(&self) -> &'static str {
        "shortest paths, pairs of switches spread over lanes; deadlock-free if the lanes suffice"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "switches",
                doc: "switches whose pairs need a lane: those with nodes, or all as in OpenSM; auto: \
                      all if routing as OpenSM",
                kind: Kind::Choice(&["auto", "with-nodes", "all"]),
                default: Some("auto"),
            },
            Param {
                name: "balance",
                doc: "whether pairs are moved until the lanes hold equally many",
                kind: Kind::Flag,
                default: Some("true"),
            },
            Param {
                name: "cables",
                doc: "of parallel cables: always the first as in OpenSM, or destinations spread over \
                      all",
                kind: Kind::Choice(&["first", "spread"]),
                default: Some("first"),
            },
        ]
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, args: &Args) -> Outcome {
        let order = VisitOrder::new(graph, options);
        let ways = Ways::new(graph, order.switches());
        let all = match args.text("switches") {
            "auto" => options.compat == Compat::OpenSm,
            switches => switches == "all",
        };
        let mut switches = order.switches().to_vec();
        switches.retain(|&switch| all || !graph.attached(switch).is_empty());
        let mut layers = Layers::new(&ways, options.max_vl);
        let mut assignment = layers.assign(&switches);
        if let Some((left, first)) = assignment.left {
            return refusal(options.max_vl, &assignment, left, first);
        }
        if args.flag("balance") {
            layers.balance(&switches, &mut assignment);
        }
        let lft = tables(graph, options, &order, &ways, args.text("cables") == "spread");
        if assignment.counts.len() < 2 {
            return Outcome::Routed(Routing::single_lane(lft));
        }
        let lanes = lanes(graph, lft.lids(), &switches, &assignment);
        Outcome::Routed(Routing::in_lanes(lft, lanes))
    }
}

fn refusal(limit: u8, assignment: &Assignment, left: u64, first: SwitchId) -> Outcome {
    let pairs = left + assignment.counts.iter().sum::<u64>();
    let lanes = if limit == 1 { "1 lane is" } else { &format!("{limit} lanes are") };
    Outcome::refused_at(
        first,
        format!(
            "{lanes} too few: {left} of {pairs} pairs of switches fit in none without a credit loop, \
             the first begins at this switch"
        ),
    )
}

/// Forwarding tables: the next neighbour of each switch towards each LID, by its first cable or by its cables in turn.
fn tables(
    graph: &SwitchGraph<'_>,
    options: &RouteOptions,
    order: &VisitOrder,
    ways: &Ways,
    spread: bool,
) -> Lft {
    let machine = graph.machine();
    let destinations = order.destinations(graph, &[]);
    let mut lft = Lft::empty(machine, options.lmc);
    let lids = lft.lids();
    lft.fill_rows(|switch, row| {
        if !graph.view().switch_alive(switch) {
            return;
        }
        let cables: Vec<Vec<u8>> = ways
            .neighbours(switch)
            .iter()
            .map(|&neighbour| {
                let to_it = graph.neighbours(switch).filter(|&(_, head)| head == neighbour);
                to_it.map(|(channel, _)| machine.tail(channel).port).collect()
            })
            .collect();
        let mut taken = vec![0; cables.len()];
        for &owner in &destinations {
            match owner {
                LidOwner::Switch(target) => {
                    row[lids.of_switch(target).index()] = match ways.next(switch, target) {
                        Some(next) => cables[next][0],
                        None if target == switch => 0,
                        None => Lft::NONE,
                    };
                }
                LidOwner::Endpoint(endpoint) => {
                    let Some(target) = graph.switch_of(endpoint) else { continue };
                    for lid in lids.all_of_endpoint(endpoint) {
                        row[lid.index()] = match ways.next(switch, target) {
                            Some(next) => {
                                let turn = if spread { taken[next] } else { 0 };
                                taken[next] += 1;
                                cables[next][turn % cables[next].len()]
                            }
                            None if target == switch => {
                                machine.head(machine.injection(endpoint)).port
                            }
                            None => Lft::NONE,
                        };
                    }
                }
            }
        }
    });
    lft
}

/// The layer of every (switch, LID); 0 where no lane is needed.
fn lanes(
    graph: &SwitchGraph<'_>,
    lids: Lids,
    switches: &[SwitchId],
    assignment: &Assignment,
) -> Lanes {
    let mut sl = vec![0; graph.switch_count() * lids.count()];
    let mut set = |from: SwitchId, to: SwitchId, layer: u8| {
        let row = &mut sl[from.index() * lids.count()..][..lids.count()];
        for &endpoint in graph.attached(to) {
            lids.all_of_endpoint(endpoint).for_each(|lid| row[lid.index()] = layer);
        }
        row[lids.of_switch(to).index()] = layer;
    };
    for (a, &one) in switches.iter().enumerate() {
        for (b, &other) in switches[..a].iter().enumerate() {
            let layer = assignment.layer[pair(a, b)];
            if layer != NOWHERE {
                set(one, other, layer);
                set(other, one, layer);
            }
        }
    }
    Lanes::PerPair(sl)
}
