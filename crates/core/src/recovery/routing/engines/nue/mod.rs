//! Nue: deadlock-free routes for any network within the lanes there are, even one.
//!
//! Destinations are dealt to the lanes; then each destination's routes are searched for, from there outwards, inside the
//! channel dependency graph of its lane, which never gets a cycle: a dependency that would close one is not taken. Channels
//! with little load so far come first among equally short ways. Switches that find no way so take the lane's escape tree,
//! whose dependencies are there from the beginning. The lane belongs to the destination alone.
//!
//! Source: Domke and Hoefler, "Routing on the Dependency Graph: A New Approach to Deadlock-Free High-Performance Routing",
//! HPDC 2016. Departs from it: `clusters`, `escape` and `search` each say where.
//! Limits: with few lanes some ways are longer than the shortest. LIDs of switches, which carry no traffic, follow a node of
//! the switch where it has one, else the shortest ways, outside of all lanes.

mod clusters;
mod escape;
mod layer;
mod search;

use crate::ids::{Lid, SwitchId};
use crate::machine::SwitchGraph;
use crate::params::Args;
use crate::recovery::routing::hops::{HopMatrix, distances};
use crate::recovery::routing::order::by_port;
use crate::recovery::routing::{Engine, Lanes, Lft, Outcome, RouteOptions, Routing};
use clusters::clusters;
use escape::EscapeTree;
use layer::Layer;
use search::{Goal, NONE, Search};

/// The Nue engine.
pub struct Nue;

impl Engine for Nue {
    fn name(&self) -> &'static str {
        "nue"
    }

    fn title(&self) -> &'static str {
        "Nue"
    }

    fn summary(&self) -> &'static str {
        "routes within the dependency graph; deadlock-free on any topology with any number of lanes"
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, _args: &Args) -> Outcome {
        let mut tables = Tables::new(graph, options);
        let mut layers = Vec::new();
        for members in graph.joined_switches() {
            tables.route_part(&members, usize::from(options.max_vl), &mut layers);
        }
        let lanes = match tables.levels.iter().any(|&level| level > 0) {
            true => Lanes::PerPair(tables.levels),
            false => Lanes::Single,
        };
        Outcome::Routed(Routing::in_lanes(tables.lft, lanes))
    }
}

/// What grows from destination to destination.
struct Tables<'g> {
    graph: &'g SwitchGraph<'g>,
    search: Search<'g>,
    /// Nodes that send over each slot so far.
    load: Vec<u64>,
    load_total: u64,
    lft: Lft,
    /// Lane of each destination at each switch, `[switch][lid]`.
    levels: Vec<u8>,
}

impl<'g> Tables<'g> {
    fn new(graph: &'g SwitchGraph<'g>, options: &RouteOptions) -> Self {
        let lft = Lft::empty(graph.machine(), options.lmc);
        Tables {
            graph,
            search: Search::new(graph),
            load: vec![0; graph.slot_count()],
            load_total: 0,
            levels: vec![0; graph.switch_count() * lft.lids().count()],
            lft,
        }
    }

    /// Routes between all of `members`, which cables join. Parts share lanes, since nothing leads from one to another.
    fn route_part(&mut self, members: &[SwitchId], max_vl: usize, layers: &mut Vec<Layer<'g>>) {
        let graph = self.graph;
        let (with_nodes, without): (Vec<SwitchId>, Vec<SwitchId>) =
            members.iter().partition(|&&switch| !graph.attached(switch).is_empty());
        for (lane, destinations) in clusters(graph, with_nodes, max_vl).iter().enumerate() {
            if layers.len() == lane {
                layers.push(Layer::new(graph));
            }
            self.fill_lane(members, lane as u8, &mut layers[lane], destinations);
        }
        without.iter().for_each(|&switch| self.by_shortest_ways(switch));
    }

    /// Routes to the nodes of `destinations`, all in one lane.
    fn fill_lane(
        &mut self,
        members: &[SwitchId],
        lane: u8,
        layer: &mut Layer<'_>,
        destinations: &[SwitchId],
    ) {
        let (machine, lids) = (self.graph.machine(), self.lft.lids());
        let tree = EscapeTree::new(self.graph, members, destinations, layer);
        for &target in destinations {
            for endpoint in by_port(self.graph, target) {
                let port = machine.head(machine.injection(endpoint)).port;
                for lid in lids.all_of_endpoint(endpoint) {
                    let load = &self.load;
                    // A quarter of the mean: more makes ways shorter still and load more uneven.
                    let penalty = self.load_total / (4 * load.len().max(1) as u64);
                    self.search.run(layer, &tree, Goal { target, members, load, penalty });
                    self.load_total += self.search.add_load(&mut self.load);
                    self.write(members, lid, port, lane);
                }
            }
            // The last node's routes serve the switch as well.
            self.write(members, lids.of_switch(target), 0, lane);
        }
    }

    /// Writes down what the search found for `lid`, which its switch hands to its port `own`.
    fn write(&mut self, members: &[SwitchId], lid: Lid, own: u8, lane: u8) {
        let machine = self.graph.machine();
        let lids = self.lft.lids().count();
        for &switch in members {
            let port = match self.search.next(switch) {
                NONE => own,
                slot => machine.tail(self.graph.slot_channel(slot as usize)).port,
            };
            self.lft.set(switch, lid, port);
            self.levels[switch.index() * lids + lid.index()] = lane;
        }
    }

    /// Routes to a switch without nodes: the shortest ways, by the lowest port.
    fn by_shortest_ways(&mut self, target: SwitchId) {
        let graph = self.graph;
        let lid = self.lft.lids().of_switch(target);
        let mut row = vec![HopMatrix::FAR; graph.switch_count()];
        let mut queue = Vec::new();
        distances(graph, target, &mut row, &mut queue);
        self.lft.set(target, lid, 0);
        for &switch in queue.iter().skip(1) {
            let closer = |head: SwitchId| row[head.index()] + 1 == row[switch.index()];
            if let Some((channel, _)) = graph.neighbours(switch).find(|&(_, head)| closer(head)) {
                self.lft.set(switch, lid, graph.machine().tail(channel).port);
            }
        }
    }
}

#[cfg(test)]
mod tests;
