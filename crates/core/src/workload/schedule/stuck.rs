//! Why a schedule does not go on: which operations wait, and for what.

use std::fmt;

use super::progress::{Progress, State};
use super::{Op, OpId};
use crate::ids::Rank;

/// What stands in the way of a schedule that nothing happens to any more; after [`Progress::finished`] nothing does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// Operations that wait for something else than operations of their rank, rank by rank.
    pub waits: Vec<Wait>,
    /// How many others wait for these, at once or by way of others.
    pub blocked: u64,
    /// Messages that were sent and have not arrived: lost, or under way.
    pub under_way: Vec<Messages>,
    /// Messages that arrived and that no receive has taken.
    pub unclaimed: Vec<Messages>,
}

/// An operation that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The operation.
    pub op: OpId,
    /// Its rank.
    pub rank: Rank,
    /// The operation, counted from the first of its rank.
    pub number: u32,
    /// For what.
    pub waits_for: WaitsFor,
}

/// What an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// A receive: for a message.
    Message {
        /// From whom; `None` is anybody.
        source: Option<Rank>,
        /// Its tag; `None` is any.
        tag: Option<u32>,
    },
    /// A send that may start: for its rank to take it.
    Start {
        /// The receiver of its message.
        target: Rank,
    },
    /// A send that was taken: for word that it has left.
    Departure {
        /// The receiver of its message.
        target: Rank,
    },
    /// A computation: to be taken, or for word that it is over.
    Time,
}

/// Messages of one sender to one receiver with one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// Sender.
    pub source: Rank,
    /// Receiver.
    pub target: Rank,
    /// Tag.
    pub tag: u32,
    /// How many.
    pub count: u32,
}

impl Progress<'_> {
    /// What waits, and for what. Says nothing about whether it will come: ask when nothing is under way any more.
    ///
    /// # Complexity
    /// Linear in operations.
    #[must_use]
    pub fn stuck(&self) -> Stuck {
        let mut stuck = Stuck::default();
        for rank in (0..self.schedule.ranks()).map(Rank) {
            let own = self.schedule.ops_of(rank);
            for op in own.clone().map(OpId) {
                let waits_for = match (self.states[op.index()], self.schedule.op(op)) {
                    (State::Complete, _) => continue,
                    (State::Blocked, _) => {
                        stuck.blocked += 1;
                        continue;
                    }
                    (_, Op::Receive { source, tag }) => WaitsFor::Message { source, tag },
                    (_, Op::Compute { .. }) => WaitsFor::Time,
                    (State::Ready, Op::Send { target, .. }) => WaitsFor::Start { target },
                    (State::Started, Op::Send { target, .. }) => WaitsFor::Departure { target },
                };
                stuck.waits.push(Wait { op, rank, number: op.0 - own.start, waits_for });
            }
        }
        let envelopes = &self.schedule.envelopes;
        for (envelope, (under_way, unclaimed)) in (0..).zip(self.matching.left()) {
            let (source, tag) = envelopes.labels[envelope as usize];
            let [source, target] = [source, envelopes.target(envelope)].map(Rank);
            let messages =
                |count| Some(Messages { source, target, tag, count }).filter(|_| count > 0);
            stuck.under_way.extend(messages(under_way));
            stuck.unclaimed.extend(messages(unclaimed));
        }
        stuck
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} of rank {} waits ", self.number, self.rank.0)?;
        match self.waits_for {
            WaitsFor::Message { source, tag } => {
                let source =
                    source.map_or("any rank".to_owned(), |rank| format!("rank {}", rank.0));
                let tag = tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
                write!(f, "for a message from {source} with {tag}")
            }
            WaitsFor::Start { target } => write!(f, "to be sent to rank {}", target.0),
            WaitsFor::Departure { target } => write!(f, "to leave for rank {}", target.0),
            WaitsFor::Time => write!(f, "for a computation"),
        }
    }
}

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Messages { source, target, tag, count } = self;
        write!(f, "{count} from rank {} to rank {} with tag {tag}", source.0, target.0)
    }
}

/// How many of a kind are written out.
const SHOWN: usize = 8;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (waits, blocked) = (self.waits.len(), self.blocked);
        write!(f, "{waits} operations wait, {blocked} more for them")?;
        for wait in self.waits.iter().take(SHOWN) {
            write!(f, "\n  {wait}")?;
        }
        let kinds = [("not arrived", &self.under_way), ("arrived, not received", &self.unclaimed)];
        for (what, messages) in kinds {
            for messages in messages.iter().take(SHOWN) {
                write!(f, "\n  {what}: {messages}")?;
            }
        }
        Ok(())
    }
}
