//! Messages per channel over given routes.
//!
//! [`Paths`] holds the channels of each message, whoever worked them out; [`Load`] counts messages on each channel and can
//! take single ones away again. Says nothing about time: that is `sim`.
//!
//! The largest count is the largest collision of Hori et al. 2016: that many messages share one channel.

mod channel_lines;
mod dimension_order;
mod folded;
mod moving;
mod partners;
mod routed;
mod sliding;

pub use dimension_order::GridLoad;
pub use folded::FoldedLoad;
pub use moving::MovingLoad;
pub use partners::Partners;
pub use routed::RoutedLoad;

use crate::ids::{ChannelId, NodeId};
use crate::rng::Stream;

/// The nodes of a message: from, to.
pub type Pair = (NodeId, NodeId);

/// What a channel with so many messages adds to the pressure.
#[inline]
fn weight(messages: u32) -> u64 {
    let own = u64::from(messages.min(1 << 10));
    own * own * own * own
}

/// Messages between nodes on the channels of a network, which may come and go one by one.
pub trait PairLoad: Clone + Send + Sync {
    /// A node, as its messages are routed.
    type Place: Copy + PartialEq + std::fmt::Debug + Send + Sync;
    /// No node.
    const NOWHERE: Self::Place;
    /// A node's place.
    fn place(&self, node: NodeId) -> Self::Place;
    /// Puts a message on its channels.
    fn add(&mut self, from: NodeId, to: NodeId);
    /// Takes a message that was added off its channels.
    fn remove(&mut self, from: NodeId, to: NodeId);
    /// A rank moves to another place, and its messages with it: those that it sends to its partners, and those that it receives from
    /// them (`ends`). [`PairLoad::NOWHERE`] among partners is nobody. Partners are told of where they are at that moment, so ranks
    /// move one after the other.
    fn move_rank(
        &mut self,
        from: Self::Place,
        to: Self::Place,
        partners: &[Self::Place],
        ends: [bool; 2],
    );
    /// No other rank moves now: until then what ranks change together may be left undone.
    fn end_moves(&mut self) {}
    /// The largest collision: most messages on one channel; 1 is none.
    fn collision_max(&mut self) -> u32;
    /// How crowded the channels are: the sum of a weight of each load that grows steeply.
    fn pressure(&mut self) -> u64;
    /// The nodes at the ends of one of the channels with the largest collision, if such nodes are known.
    fn hottest(&mut self, _stream: &mut Stream) -> Option<Pair> {
        None
    }
    /// Goes back to a state kept before, of the same network.
    fn restore(&mut self, state: &Self);
    /// Adds the numbers of the channels that a message crosses, sender first.
    fn cross(&self, from: NodeId, to: NodeId, channels: &mut Vec<u32>);
    /// Whether the channels are those of a mesh under dimension-order routing, whose nodes are those of the messages.
    fn is_mesh(&self) -> bool {
        false
    }
}

/// The channels of each message, row after row; an empty row is a message that has no route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    base: Vec<u32>,
    channels: Vec<ChannelId>,
}

impl Default for Paths {
    fn default() -> Self {
        Paths { base: vec![0], channels: Vec::new() }
    }
}

/// More path steps than 32-bit offsets can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the messages of one phase cross more than {most} channels in all; use a sparser workload \
     (permutation, exchange) on a machine of this size",
    most = Paths::MOST_STEPS
)]
pub struct TooManySteps;

impl Paths {
    /// Most channels that the messages of one phase may cross together: 2 GiB of path.
    pub const MOST_STEPS: usize = 1 << 29;

    /// Adds the path of one more message.
    ///
    /// # Errors
    /// If the paths grow beyond [`Paths::MOST_STEPS`].
    pub fn push(&mut self, path: &[ChannelId]) -> Result<(), TooManySteps> {
        if self.channels.len() + path.len() > Self::MOST_STEPS {
            return Err(TooManySteps);
        }
        self.channels.extend_from_slice(path);
        self.base.push(self.channels.len() as u32);
        Ok(())
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.base.len() - 1
    }

    /// Whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Channels of message number `message`, from sender to receiver.
    #[inline]
    #[must_use]
    pub fn path(&self, message: usize) -> &[ChannelId] {
        &self.channels[self.base[message] as usize..self.base[message + 1] as usize]
    }

    /// The paths of all messages, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[ChannelId]> + '_ {
        (0..self.len()).map(|message| self.path(message))
    }
}

/// Messages on each channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    messages: Vec<u64>,
}

impl Load {
    /// No message on any of `channel_count` channels.
    #[must_use]
    pub fn new(channel_count: usize) -> Self {
        Load { messages: vec![0; channel_count] }
    }

    /// Puts one message on every channel of `path`.
    pub fn add(&mut self, path: &[ChannelId]) {
        path.iter().for_each(|channel| self.messages[channel.index()] += 1);
    }

    /// Takes a message that was added before off every channel of `path`.
    pub fn remove(&mut self, path: &[ChannelId]) {
        path.iter().for_each(|channel| self.messages[channel.index()] -= 1);
    }

    /// Messages on `channel`.
    #[must_use]
    pub fn on(&self, channel: ChannelId) -> u64 {
        self.messages[channel.index()]
    }

    /// Messages on each channel, by channel.
    #[must_use]
    pub fn by_channel(&self) -> &[u64] {
        &self.messages
    }

    /// The largest collision: most messages on one channel.
    #[must_use]
    pub fn collision_max(&self) -> u64 {
        self.messages.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_what_was_added_leaves_nothing() {
        let mut load = Load::new(4);
        let paths = [[ChannelId(0), ChannelId(2)], [ChannelId(2), ChannelId(3)]];
        paths.iter().for_each(|path| load.add(path));
        assert_eq!((load.by_channel(), load.collision_max()), (&[1, 0, 2, 1][..], 2));
        paths.iter().for_each(|path| load.remove(path));
        assert_eq!(load, Load::new(4));
    }
}
