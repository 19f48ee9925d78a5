//! What the engines are told and what they tell: who sends what next, and what happens to packets.

use crate::ids::ChannelId;
use crate::units::Picos;

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

/// Who sends what next.
///
/// Each host asks when it begins with a message and whenever the first flit of the last packet has left it; answers
/// must depend on the rank, on what it was asked and told before, and on nothing that another rank was asked.
pub trait Source {
    /// The next message of `rank`, if it has one now.
    fn next(&mut self, rank: u32, now: Picos) -> Option<Send>;

    /// The last flit of a message has been consumed; adds ranks that were waiting for that to `ready`.
    fn delivered(&mut self, source: u32, send: Send, now: Picos, ready: &mut Vec<u32>);

    /// There is no route for a message that was handed over.
    fn unrouted(&mut self, source: u32, send: Send);
}

/// A packet's name: the rank that sent it, and the how many-th of that rank it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketName {
    /// The rank that sent it.
    pub source: u32,
    /// Counted from 0.
    pub number: u32,
}

/// Who watches.
pub trait Observer {
    /// An arbiter gave its channel to a packet.
    #[inline]
    fn granted(&mut self, _now: Picos, _channel: ChannelId, _packet: PacketName) {}

    /// The last flit of a packet was consumed by the rank it was sent to.
    #[inline]
    fn consumed(&mut self, _now: Picos, _target: u32, _packet: PacketName, _flits: u32) {}
}

/// Nobody watches.
impl Observer for () {}
