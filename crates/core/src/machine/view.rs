//! A machine with dead parts masked. Ids do not change, so an intact and a broken fabric compare part by part.

use std::sync::Arc;

use super::builder::{Builder, MachineError, Part};
use super::graph::Machine;
use super::hierarchy::Coordinates;
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

    /// A machine of the parts that are alive, on the ports they had; ids are counted anew.
    ///
    /// For writing to files; everything else works on views, whose ids stay.
    ///
    /// # Errors
    /// If nothing is alive.
    pub fn survivors(&self) -> Result<Machine, MachineError> {
        let old = &self.machine;
        let mut builder = Builder::new(old.name(), old.synthetic());
        let mut moved = vec![None; old.vertex_count()];
        for vertex in (0..old.vertex_count()).map(VertexId::from_index) {
            if self.vertex_alive(vertex) {
                let info = old.part(vertex).clone();
                moved[vertex.index()] = Some(match old.as_switch(vertex) {
                    Some(_) => builder.switch_part(info),
                    None => builder.node_part(info),
                });
            }
        }
        for level in old.levels() {
            for (part, &group) in moved.iter().zip(&level.of_vertex) {
                if let (Some(part), Some(name)) = (part, level.groups.get(group as usize)) {
                    builder.group(&level.name, name, *part);
                }
            }
        }
        for link in old.links().filter(|&link| self.link_usable(link)) {
            let ends = old.ends(link).map(|end| (moved[end.vertex.index()], end.port));
            if let [(Some(a), port_a), (Some(b), port_b)] = ends {
                builder.cable_ports((a, port_a), (b, port_b), old.rate(link));
            }
        }
        for endpoint in old.endpoints() {
            let plug = old.endpoint(endpoint);
            if let Some(Part::Node(node)) = moved[plug.vertex.index()] {
                builder.endpoint_info(node, plug.port, *old.endpoint_info(endpoint));
            }
        }
        if let Some(coordinates) = old.coordinates() {
            let alive = old.switches().filter(|&switch| self.switch_alive(switch));
            let of_switch =
                alive.flat_map(|switch| coordinates.position(switch.index())).copied().collect();
            builder.coordinates(Coordinates { of_switch, ..coordinates.clone() });
        }
        builder.build()
    }

    /// Usable channels that leave `vertex`, in port order.
    pub fn channels_from(&self, vertex: VertexId) -> impl Iterator<Item = ChannelId> + '_ {
        self.machine.channels_from(vertex).filter(|&channel| self.usable(channel))
    }
}
