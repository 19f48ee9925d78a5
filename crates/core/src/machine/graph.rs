//! The multigraph: flat arrays over 32-bit ids.
//!
//! Channels `2 l` and `2 l + 1` are the two directions of link `l`; ports are found by `port_base[vertex] + port - 1`.
//! One machine holds any number of planes (subnets); nodes do not forward, so a node with a port in each of two planes
//! joins nothing.

use super::hierarchy::{Coordinates, Level};
use super::lids::Lids;
use crate::ids::{ChannelId, EndpointId, LinkId, NodeId, SwitchId, VertexId};
use crate::units::LinkRate;

/// What a node is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A host channel adapter: sends and receives traffic.
    #[default]
    Host,
    /// An in-network aggregation engine (SHARP) inside a switch: cabled, but no source of traffic.
    Aggregation,
    /// A router to another subnet.
    Router,
}

/// What is known of a switch or node beside its cables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartInfo {
    /// Name as the fabric file has it; may be empty or shared by several parts.
    pub name: String,
    /// Node GUID; unique in the machine.
    pub guid: u64,
    /// GUID that chips of one chassis share, 0 if unknown.
    pub system_guid: u64,
    /// Vendor id, 0 if unknown.
    pub vendor: u32,
    /// Device id, 0 if unknown.
    pub device: u32,
    /// LID of a switch's port 0, 0 if unknown.
    pub lid: u16,
    /// LID mask count of a switch's port 0.
    pub lmc: u8,
    /// Whether a switch has an enhanced port 0.
    pub enhanced: bool,
    /// Number of ports.
    pub radix: u8,
    /// What a node is used for; `Host` for switches.
    pub kind: NodeKind,
}

/// A plug: a part and one of its ports, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortRef {
    /// The part.
    pub vertex: VertexId,
    /// The port, from 1.
    pub port: u8,
}

/// What a fabric file says of one cabled node port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointInfo {
    /// Port GUID, 0 if unknown.
    pub guid: u64,
    /// LID in its subnet, 0 if unknown.
    pub lid: u16,
    /// LID mask count.
    pub lmc: u8,
}

/// A whole machine, immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub(super) name: String,
    pub(super) synthetic: bool,
    pub(super) switch_count: u32,
    pub(super) parts: Vec<PartInfo>,
    pub(super) port_base: Vec<u32>,
    pub(super) port_channel: Vec<u32>,
    pub(super) channel_tail: Vec<PortRef>,
    pub(super) link_rate: Vec<LinkRate>,
    pub(super) endpoint_port: Vec<PortRef>,
    pub(super) endpoint_info: Vec<EndpointInfo>,
    pub(super) endpoint_base: Vec<u32>,
    pub(super) coordinates: Option<Coordinates>,
    pub(super) levels: Vec<Level>,
    pub(super) switch_plane: Vec<u32>,
    pub(super) endpoint_plane: Vec<u32>,
    pub(super) plane_count: u32,
}

pub(super) const NO_CHANNEL: u32 = u32::MAX;

impl Machine {
    /// What the machine is called: the generator's notation or the file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it was generated rather than read from a real fabric.
    #[must_use]
    pub fn synthetic(&self) -> bool {
        self.synthetic
    }

    /// Number of switches.
    #[must_use]
    pub fn switch_count(&self) -> usize {
        self.switch_count as usize
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.parts.len() - self.switch_count()
    }

