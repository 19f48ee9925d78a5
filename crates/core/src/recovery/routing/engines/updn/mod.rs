//! Up*/Down*: every route goes up towards the roots first and then only down, so that no credit loop can close.
//!
//! Switches are ranked by distance from the roots; a step to a smaller rank is up, within a rank to the larger id. For a
//! destination, every switch that can reach it by down steps alone does so (else the tables of the switches above it
//! would not fit together); the others climb, by the fewest hops. Load is spread as MinHop does it.
//!
//! Roots are given (OpenSM's root GUID file) or found by OpenSM's rule: a switch from which more than 90 % of the node
//! ports are at one distance, and at no other distance more than 5 %. Without a root in a plane the engine refuses, and
//! so it does if the roots leave a pair without a way: of several roots none may stand above both.
//!
//! Source: Schroeder et al., "Autonet", 1991; `reference/routing-engines.md`, section 5.
//! Departs from OpenSM: of several switches that pass the rule, only those nearest to the nodes become roots (in a tree
//! of more than about 400 nodes leaf switches pass it too); legality is exact by construction, not by a queue order.
//! With `compat = opensm` both are as OpenSM has them, and the check tells whether a credit loop or a hole came of it.
//! Limits: routes may be longer than the shortest; links near the roots of an irregular network become hot.

mod as_opensm;
mod roots;

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::params::Args;
use crate::recovery::routing::balance::{Spread, balance};
use crate::recovery::routing::hops::HopMatrix;
use crate::recovery::routing::{Compat, Engine, Outcome, Refusal, RouteOptions, Routing};

pub use roots::roots_by_rule;
use roots::{choose_roots, ranks};

/// The Up*/Down* engine.
pub struct UpDown;

impl Engine for UpDown {
    fn name(&self) -> &'static str {
        "updn"
    }

    fn title(&self) -> &'static str {
        "Up*/Down*"
    }

    fn summary(&self) -> &'static str {
        "up towards roots, then down; deadlock-free, needs roots (given, or found in trees)"
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, _args: &Args) -> Outcome {
        let roots = match choose_roots(graph, &options.roots, options.compat) {
            Ok(roots) => roots,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let rank = ranks(graph, &roots);
        if options.compat == Compat::OpenSm {
            let ways = as_opensm::Ways::new(graph, &rank);
            let lft = balance(graph, options, Spread::AllWays, |_, channel, _, target| {
                ways.may_use(graph.slot(channel), target)
            });
            return Outcome::Routed(Routing::single_lane(lft));
        }
        let up = |from: SwitchId, to: SwitchId| {
            (rank[to.index()], u32::MAX - to.0) < (rank[from.index()], u32::MAX - from.0)
        };
        // By destination first, since that is how legal distances are found; then by switch, as the tables are filled.
        let to_target = HopMatrix::by_row(graph, |target, row, queue| {
            legal_distances(graph, target, row, queue, &up);
        });
        if let Some(refusal) = no_way(graph, &to_target) {
            return Outcome::Refused(refusal);
        }
        let from_switch = to_target.transposed();
        let lft = balance(graph, options, Spread::AllWays, |switch, _, head, target| {
            let here = from_switch.row(switch)[target.index()];
            let there = from_switch.row(head)[target.index()];
            if here == HopMatrix::FAR || there == HopMatrix::FAR {
                return false;
            }
            let closer = (there & HOPS) + 1 == here & HOPS;
            let descends = here & DOWN != 0;
            closer
                && if descends { there & DOWN != 0 && !up(switch, head) } else { up(switch, head) }
        });
        Outcome::Routed(Routing::single_lane(lft))
    }
}

/// A refusal if some pair of switches with nodes that cables join has no way up and then down.
fn no_way(graph: &SwitchGraph<'_>, to_target: &HopMatrix) -> Option<Refusal> {
    for members in graph.joined_switches() {
        let with_nodes =
            || members.iter().copied().filter(|&switch| !graph.attached(switch).is_empty());
        for target in with_nodes() {
            let row = to_target.row(target);
            let Some(source) = with_nodes().find(|s| row[s.index()] == HopMatrix::FAR) else {
                continue;
            };
            let reason = "the roots leave pairs apart: from this switch no way goes up and then \
                          down to every other, since no root stands above both; give one root to \
                          each part of the fabric, or roots that are joined above";
            return Some(Refusal { reason: reason.to_owned(), switch: Some(source) });
        }
    }
    None
}

/// Set in a distance that is made of down steps alone.
const DOWN: u16 = 0x8000;
/// The distance itself.
const HOPS: u16 = 0x7fff;

/// Legal distances from every switch to `target`: first those by down steps alone, then by climbing to such a switch.
fn legal_distances(
    graph: &SwitchGraph<'_>,
    target: SwitchId,
    row: &mut [u16],
    queue: &mut Vec<SwitchId>,
    up: &impl Fn(SwitchId, SwitchId) -> bool,
) {
    queue.clear();
    queue.push(target);
    row[target.index()] = DOWN;
    let mut front = 0;
    while let Some(&switch) = queue.get(front) {
        front += 1;
        if row[switch.index()] & HOPS >= HopMatrix::LONGEST {
            break;
        }
        for &above in graph.heads(switch) {
            if row[above.index()] == HopMatrix::FAR && up(switch, above) {
                row[above.index()] = row[switch.index()] + 1;
                queue.push(above);
            }
        }
    }
    // `queue` now lists the descending switches by distance. Climbers settle by distance too: a level at a time, the
    // descending switches of that level and the climbers found so far.
    let descending = std::mem::take(queue);
    let (mut next_descending, mut hops) = (0, 0u16);
    let mut level: Vec<SwitchId> = Vec::new();
    let mut next_level = Vec::new();
    while hops < HopMatrix::LONGEST && (next_descending < descending.len() || !level.is_empty()) {
        while let Some(&switch) = descending.get(next_descending)
            && row[switch.index()] & HOPS == hops
        {
            level.push(switch);
            next_descending += 1;
        }
        for switch in level.drain(..) {
            for &below in graph.heads(switch) {
                if row[below.index()] == HopMatrix::FAR && up(below, switch) {
                    row[below.index()] = hops + 1;
                    next_level.push(below);
                }
            }
        }
        std::mem::swap(&mut level, &mut next_level);
        hops += 1;
    }
    *queue = descending;
}
