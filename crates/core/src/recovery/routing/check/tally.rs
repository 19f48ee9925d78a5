//! What one thread counts while it walks routes, target by target.

use super::super::cdg::{Cdg, LaneOf};
use super::super::hops::{HopMatrix, distances};
use super::super::lanes::{Lanes, SlToVl};
use super::super::lft::Routing;
use super::super::tree::{RouteTree, Step};
use super::sources_to;
use crate::ids::{EndpointId, Lid, SwitchId};
use crate::machine::SwitchGraph;

/// What one thread has counted.
pub struct Tally {
    pub cdg: Cdg,
    pub forwarding_index: Vec<u64>,
    pub routes_by_hops: Vec<u64>,
    pub looping_pairs: u64,
    pub nonminimal_pairs: u64,
    pub tree: RouteTree,
    weight: Vec<u64>,
    /// Lanes in which routes leave each switch, a bit each.
    leaving: Vec<u16>,
    /// Lanes of switch-switch channels in which routes travel where tables choose them, a bit each.
    pub lanes_used: u16,
    shortest: Vec<u16>,
    queue: Vec<SwitchId>,
}

impl Tally {
    pub fn new(graph: &SwitchGraph<'_>, lanes: &Lanes) -> Self {
        Tally {
            cdg: Cdg::new(graph, lanes.count(), matches!(lanes, Lanes::ByPort(..))),
            forwarding_index: vec![0; graph.machine().channel_count()],
            routes_by_hops: Vec::new(),
            looping_pairs: 0,
            nonminimal_pairs: 0,
            tree: RouteTree::default(),
            weight: vec![0; graph.switch_count()],
            leaving: vec![0; graph.switch_count()],
            lanes_used: 0,
            shortest: vec![HopMatrix::FAR; graph.switch_count()],
            queue: Vec::new(),
        }
    }

    pub fn merge(mut self, other: Tally) -> Tally {
        self.cdg.merge(&other.cdg);
        for (routes, more) in self.forwarding_index.iter_mut().zip(&other.forwarding_index) {
            *routes += more;
        }
        let hops = self.routes_by_hops.len().max(other.routes_by_hops.len());
        self.routes_by_hops.resize(hops, 0);
        for (routes, more) in self.routes_by_hops.iter_mut().zip(&other.routes_by_hops) {
            *routes += more;
        }
        self.looping_pairs += other.looping_pairs;
        self.lanes_used |= other.lanes_used;
        self.nonminimal_pairs += other.nonminimal_pairs;
        self
    }

    pub fn add_routes_to(&mut self, graph: &SwitchGraph<'_>, routing: &Routing, target: SwitchId) {
        if graph.attached(target).is_empty() {
            return;
        }
        self.shortest.fill(HopMatrix::FAR);
        distances(graph, target, &mut self.shortest, &mut self.queue);
        for &endpoint in graph.attached(target) {
            for lid in routing.lft.lids().all_of_endpoint(endpoint) {
                self.tree.walk(graph, &routing.lft, lid);
                let sources = sources_to(graph, endpoint);
                self.count_lengths(graph, endpoint, &sources);
                self.add_loads(graph, &sources);
                match &routing.lanes {
                    Lanes::ByPort(_, tables) => {
                        self.follow_lanes(graph, routing, tables, lid, &sources);
                    }
                    _ => self.keep_lanes(graph, routing, lid, &sources),
                }
            }
        }
    }

    pub fn count_lengths(
        &mut self,
        graph: &SwitchGraph<'_>,
        endpoint: EndpointId,
        sources: impl Fn(SwitchId) -> u64,
    ) {
        let plane = graph.machine().plane_of_endpoint(endpoint);
        for switch in (0..graph.switch_count() as u32).map(SwitchId) {
            let sources = sources(switch);
            if sources == 0 {
                continue;
            }
            if let Some(hops) = self.tree.hops(switch) {
                let at = hops as usize;
                self.routes_by_hops.resize(self.routes_by_hops.len().max(at + 1), 0);
                self.routes_by_hops[at] += sources;
                if hops > u32::from(self.shortest[switch.index()]) {
                    self.nonminimal_pairs += sources;
                }
            } else if self.tree.loops(switch) && graph.machine().plane_of_switch(switch) == plane {
                // Entries for a LID of another plane stand in nobody's way.
                self.looping_pairs += sources;
            }
        }
    }

