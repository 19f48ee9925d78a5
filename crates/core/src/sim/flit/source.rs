//! What the engines are told and what they tell: who sends what next, and what happens to packets.

use crate::ids::ChannelId;
use crate::units::{Bytes, Picos};
use crate::workload::schedule::Stuck;

/// A message that a rank hands to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// The receiver; not the sender.
    pub target: u32,
    /// Payload in bytes; a message of none is a packet of one flit.
    pub bytes: u64,
    /// What the sender calls it.
    pub tag: u32,
}

/// What a rank does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Hands a message to its host.
    Message(Send),
    /// Is to be asked again at that moment, which is to come.
    At(Picos),
    /// Has nothing to send unless it receives something.
    Nothing,
}

impl Send {
    /// Payload of its last packet, if none has more than `mtu`.
    #[must_use]
    pub fn last_packet(&self, mtu: Bytes) -> u64 {
        match self.bytes % mtu.0 {
            0 if self.bytes > 0 => mtu.0,
            rest => rest,
        }
    }
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The sender.
    pub source: u32,
    /// What it sent.
    pub send: Send,
    /// When its host began to make the first flit.
    pub began: Picos,
    /// When the last flit was consumed.
    pub now: Picos,
}

/// How much a source can have under way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Payload of the smallest packet.
    pub least: Bytes,
    /// Packets of all messages together; [`u64::MAX`] of sources without end.
    pub packets: u64,
    /// Bytes that the source itself holds at the most.
    pub held: u64,
}

impl Demand {
    /// That of messages of these sizes, cut into packets of at most `mtu`.
    #[must_use]
    pub fn of_messages(sizes: impl Iterator<Item = Bytes>, mtu: Bytes) -> Self {
        let none = Demand { least: mtu, packets: 0, held: 0 };
        sizes.fold(none, |found, size| {
            let last =
                if size.0 > 0 && size.0.is_multiple_of(mtu.0) { mtu.0 } else { size.0 % mtu.0 };
            let packets = found.packets.saturating_add(size.0.div_ceil(mtu.0).max(1));
            Demand { least: Bytes(found.least.0.min(last)), packets, held: 0 }
        })
    }

    /// The same without end.
    #[must_use]
    pub fn endless(self) -> Self {
        Demand { packets: u64::MAX, ..self }
    }
}

/// Who sends what next.
///
/// Each host asks when it begins with a message and whenever the first flit of the last packet has left it; answers
/// must depend on the rank, on what it was asked and told before, and on nothing that another rank was asked.
pub trait Source {
    /// What `rank` does next.
    fn next(&mut self, rank: u32, now: Picos) -> Next;

    /// A message has arrived; adds ranks that were waiting for that to `ready`.
    fn delivered(&mut self, delivery: Delivery, ready: &mut Vec<u32>);

    /// There is no route for a message that was handed over.
    fn unrouted(&mut self, source: u32, send: Send);

    /// None of so many messages of a rank in a row had a route: it is not asked again.
    const MOST_UNROUTED: u64 = 1 << 16;

    /// Asked when nothing is left to happen: what ranks still wait for, if they do.
    fn stuck(&self) -> Option<Stuck> {
        None
    }
}

/// A packet's name: the rank that sent it, and the how many-th of that rank it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketName {
    /// The rank that sent it.
    pub source: u32,
    /// Counted from 0.
    pub number: u32,
}

/// A packet that was consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Consumed {
    /// When the last flit was.
    pub now: Picos,
    /// The rank it was sent to.
    pub target: u32,
    /// The packet.
    pub packet: PacketName,
    /// Its flits, and the payload in them.
    pub flits: u32,
    /// In bytes.
    pub bytes: u64,
}

/// Who watches.
pub trait Observer {
    /// An arbiter gave its channel to a packet.
    #[inline]
    fn granted(&mut self, _now: Picos, _channel: ChannelId, _packet: PacketName) {}

    /// The last flit of a packet was consumed.
    #[inline]
    fn consumed(&mut self, _consumed: Consumed) {}
}

/// Nobody watches.
impl Observer for () {}
