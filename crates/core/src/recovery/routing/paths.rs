//! The channels that a message between two nodes takes under given tables.

use super::lft::{Lft, Routing};
use crate::ids::{ChannelId, EndpointId, NodeId};
use crate::machine::SwitchGraph;

/// Follows tables from node to node.
#[derive(Clone, Copy, Debug)]
pub struct PathFinder<'g> {
    graph: &'g SwitchGraph<'g>,
    lft: &'g Lft,
}

impl<'g> PathFinder<'g> {
    /// Paths over the usable part of a fabric under `routing`.
    #[must_use]
    pub fn new(graph: &'g SwitchGraph<'g>, routing: &'g Routing) -> Self {
        PathFinder { graph, lft: &routing.lft }
    }

    /// Writes the channels from `source` to `target` into `path`, node channels included, and returns the endpoints used.
    ///
    /// Of several planes that both nodes are attached to, the one of the target's lowest port is taken. `path` is empty
    /// and `None` returned if the tables lose the packet.
    pub fn find(
        &self,
        source: NodeId,
        target: NodeId,
        path: &mut Vec<ChannelId>,
    ) -> Option<(EndpointId, EndpointId)> {
        path.clear();
        let ends = self.follow(source, target, path);
        if ends.is_none() {
            path.clear();
        }
        ends
    }

    fn follow(
        &self,
        source: NodeId,
        target: NodeId,
        path: &mut Vec<ChannelId>,
    ) -> Option<(EndpointId, EndpointId)> {
        let machine = self.graph.machine();
        let (from, to) = machine.endpoints_of(target).find_map(|to| {
            let plane = machine.plane_of_endpoint(to);
            let attached = self.graph.switch_of(to).is_some();
            let mut own = machine.endpoints_of(source).filter(|_| attached);
            own.find(|&e| self.graph.injects(e) && machine.plane_of_endpoint(e) == plane)
                .map(|from| (from, to))
        })?;
        let lid = self.lft.lids().of_endpoint(to);
        path.push(machine.injection(from));
        // A path without a loop enters each switch once.
        for _ in 0..=machine.switch_count() {
            let at = machine.head(*path.last()?);
            let Some(switch) = machine.as_switch(at.vertex) else {
                return (at == machine.endpoint(to)).then_some((from, to));
            };
            let channel = self.lft.channel(machine, switch, lid)?;
            if !self.graph.view().usable(channel) {
                return None;
            }
            path.push(channel);
        }
        None
    }
}
