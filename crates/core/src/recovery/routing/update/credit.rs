//! Whether packets in flight can deadlock while tables change.
//!
//! Old and new routes may each be free of credit loops and not be so together: a packet that went a stretch of its old
//! way and goes on along the new one holds and asks for buffers that no table alone brings together. Counted are the
//! dependencies of all packets that choose at each switch between the old and the new entry, as they may while switches
//! change at different times, on the lanes of the old or new service level. If these have no cycle, no order of writes
//! can deadlock; if they have one, it can happen but need not, and draining or another lane is the cure.
//!
//! Limits: conservative, since a safe order forbids some of the choices.

use rayon::prelude::*;

use super::{UpdateError, check_tables};
use crate::ids::{ChannelId, EndpointId, Lid, SwitchId};
use crate::machine::SwitchGraph;
use crate::recovery::routing::cdg::{Cdg, LaneOf};
use crate::recovery::routing::check::Cycle;
use crate::recovery::routing::lanes::{Lanes, SERVICE_LEVELS};
use crate::recovery::routing::lft::Routing;
use crate::recovery::routing::tree::{Step, step};

/// A cycle of buffers that packets can close while `old` becomes `new`, if there is one.
///
/// # Errors
/// If the tables are of different machines or LID mask counts.
///
/// # Complexity
/// LIDs x switches x lanes at worst. Memory: a dependency graph for each thread.
pub fn credit_cycle(
    graph: &SwitchGraph<'_>,
    old: &Routing,
    new: &Routing,
) -> Result<Option<Cycle>, UpdateError> {
    check_tables(graph, &old.lft, &new.lft)?;
    let union = Union { graph, tables: [old, new] };
    let ends: Vec<EndpointId> =
        graph.machine().endpoints().filter(|&end| graph.switch_of(end).is_some()).collect();
    let cdg = ends
        .par_iter()
        .with_min_len(ends.len() / (4 * rayon::current_num_threads()) + 1)
        .fold(
            || (union.empty(), Walk::default()),
            |(mut cdg, mut walk), &end| {
                for lid in old.lft.lids().all_of_endpoint(end) {
                    union.add(&mut cdg, &mut walk, end, lid);
                }
                (cdg, walk)
            },
        )
        .map(|(cdg, _)| cdg)
        .reduce_with(|mut cdg, other| {
            cdg.merge(&other);
            cdg
        });
    let cycle = cdg.and_then(|cdg| cdg.cycle(graph));
    Ok(cycle.map(|cycle| Cycle {
        channels: cycle.iter().map(|of| of.channel).collect(),
        vls: cycle.iter().map(|of| of.vl).collect(),
    }))
}

/// Two routings at once.
struct Union<'a> {
    graph: &'a SwitchGraph<'a>,
    tables: [&'a Routing; 2],
}

/// What packets for one LID can do; reused from LID to LID.
#[derive(Default)]
struct Walk {
    /// Channels by which each switch may send them on: one or two, the same ones once.
    ways: Vec<[Option<ChannelId>; 2]>,
    /// By switch and way: lanes in which they may leave.
    lanes: Vec<[u16; 2]>,
    stack: Vec<(SwitchId, usize)>,
}