    /// Adds up, from the far switches to the near ones, how many routes pass each.
    fn add_loads(&mut self, graph: &SwitchGraph<'_>, sources: impl Fn(SwitchId) -> u64) {
        for &switch in self.tree.order() {
            self.weight[switch.index()] = sources(switch);
        }
        for &switch in self.tree.order().iter().rev() {
            let weight = self.weight[switch.index()];
            let Step::Forward(channel) = self.tree.step(switch) else { continue };
            let next = SwitchId(graph.machine().head(channel).vertex.0);
            self.weight[next.index()] += weight;
            self.forwarding_index[channel.index()] += weight;
        }
    }

    /// Adds the dependencies of routes that stay in the lane of their service level.
    fn keep_lanes(
        &mut self,
        graph: &SwitchGraph<'_>,
        routing: &Routing,
        lid: Lid,
        sources: impl Fn(SwitchId) -> u64,
    ) {
        for &switch in self.tree.order() {
            self.leaving[switch.index()] =
                if sources(switch) == 0 { 0 } else { 1 << routing.sl(switch, lid) };
        }
        for &switch in self.tree.order().iter().rev() {
            let lanes = self.leaving[switch.index()];
            let Step::Forward(before) = self.tree.step(switch) else { continue };
            let next = SwitchId(graph.machine().head(before).vertex.0);
            self.leaving[next.index()] |= lanes;
            let Step::Forward(after) = self.tree.step(next) else { continue };
            for vl in bits(lanes) {
                let [before, after] = [before, after].map(|channel| LaneOf { channel, vl });
                self.cdg.add(graph, before, after);
            }
        }
    }

    /// Adds the dependencies of routes whose lane depends on the ports they pass, one service level at a time.
    fn follow_lanes(
        &mut self,
        graph: &SwitchGraph<'_>,
        routing: &Routing,
        tables: &SlToVl,
        lid: Lid,
        sources: impl Fn(SwitchId) -> u64,
    ) {
        let machine = graph.machine();
        let injecting = |switch: &SwitchId| sources(*switch) > 0;
        let levels = self.tree.order().iter().filter(|switch| injecting(switch));
        let levels = levels.fold(0u16, |levels, &switch| levels | 1 << routing.sl(switch, lid));
        for sl in bits(levels) {
            for &switch in self.tree.order() {
                self.leaving[switch.index()] = 0;
                if let Step::Forward(channel) = self.tree.step(switch)
                    && injecting(&switch)
                    && routing.sl(switch, lid) == sl
                {
                    let output = machine.tail(channel).port;
                    for &end in graph.attached(switch).iter().filter(|&&end| graph.injects(end)) {
                        let input = machine.head(machine.injection(end)).port;
                        let vl = tables.lane(switch, input, output, sl);
                        self.leaving[switch.index()] |= 1 << vl;
                    }
                }
            }
            for &switch in self.tree.order().iter().rev() {
                let Step::Forward(before) = self.tree.step(switch) else { continue };
                self.lanes_used |= self.leaving[switch.index()];
                let head = machine.head(before);
                let next = SwitchId(head.vertex.0);
                let Step::Forward(after) = self.tree.step(next) else { continue };
                let vl = tables.lane(next, head.port, machine.tail(after).port, sl);
                for earlier in bits(self.leaving[switch.index()]) {
                    let before = LaneOf { channel: before, vl: earlier };
                    self.cdg.add(graph, before, LaneOf { channel: after, vl });
                    self.leaving[next.index()] |= 1 << vl;
                }
            }
        }
    }
}

/// The numbers of the bits that are set, ascending.
fn bits(mut mask: u16) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let lowest = mask.trailing_zeros() as u8;
        mask &= mask.wrapping_sub(1);
        (lowest < 16).then_some(lowest)
    })
}
