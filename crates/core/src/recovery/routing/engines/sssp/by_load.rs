//! Shortest-path trees by (hops, load): the fast form of SSSP.
//!
//! Since hops come first, all shortest ways to a switch form a layered graph that its breadth-first search finds, the
//! same for every LID there. A destination then takes one sweep over that graph from near to far (no heap) and one from
//! far to near that adds the load. The bound is memory traffic: 16 bytes an arc of the layered graph and LID. While one
//! target's LIDs are served, the layered graph of the next is made on another thread.

use super::first;
use crate::ids::{Lid, SwitchId};
use crate::machine::{LidOwner, SwitchGraph};
use crate::parallel;
use crate::recovery::routing::order::VisitOrder;
use crate::recovery::routing::{Lft, RouteOptions};

/// Forwarding tables by (hops, load).
///
/// # Complexity
/// LIDs x channels time; memory is the tables and what is linear in channels.
#[must_use]
pub fn tables(graph: &SwitchGraph<'_>, options: &RouteOptions) -> Lft {
    let machine = graph.machine();
    let mut lft = Lft::empty(machine, options.lmc);
    let groups = by_target(graph, options, &lft);
    let mut sweep = Sweep::new(graph);
    let (mut current, mut next) = (LayeredWays::default(), LayeredWays::default());
    if let Some(group) = groups.first() {
        current.find(graph, group.target);
    }
    let in_parallel = parallel::worth(graph.slot_count() * groups.len());
    for (at, group) in groups.iter().enumerate() {
        let mut serve = || sweep.serve(graph, &current, group, &mut lft);
        match groups.get(at + 1) {
            Some(following) if in_parallel => {
                rayon::join(serve, || next.find(graph, following.target));
            }
            Some(following) => {
                serve();
                next.find(graph, following.target);
            }
            None => serve(),
        }
        std::mem::swap(&mut current, &mut next);
    }
    lft
}

/// Destinations at one switch that are served one after the other.
struct Group {
    target: SwitchId,
    /// Each LID with the port that the target hands it to, 0 for its own.
    lids: Vec<(Lid, u8)>,
    /// Whether traffic goes there: to nodes, not to switches.
    counted: bool,
}

fn by_target(graph: &SwitchGraph<'_>, options: &RouteOptions, lft: &Lft) -> Vec<Group> {
    let (machine, lids) = (graph.machine(), lft.lids());
    let mut groups: Vec<Group> = Vec::new();
    for owner in VisitOrder::new(graph, options).destinations(graph, &first(options)) {
        match owner {
            LidOwner::Switch(target) => {
                let lids = vec![(lids.of_switch(target), 0)];
                groups.push(Group { target, lids, counted: false });
            }
            LidOwner::Endpoint(endpoint) => {
                let Some(target) = graph.switch_of(endpoint) else { continue };
                let port = machine.head(machine.injection(endpoint)).port;
                let more = lids.all_of_endpoint(endpoint).map(|lid| (lid, port));
                match groups.last_mut() {
                    Some(group) if group.target == target => group.lids.extend(more),
                    _ => groups.push(Group { target, lids: more.collect(), counted: true }),
                }
            }
        }
    }
    groups
}

/// All shortest ways to one switch.
#[derive(Default)]
struct LayeredWays {
    /// Switches that reach the target, near to far, without the target.
    order: Vec<SwitchId>,
    /// First of each one's arcs, and the end of the last.
    base: Vec<u32>,
    /// (slot of the channel, switch it leads to), in port order.
    arcs: Vec<(u32, SwitchId)>,
    hops: Vec<u16>,
}

