//! Messages on the channels of any network with given paths, kept up to date as ranks move.

use std::sync::Arc;

use super::{PairLoad, Paths};
use crate::ids::NodeId;

/// Messages on each channel, by the path of each pair of nodes.
#[derive(Clone, Debug)]
pub struct RoutedLoad {
    /// By source, then target.
    paths: Arc<Paths>,
    nodes: usize,
    messages: Vec<u32>,
    /// How many channels have each load.
    channels: Vec<u32>,
    most: usize,
}

impl RoutedLoad {
    /// No message yet; `paths` has those from node 0 to all `nodes` nodes, then those from node 1, and so on.
    ///
    /// # Panics
    /// If there are not as many paths.
    #[must_use]
    pub fn new(paths: Arc<Paths>, nodes: usize, channel_count: usize) -> Self {
        assert_eq!(paths.len(), nodes * nodes, "a path for each pair of nodes");
        let messages = vec![0; channel_count];
        RoutedLoad { paths, nodes, messages, channels: vec![channel_count as u32], most: 0 }
    }

    /// Messages on each channel.
    #[must_use]
    pub fn by_channel(&self) -> &[u32] {
        &self.messages
    }

    fn change(&mut self, from: NodeId, to: NodeId, adds: bool) {
        let RoutedLoad { paths, nodes, messages, channels, most } = self;
        for channel in paths.path(from.index() * *nodes + to.index()) {
            let messages = &mut messages[channel.index()];
            channels[*messages as usize] -= 1;
            *messages = if adds { *messages + 1 } else { *messages - 1 };
            let now = *messages as usize;
            if channels.len() <= now {
                channels.resize(now + 1, 0);
            }
            channels[now] += 1;
            *most = now.max(*most);
        }
    }
}

impl PairLoad for RoutedLoad {
    type Place = NodeId;
    const NOWHERE: NodeId = NodeId(u32::MAX);

    fn place(&self, node: NodeId) -> NodeId {
        node
    }

    fn add(&mut self, from: NodeId, to: NodeId) {
        self.change(from, to, true);
    }

    fn remove(&mut self, from: NodeId, to: NodeId) {
        self.change(from, to, false);
    }

    fn move_rank(
        &mut self,
        from: NodeId,
        to: NodeId,
        partners: &[NodeId],
        [sent, received]: [bool; 2],
    ) {
        for &partner in partners.iter().filter(|partner| **partner != Self::NOWHERE) {
            if sent {
                self.remove(from, partner);
                self.add(to, partner);
            }
            if received {
                self.remove(partner, from);
                self.add(partner, to);
            }
        }
    }

    fn collision_max(&mut self) -> u32 {
        while self.channels[self.most] == 0 && self.most > 0 {
            self.most -= 1;
        }
        self.most as u32
    }

    fn pressure(&mut self) -> u64 {
        let of = |(load, &count): (usize, &u32)| super::weight(load as u32) * u64::from(count);
        self.channels.iter().enumerate().map(of).sum()
    }

    fn restore(&mut self, state: &Self) {
        self.messages.copy_from_slice(&state.messages);
        self.channels.clone_from(&state.channels);
        self.most = state.most;
    }

    fn cross(&self, from: NodeId, to: NodeId, channels: &mut Vec<u32>) {
        let path = self.paths.path(from.index() * self.nodes + to.index());
        channels.extend(path.iter().map(|channel| channel.0));
    }
}
