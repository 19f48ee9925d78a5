//! All routes to one LID at once.
//!
//! Forwarding by destination gives every switch at most one next channel for a LID, so the routes to it form a tree that
//! hangs at the destination (plus whatever is broken or runs in circles). One walk over the switches finds each one's
//! next channel and distance and an order in which loads can be added up, in time linear in switches instead of routes.

use super::lft::Lft;
use crate::ids::{ChannelId, Lid, SwitchId};
use crate::machine::{LidOwner, SwitchGraph};

/// What a switch does with a packet for the LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Hands it to the destination.
    Deliver,
    /// Sends it on along a usable channel to another switch.
    Forward(ChannelId),
    /// Has no usable entry, or hands it to somebody else.
    Drop,
}

/// Routes of all switches to one LID; reused from LID to LID.
#[derive(Clone, Debug, Default)]
pub struct RouteTree {
    step: Vec<Step>,
    hops: Vec<u32>,
    order: Vec<SwitchId>,
    path: Vec<SwitchId>,
}

/// Distances that are none.
const UNSEEN: u32 = u32::MAX;
const ON_PATH: u32 = u32::MAX - 1;
const DROPPED: u32 = u32::MAX - 2;
const LOOPING: u32 = u32::MAX - 3;

impl RouteTree {
    /// Walks the tables `lft` towards `lid`.
    pub fn walk(&mut self, graph: &SwitchGraph<'_>, lft: &Lft, lid: Lid) {
        let switches = graph.switch_count();
        self.order.clear();
        self.hops.clear();
        self.hops.resize(switches, UNSEEN);
        self.step.clear();
        self.step.extend((0..switches as u32).map(|s| step(graph, lft, SwitchId(s), lid)));
        for start in (0..switches as u32).map(SwitchId) {
            let mut at = start;
            while self.hops[at.index()] == UNSEEN {
                self.hops[at.index()] = ON_PATH;
                self.path.push(at);
                match self.step[at.index()] {
                    Step::Forward(channel) => at = SwitchId(graph.machine().head(channel).vertex.0),
                    Step::Deliver | Step::Drop => break,
                }
            }
            // The walk ended at a switch that is settled, delivers, drops, or is on this very path: a loop.
            let mut end = match (self.hops[at.index()], self.step[at.index()]) {
                (ON_PATH, Step::Deliver) => None,
                (ON_PATH, Step::Drop) => Some(DROPPED),
                (ON_PATH, Step::Forward(_)) => Some(LOOPING),
                (settled, _) => Some(settled),
            };
            while let Some(switch) = self.path.pop() {
                let hops = match end {
                    None => 0,
                    Some(broken @ (DROPPED | LOOPING)) => broken,
                    Some(hops) => hops + 1,
                };
                if hops < LOOPING {
                    self.order.push(switch);
                }
                self.hops[switch.index()] = hops;
                end = Some(hops);
            }
        }
    }

    /// What `switch` does with a packet for the LID.
    #[inline]
    #[must_use]
    pub fn step(&self, switch: SwitchId) -> Step {
        self.step[switch.index()]
    }

    /// Switch-switch channels from `switch` to the destination, if it arrives there.
    #[inline]
    #[must_use]
    pub fn hops(&self, switch: SwitchId) -> Option<u32> {
        let hops = self.hops[switch.index()];
        (hops < LOOPING).then_some(hops)
    }

    /// Whether packets from `switch` run in circles.
    #[must_use]
    pub fn loops(&self, switch: SwitchId) -> bool {
        self.hops[switch.index()] == LOOPING
    }

    /// Switches that reach the destination, each after the one it forwards to.
    #[must_use]
    pub fn order(&self) -> &[SwitchId] {
        &self.order
    }
}

/// What `switch` does with a packet for `lid`.
#[inline]
pub(super) fn step(graph: &SwitchGraph<'_>, lft: &Lft, switch: SwitchId, lid: Lid) -> Step {
    let port = lft.port(switch, lid);
    if port == Lft::NONE {
        return Step::Drop;
    }
    let machine = graph.machine();
    let owner = lft.lids().owner(lid);
    if port == 0 {
        return if owner == LidOwner::Switch(switch) { Step::Deliver } else { Step::Drop };
    }
    let Some(channel) = machine.channel_at(machine.switch_vertex(switch), port) else {
        return Step::Drop;
    };
    if !graph.view().usable(channel) {
        return Step::Drop;
    }
    let head = machine.head(channel);
    match owner {
        _ if machine.as_switch(head.vertex).is_some() => Step::Forward(channel),
        LidOwner::Endpoint(endpoint) if machine.endpoint(endpoint) == head => Step::Deliver,
        _ => Step::Drop,
    }
}