impl LayeredWays {
    fn find(&mut self, graph: &SwitchGraph<'_>, target: SwitchId) {
        self.hops.clear();
        self.hops.resize(graph.switch_count(), u16::MAX);
        self.order.clear();
        self.base.clear();
        self.arcs.clear();
        self.order.push(target);
        self.hops[target.index()] = 0;
        let mut front = 0;
        while let Some(&switch) = self.order.get(front) {
            front += 1;
            // Longer ways than this are not told apart; no subnet has them.
            let next = self.hops[switch.index()].saturating_add(1).min(u16::MAX - 1);
            for &head in graph.heads(switch) {
                if self.hops[head.index()] == u16::MAX {
                    self.hops[head.index()] = next;
                    self.order.push(head);
                }
            }
        }
        self.order.remove(0);
        self.base.push(0);
        for &switch in &self.order {
            let closer = self.hops[switch.index()] - 1;
            for (slot, &head) in graph.slots(switch).zip(graph.heads(switch)) {
                if self.hops[head.index()] == closer {
                    self.arcs.push((slot as u32, head));
                }
            }
            self.base.push(self.arcs.len() as u32);
        }
    }
}

/// What is carried from destination to destination.
struct Sweep {
    /// Sources that earlier destinations send over each slot.
    load: Vec<u64>,
    port: Vec<u8>,
    sources: Vec<u64>,
    distance: Vec<u64>,
    passing: Vec<u64>,
    /// Slot chosen by each switch of the order.
    chosen: Vec<(u32, SwitchId)>,
    /// Ports chosen for the LIDs of a group, LID by LID.
    ports: Vec<u8>,
}

impl Sweep {
    fn new(graph: &SwitchGraph<'_>) -> Self {
        let machine = graph.machine();
        let port = (0..graph.slot_count()).map(|slot| machine.tail(graph.slot_channel(slot)).port);
        let switches = graph.switch_count();
        Sweep {
            load: vec![0; graph.slot_count()],
            port: port.collect(),
            sources: machine.switches().map(|switch| u64::from(graph.sources(switch))).collect(),
            distance: vec![0; switches],
            passing: vec![0; switches],
            chosen: Vec::with_capacity(switches),
            ports: Vec::new(),
        }
    }

    fn serve(&mut self, graph: &SwitchGraph<'_>, ways: &LayeredWays, group: &Group, lft: &mut Lft) {
        self.ports.clear();
        for &(lid, port) in &group.lids {
            self.choose(ways, group.target);
            if group.counted {
                self.add_load(ways);
            }
            self.ports.extend(self.chosen.iter().map(|&(slot, _)| self.port[slot as usize]));
            lft.set(group.target, lid, port);
        }
        debug_assert!(ways.order.len() < graph.switch_count().max(1));
        for (at, &switch) in ways.order.iter().enumerate() {
            for (number, &(lid, _)) in group.lids.iter().enumerate() {
                lft.set(switch, lid, self.ports[number * ways.order.len() + at]);
            }
        }
    }

    /// The least loaded shortest way of every switch, near to far; ties go to the lowest port.
    fn choose(&mut self, ways: &LayeredWays, target: SwitchId) {
        self.distance[target.index()] = 0;
        self.chosen.clear();
        for (at, &switch) in ways.order.iter().enumerate() {
            let arcs = &ways.arcs[ways.base[at] as usize..ways.base[at + 1] as usize];
            let (mut best, mut least) = (arcs[0], u64::MAX);
            for &(slot, head) in arcs {
                let distance = self.distance[head.index()] + self.load[slot as usize];
                if distance < least {
                    (best, least) = ((slot, head), distance);
                }
            }
            self.distance[switch.index()] = least;
            self.chosen.push(best);
        }
    }

    /// Adds the sources behind every chosen channel to its load, far to near.
    fn add_load(&mut self, ways: &LayeredWays) {
        for &switch in &ways.order {
            self.passing[switch.index()] = self.sources[switch.index()];
        }
        for (&switch, &(slot, head)) in ways.order.iter().zip(&self.chosen).rev() {
            let passing = self.passing[switch.index()];
            self.load[slot as usize] += passing;
            self.passing[head.index()] += passing;
        }
    }
}
