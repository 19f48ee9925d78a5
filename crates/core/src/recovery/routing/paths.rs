//! The channels that a message between two nodes takes under given tables.

use super::lft::{Lft, Routing};
use crate::ids::{ChannelId, EndpointId, NodeId};
use crate::load::{Paths, TooManySteps};
use crate::machine::SwitchGraph;

/// Paths that are not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPaths {
    /// More nodes than the fabric has.
    #[error("the shape has {count} nodes, the fabric only {nodes}")]
    Nodes {
        /// Asked for.
        count: usize,
        /// Of the fabric.
        nodes: usize,
    },
    /// A pair that the tables lose.
    #[error(
        "there is no route from node {from} to node {to} (in the fabric's order): take nodes that are joined"
    )]
    Pair {
        /// From.
        from: u32,
        /// To.
        to: u32,
    },
    /// Too much.
    #[error(transparent)]
    Steps(#[from] TooManySteps),
}

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

    /// The paths between the first `count` nodes: from node 0 to all of them, then from node 1, and so on; a node's path to
    /// itself is empty.
    ///
    /// # Errors
    /// If there are not as many nodes, a pair has no route, or the paths are too long together.
    pub fn between_first(&self, count: usize) -> Result<Paths, NoPaths> {
        let nodes = self.graph.machine().node_count();
        if count > nodes {
            return Err(NoPaths::Nodes { count, nodes });
        }
        let (mut paths, mut path) = (Paths::default(), Vec::new());
        for source in (0..count).map(NodeId::from_index) {
            for target in (0..count).map(NodeId::from_index) {
                path.clear();
                if source != target && self.find(source, target, &mut path).is_none() {
                    return Err(NoPaths::Pair { from: source.0, to: target.0 });
                }
                paths.push(&path)?;
            }
        }
        Ok(paths)
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