impl Union<'_> {
    /// A graph that holds the lanes of both.
    fn empty(&self) -> Cdg {
        let changes = self.tables.iter().any(|tables| matches!(tables.lanes, Lanes::ByPort(..)));
        let lanes = self.tables.iter().map(|tables| tables.lanes.count()).max().unwrap_or(1);
        // A switch whose tables are still of the other kind may take a service level for the lane.
        let lanes = if changes { SERVICE_LEVELS as u8 } else { lanes };
        Cdg::new(self.graph, lanes, changes)
    }

    /// Adds the dependencies of packets for `lid`, which `end` owns.
    fn add(&self, cdg: &mut Cdg, walk: &mut Walk, end: EndpointId, lid: Lid) {
        let graph = self.graph;
        walk.ways.clear();
        walk.ways.extend((0..graph.switch_count() as u32).map(|switch| {
            let [old, new] =
                self.tables.map(|tables| match step(graph, &tables.lft, SwitchId(switch), lid) {
                    Step::Forward(channel) => Some(channel),
                    Step::Deliver | Step::Drop => None,
                });
            [old, new.filter(|_| new != old)]
        }));
        let injector = graph.injector_of(end).and_then(|injector| graph.switch_of(injector));
        let levels = |switch: SwitchId| {
            let own = u32::from(injector == Some(switch));
            let sends = graph.sources(switch) > own;
            let level = |tables: &Routing| 1u16 << tables.sl(switch, lid);
            if sends { self.tables.iter().fold(0, |all, tables| all | level(tables)) } else { 0 }
        };
        if self.tables.iter().any(|tables| matches!(tables.lanes, Lanes::ByPort(..))) {
            let all = (0..graph.switch_count() as u32).fold(0, |all, s| all | levels(SwitchId(s)));
            for sl in (0..SERVICE_LEVELS as u8).filter(|sl| all >> sl & 1 == 1) {
                self.spread(
                    cdg,
                    walk,
                    |switch, out| {
                        if levels(switch) >> sl & 1 == 0 {
                            return 0;
                        }
                        let ends = graph.attached(switch).iter().filter(|&&end| graph.injects(end));
                        ends.fold(0, |lanes, &end| {
                            let machine = graph.machine();
                            let input = machine.head(machine.injection(end)).port;
                            lanes | self.lanes(switch, input, out, sl)
                        })
                    },
                    |into, out| {
                        let head = graph.machine().head(into);
                        let lanes = self.lanes(SwitchId(head.vertex.0), head.port, out, sl);
                        move |_| lanes
                    },
                );
            }
        } else {
            self.spread(cdg, walk, |switch, _| levels(switch), |_, _| |lanes| lanes);
        }
    }

    /// The lanes that a switch may give a packet, by the tables of either routing.
    fn lanes(&self, switch: SwitchId, input: u8, out: ChannelId, sl: u8) -> u16 {
        let output = self.graph.machine().tail(out).port;
        self.tables.iter().fold(0, |lanes, tables| {
            lanes
                | match &tables.lanes {
                    Lanes::ByPort(_, map) => 1 << map.lane(switch, input, output, sl),
                    Lanes::Single | Lanes::PerPair(_) => 1 << sl,
                }
        })
    }

    /// Lets packets go on from where they are injected until nothing new happens, and adds what they depend on.
    ///
    /// `injected(switch, out)` are the lanes in which they enter `out`; `onward(into, out)` tells which lanes of `out`
    /// those from given lanes of `into` take.
    fn spread<F: Fn(u16) -> u16>(
        &self,
        cdg: &mut Cdg,
        walk: &mut Walk,
        injected: impl Fn(SwitchId, ChannelId) -> u16,
        onward: impl Fn(ChannelId, ChannelId) -> F,
    ) {
        let machine = self.graph.machine();
        let Walk { ways, lanes, stack } = walk;
        lanes.clear();
        lanes.resize(ways.len(), [0; 2]);
        for (switch, ways) in ways.iter().enumerate() {
            let switch = SwitchId::from_index(switch);
            for (way, out) in ways.iter().enumerate() {
                lanes[switch.index()][way] = out.map_or(0, |out| injected(switch, out));
                if lanes[switch.index()][way] != 0 {
                    stack.push((switch, way));
                }
            }
        }
        while let Some((switch, way)) = stack.pop() {
            let Some(into) = ways[switch.index()][way] else { continue };
            let from = lanes[switch.index()][way];
            let next = SwitchId(machine.head(into).vertex.0);
            for (way, out) in ways[next.index()].iter().enumerate() {
                let Some(out) = *out else { continue };
                let to = onward(into, out)(from);
                let slot = &mut lanes[next.index()][way];
                if to & !*slot != 0 {
                    *slot |= to;
                    stack.push((next, way));
                }
            }
        }
        for (switch, lanes) in lanes.iter().enumerate() {
            for (into, &from) in ways[switch].iter().zip(lanes) {
                let Some(into) = *into else { continue };
                let next = machine.head(into).vertex.index();
                for out in ways[next].iter().flatten() {
                    let onward = onward(into, *out);
                    for vl in bits(from) {
                        let before = LaneOf { channel: into, vl };
                        for vl in bits(onward(1 << vl)) {
                            cdg.add(self.graph, before, LaneOf { channel: *out, vl });
                        }
                    }
                }
            }
        }
    }
}

/// The numbers of the bits that are set, ascending.
fn bits(mask: u16) -> impl Iterator<Item = u8> {
    (0..16).filter(move |bit| mask >> bit & 1 == 1)
}