    /// Number of switches and nodes together.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.parts.len()
    }

    /// Number of cables.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.link_rate.len()
    }

    /// Number of channels, two a cable.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.channel_tail.len()
    }

    /// Number of cabled node ports.
    #[must_use]
    pub fn endpoint_count(&self) -> usize {
        self.endpoint_port.len()
    }

    /// All switches, ascending.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = SwitchId> + use<> {
        (0..self.switch_count).map(SwitchId)
    }

    /// All nodes, ascending.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.node_count() as u32).map(NodeId)
    }

    /// All links, ascending.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<> {
        (0..self.link_count() as u32).map(LinkId)
    }

    /// All endpoints, ascending: by node, then port.
    pub fn endpoints(&self) -> impl ExactSizeIterator<Item = EndpointId> + use<> {
        (0..self.endpoint_count() as u32).map(EndpointId)
    }

    /// The vertex of a switch.
    #[inline]
    #[must_use]
    pub const fn switch_vertex(&self, switch: SwitchId) -> VertexId {
        VertexId(switch.0)
    }

    /// The vertex of a node.
    #[inline]
    #[must_use]
    pub const fn node_vertex(&self, node: NodeId) -> VertexId {
        VertexId(self.switch_count + node.0)
    }

    /// The switch a vertex is, if it is one.
    #[inline]
    #[must_use]
    pub fn as_switch(&self, vertex: VertexId) -> Option<SwitchId> {
        (vertex.0 < self.switch_count).then_some(SwitchId(vertex.0))
    }

    /// The node a vertex is, if it is one.
    #[inline]
    #[must_use]
    pub fn as_node(&self, vertex: VertexId) -> Option<NodeId> {
        vertex.0.checked_sub(self.switch_count).map(NodeId)
    }

    /// What is known of a part.
    #[must_use]
    pub fn part(&self, vertex: VertexId) -> &PartInfo {
        &self.parts[vertex.index()]
    }

    /// What is known of a switch.
    #[must_use]
    pub fn switch(&self, switch: SwitchId) -> &PartInfo {
        &self.parts[switch.index()]
    }

    /// What is known of a node.
    #[must_use]
    pub fn node(&self, node: NodeId) -> &PartInfo {
        self.part(self.node_vertex(node))
    }

    /// Width and speed of a link.
    #[must_use]
    pub fn rate(&self, link: LinkId) -> LinkRate {
        self.link_rate[link.index()]
    }

    /// The plug a channel leaves from.
    #[inline]
    #[must_use]
    pub fn tail(&self, channel: ChannelId) -> PortRef {
        self.channel_tail[channel.index()]
    }

    /// The plug a channel arrives at.
    #[inline]
    #[must_use]
    pub fn head(&self, channel: ChannelId) -> PortRef {
        self.channel_tail[channel.reverse().index()]
    }

    /// Both plugs of a link, in the order it was added.
    #[must_use]
    pub fn ends(&self, link: LinkId) -> [PortRef; 2] {
        [self.tail(link.forward()), self.tail(link.backward())]
    }

    /// Whether both ends are switches.
    #[inline]
    #[must_use]
    pub fn is_switch_link(&self, link: LinkId) -> bool {
        self.ends(link).iter().all(|end| end.vertex.0 < self.switch_count)
    }

    /// The switch-switch links, ascending: what a per cent of links counts.
    pub fn switch_links(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.links().filter(|&link| self.is_switch_link(link))
    }

    /// The channel that leaves `vertex` by `port`, if a cable is plugged in there.
    #[inline]
    #[must_use]
    pub fn channel_at(&self, vertex: VertexId, port: u8) -> Option<ChannelId> {
        let [base, end] = [self.port_base[vertex.index()], self.port_base[vertex.index() + 1]];
        let row = &self.port_channel[base as usize..end as usize];
        let channel = *row.get(usize::from(port).checked_sub(1)?)?;
        (channel != NO_CHANNEL).then_some(ChannelId(channel))
    }

    /// Channels that leave `vertex`, in port order.
    pub fn channels_from(&self, vertex: VertexId) -> impl Iterator<Item = ChannelId> + '_ {
        let [base, end] = [self.port_base[vertex.index()], self.port_base[vertex.index() + 1]];
        self.port_channel[base as usize..end as usize]
            .iter()
            .filter(|&&channel| channel != NO_CHANNEL)
            .map(|&channel| ChannelId(channel))
    }

    /// The node and port of an endpoint.
    #[must_use]
    pub fn endpoint(&self, endpoint: EndpointId) -> PortRef {
        self.endpoint_port[endpoint.index()]
    }

    /// The node that owns an endpoint.
    #[inline]
    #[must_use]
    pub fn endpoint_node(&self, endpoint: EndpointId) -> NodeId {
        NodeId(self.endpoint_port[endpoint.index()].vertex.0 - self.switch_count)
    }

    /// What a fabric file says of an endpoint.
    #[must_use]
    pub fn endpoint_info(&self, endpoint: EndpointId) -> &EndpointInfo {
        &self.endpoint_info[endpoint.index()]
    }

    /// A node's endpoints, in port order.
    pub fn endpoints_of(&self, node: NodeId) -> impl ExactSizeIterator<Item = EndpointId> + use<> {
        let [base, end] = [self.endpoint_base[node.index()], self.endpoint_base[node.index() + 1]];
        (base..end).map(EndpointId)
    }

    /// The channel from an endpoint into the fabric.
    #[must_use]
    pub fn injection(&self, endpoint: EndpointId) -> ChannelId {
        let PortRef { vertex, port } = self.endpoint(endpoint);
        // INVARIANT: the builder makes endpoints of cabled ports only.
        #[allow(clippy::expect_used)]
        self.channel_at(vertex, port).expect("an endpoint is cabled")
    }

    /// How LIDs are numbered, one to a part; see [`Lids::with_lmc`] for more.
    #[must_use]
    pub fn lids(&self) -> Lids {
        Lids::new(self.endpoint_count() as u32, self.switch_count)
    }

    /// Switch coordinates of a Cartesian machine.
    #[must_use]
    pub fn coordinates(&self) -> Option<&Coordinates> {
        self.coordinates.as_ref()
    }

    /// Physical levels, innermost first.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The level called `name`.
    #[must_use]
    pub fn level(&self, name: &str) -> Option<&Level> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// Number of planes: sets of switches (or back-to-back nodes) that cables join when all is well.
    #[must_use]
    pub fn plane_count(&self) -> usize {
        self.plane_count as usize
    }

    /// The plane an endpoint is cabled into.
    #[inline]
    #[must_use]
    pub fn plane_of_endpoint(&self, endpoint: EndpointId) -> u32 {
        self.endpoint_plane[endpoint.index()]
    }

    /// The plane of a switch.
    #[inline]
    #[must_use]
    pub fn plane_of_switch(&self, switch: SwitchId) -> u32 {
        self.switch_plane[switch.index()]
    }
}
