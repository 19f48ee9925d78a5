//! What a routing engine sees of a view: usable switch-switch channels and where endpoints are attached.
//!
//! Built once a view; compressed sparse rows in port order, so that "first port" and "lowest channel" are stable words.

use super::graph::Machine;
use super::view::View;
use crate::ids::{ChannelId, EndpointId, SwitchId};

/// The usable part of a fabric as flat arrays.
#[derive(Clone, Debug)]
pub struct SwitchGraph<'a> {
    view: &'a View,
    base: Vec<u32>,
    channels: Vec<ChannelId>,
    heads: Vec<SwitchId>,
    position: Vec<u8>,
    endpoint_switch: Vec<u32>,
    attached_base: Vec<u32>,
    attached: Vec<EndpointId>,
    sources: Vec<u32>,
    source_endpoint: Vec<bool>,
}

const DETACHED: u32 = u32::MAX;

impl<'a> SwitchGraph<'a> {
    /// Reads the usable parts of `view`.
    ///
    /// # Complexity
    /// Linear in ports.
    #[must_use]
    pub fn new(view: &'a View) -> Self {
        let machine = view.machine();
        let mut base = vec![0];
        let (mut channels, mut heads) = (Vec::new(), Vec::new());
        let mut position = vec![0; machine.channel_count()];
        for switch in machine.switches() {
            let row = channels.len();
            for channel in view.channels_from(machine.switch_vertex(switch)) {
                if let Some(head) = machine.as_switch(machine.head(channel).vertex) {
                    position[channel.index()] = (channels.len() - row) as u8;
                    channels.push(channel);
                    heads.push(head);
                }
            }
            base.push(channels.len() as u32);
        }
        let endpoint_switch: Vec<u32> = machine
            .endpoints()
            .map(|endpoint| {
                let channel = machine.injection(endpoint);
                match machine.as_switch(machine.head(channel).vertex) {
                    Some(switch) if view.usable(channel) => switch.0,
                    _ => DETACHED,
                }
            })
            .collect();
        let (attached_base, attached) = attach(machine, &endpoint_switch);
        let source_endpoint = source_endpoints(machine, &endpoint_switch);
        let mut sources = vec![0; machine.switch_count()];
        for endpoint in machine.endpoints().filter(|endpoint| source_endpoint[endpoint.index()]) {
            sources[endpoint_switch[endpoint.index()] as usize] += 1;
        }
        SwitchGraph {
            view,
            base,
            channels,
            heads,
            position,
            endpoint_switch,
            attached_base,
            attached,
            sources,
            source_endpoint,
        }
    }

