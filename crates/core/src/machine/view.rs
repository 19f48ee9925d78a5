//! A machine with dead parts masked. Ids do not change, so an intact and a broken fabric compare part by part.

use std::sync::Arc;

use super::graph::Machine;
use crate::ids::{ChannelId, LinkId, NodeId, SwitchId, VertexId};

/// A machine of which some parts are dead; the intact machine is the view without dead parts.
#[derive(Clone, Debug)]
pub struct View {
    machine: Arc<Machine>,
    dead_link: Vec<bool>,
    dead_vertex: Vec<bool>,
    /// A link is usable if it and both its ends are alive.
    usable: Vec<bool>,
}

impl View {
    /// The machine with nothing dead.
    #[must_use]
    pub fn intact(machine: Arc<Machine>) -> Self {
        View {
            dead_link: vec![false; machine.link_count()],
            dead_vertex: vec![false; machine.vertex_count()],
            usable: vec![true; machine.link_count()],
            machine,
        }
    }

    /// This view with more parts dead.
    #[must_use]
    pub fn without(&self, links: &[LinkId], switches: &[SwitchId], nodes: &[NodeId]) -> Self {
        let mut view = self.clone();
        for link in links {
            view.dead_link[link.index()] = true;
        }
        for &switch in switches {
            view.dead_vertex[self.machine.switch_vertex(switch).index()] = true;
        }
        for &node in nodes {
            view.dead_vertex[self.machine.node_vertex(node).index()] = true;
        }
        for link in self.machine.links() {
            let ends_alive =
                self.machine.ends(link).iter().all(|end| !view.dead_vertex[end.vertex.index()]);
            view.usable[link.index()] = ends_alive && !view.dead_link[link.index()];
        }
        view
    }

    /// The machine behind the view.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine behind the view, shared.
    #[must_use]
    pub fn machine_shared(&self) -> Arc<Machine> {
        Arc::clone(&self.machine)
    }

    /// Whether the cable and both its ends are alive.
    #[inline]
    #[must_use]
    pub fn link_usable(&self, link: LinkId) -> bool {
        self.usable[link.index()]
    }

    /// Whether the channel's cable and both its ends are alive.
    #[inline]
    #[must_use]
    pub fn usable(&self, channel: ChannelId) -> bool {
        self.usable[channel.link().index()]
    }

    /// Whether the cable itself is alive, whatever its ends are.
    #[must_use]
    pub fn link_alive(&self, link: LinkId) -> bool {
        !self.dead_link[link.index()]
    }

    /// Whether a switch or node is alive.
    #[must_use]
    pub fn vertex_alive(&self, vertex: VertexId) -> bool {
        !self.dead_vertex[vertex.index()]
    }

    /// Whether a switch is alive.
    #[must_use]
    pub fn switch_alive(&self, switch: SwitchId) -> bool {
        self.vertex_alive(self.machine.switch_vertex(switch))
    }

    /// Whether a node is alive.
    #[must_use]
    pub fn node_alive(&self, node: NodeId) -> bool {
        self.vertex_alive(self.machine.node_vertex(node))
    }

    /// Whether nothing is dead.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.usable.iter().all(|&usable| usable) && self.dead_vertex.iter().all(|&dead| !dead)
    }

    /// Usable channels that leave `vertex`, in port order.
    pub fn channels_from(&self, vertex: VertexId) -> impl Iterator<Item = ChannelId> + '_ {
        self.machine.channels_from(vertex).filter(|&channel| self.usable(channel))
    }
}
