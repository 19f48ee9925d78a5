//! What recovery and simulation know of a workload: who sends how many bytes to whom at the same time.

use crate::ids::Rank;
use crate::units::Bytes;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Sender.
    pub source: Rank,
    /// Receiver; never the sender.
    pub target: Rank,
    /// Payload.
    pub size: Bytes,
}

/// Messages that are under way together, among `ranks` ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of ranks; every message's ends are below it.
    pub ranks: u32,
    /// The messages, in the order the workload posts them.
    pub messages: Vec<Message>,
}