    /// The view this was read from.
    #[must_use]
    pub fn view(&self) -> &'a View {
        self.view
    }

    /// The machine behind the view.
    #[must_use]
    pub fn machine(&self) -> &'a Machine {
        self.view.machine()
    }

    /// Number of switches, dead ones included (they have no channels).
    #[must_use]
    pub fn switch_count(&self) -> usize {
        self.base.len() - 1
    }

    /// Usable channels from `switch` to other switches, in port order, with the switch each arrives at.
    #[inline]
    pub fn neighbours(
        &self,
        switch: SwitchId,
    ) -> impl ExactSizeIterator<Item = (ChannelId, SwitchId)> + '_ {
        let row = self.slots(switch);
        self.channels[row.clone()].iter().copied().zip(self.heads[row].iter().copied())
    }

    /// The switches at the far ends of [`SwitchGraph::neighbours`], repeated for parallel cables.
    #[inline]
    #[must_use]
    pub fn heads(&self, switch: SwitchId) -> &[SwitchId] {
        &self.heads[self.slots(switch)]
    }

    /// The channels of [`SwitchGraph::neighbours`].
    #[inline]
    #[must_use]
    pub fn channels(&self, switch: SwitchId) -> &[ChannelId] {
        &self.channels[self.slots(switch)]
    }

    /// Living switches that usable cables join, part by part: each ascending, by their lowest.
    #[must_use]
    pub fn joined_switches(&self) -> Vec<Vec<SwitchId>> {
        let mut seen = vec![false; self.switch_count()];
        let mut parts = Vec::new();
        let alive = |&switch: &SwitchId| self.view.switch_alive(switch);
        for start in (0..self.switch_count() as u32).map(SwitchId).filter(alive) {
            if std::mem::replace(&mut seen[start.index()], true) {
                continue;
            }
            let mut members = vec![start];
            let mut front = 0;
            while let Some(&switch) = members.get(front) {
                front += 1;
                for &head in self.heads(switch) {
                    if !std::mem::replace(&mut seen[head.index()], true) {
                        members.push(head);
                    }
                }
            }
            members.sort_unstable();
            parts.push(members);
        }
        parts
    }

    /// Number of usable switch-switch channels.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.channels.len()
    }

    /// The slots of the channels that leave `switch`: their numbers when all usable channels stand in one row, switch by
    /// switch in port order. Arrays over slots keep what belongs to one switch together.
    #[inline]
    #[must_use]
    pub fn slots(&self, switch: SwitchId) -> std::ops::Range<usize> {
        self.base[switch.index()] as usize..self.base[switch.index() + 1] as usize
    }

    /// The channel of a slot.
    #[inline]
    #[must_use]
    pub fn slot_channel(&self, slot: usize) -> ChannelId {
        self.channels[slot]
    }

    /// The switch at which the channel of a slot arrives.
    #[inline]
    #[must_use]
    pub fn slot_head(&self, slot: usize) -> SwitchId {
        self.heads[slot]
    }

    /// The slot of a usable switch-switch channel.
    #[inline]
    #[must_use]
    pub fn slot(&self, channel: ChannelId) -> usize {
        let tail = self.machine().tail(channel).vertex;
        self.base[tail.index()] as usize + self.position(channel)
    }

    /// Where a usable switch-switch channel stands among [`SwitchGraph::channels`] of the switch it leaves.
    #[inline]
    #[must_use]
    pub fn position(&self, channel: ChannelId) -> usize {
        usize::from(self.position[channel.index()])
    }

    /// The switch an endpoint is attached to, unless its cable or an end of it is dead.
    #[inline]
    #[must_use]
    pub fn switch_of(&self, endpoint: EndpointId) -> Option<SwitchId> {
        let switch = self.endpoint_switch[endpoint.index()];
        (switch != DETACHED).then_some(SwitchId(switch))
    }

    /// Endpoints attached to `switch`, ascending.
    #[inline]
    #[must_use]
    pub fn attached(&self, switch: SwitchId) -> &[EndpointId] {
        let base = &self.attached_base;
        &self.attached[base[switch.index()] as usize..base[switch.index() + 1] as usize]
    }

    /// Number of nodes that inject at `switch`.
    ///
    /// A node injects into a plane by its lowest attached port there, so a node with two ports in one plane counts once.
    #[inline]
    #[must_use]
    pub fn sources(&self, switch: SwitchId) -> u32 {
        self.sources[switch.index()]
    }

    /// Whether `endpoint` is the port by which its node injects into the plane.
    #[inline]
    #[must_use]
    pub fn injects(&self, endpoint: EndpointId) -> bool {
        self.source_endpoint[endpoint.index()]
    }

    /// The port by which the owner of `endpoint` injects into the plane of `endpoint`, if one is attached.
    #[must_use]
    pub fn injector_of(&self, endpoint: EndpointId) -> Option<EndpointId> {
        let machine = self.machine();
        let plane = machine.plane_of_endpoint(endpoint);
        machine
            .endpoints_of(machine.endpoint_node(endpoint))
            .find(|&other| self.injects(other) && machine.plane_of_endpoint(other) == plane)
    }
}

fn attach(machine: &Machine, endpoint_switch: &[u32]) -> (Vec<u32>, Vec<EndpointId>) {
    let mut base = vec![0u32; machine.switch_count() + 1];
    for &switch in endpoint_switch.iter().filter(|&&switch| switch != DETACHED) {
        base[switch as usize + 1] += 1;
    }
    for switch in 0..machine.switch_count() {
        base[switch + 1] += base[switch];
    }
    let mut next = base.clone();
    let mut attached = vec![EndpointId(0); *base.last().unwrap_or(&0) as usize];
    for endpoint in machine.endpoints() {
        let switch = endpoint_switch[endpoint.index()];
        if switch != DETACHED {
            attached[next[switch as usize] as usize] = endpoint;
            next[switch as usize] += 1;
        }
    }
    (base, attached)
}

fn source_endpoints(machine: &Machine, endpoint_switch: &[u32]) -> Vec<bool> {
    let mut source = vec![false; machine.endpoint_count()];
    for node in machine.nodes() {
        let mut planes: Vec<u32> = Vec::new();
        for endpoint in machine.endpoints_of(node) {
            let plane = machine.plane_of_endpoint(endpoint);
            if endpoint_switch[endpoint.index()] != DETACHED && !planes.contains(&plane) {
                planes.push(plane);
                source[endpoint.index()] = true;
            }
        }
    }
    source
}
