//! Schedules: programs whose messages depend on each other, as operations of ranks and what each of them requires.
//!
//! Every rank has operations: send, receive, compute. An operation *requires* others of its rank that must be complete
//! before it starts, and *irequires* others that must have started. A send is complete when it has left its rank, a receive
//! when its message has arrived, a computation when its time is over. A receive takes the earliest message to its rank
//! with its source and tag that no receive took before it, and messages wait for receives that start later (MPI's order).
//!
//! [`Builder`] makes schedules and checks them, [`from_phases`](Schedule::from_phases) makes them of finite workloads,
//! [`read_goal`](super::read_goal) reads them from traces; [`Progress`] runs them for whoever has a clock. Knows no times but those
//! of computations, and no machine.
//!
//! Source: the operations and their two dependencies are GOAL's: Hoefler, Siebert, Lumsdaine, "Group Operation Assembly
//! Language - A Flexible Way to Express Collective Communication", ICPP 2009.
//! Limits: [`MOST_OPERATIONS`] operations, which with their dependencies take some 6 GiB; sizes of receives are not kept.

mod builder;
mod matching;
mod phases;
mod progress;
mod stuck;
mod unmatched;

pub use builder::Builder;
pub use progress::{Progress, ProgressError};
pub use stuck::{Messages, Stuck, Wait, WaitsFor};
pub use unmatched::Unmatched;

use std::ops::Range;

use super::WorkloadError;
use crate::ids::Rank;
use crate::units::{Bytes, Picos};

/// The most operations of a schedule.
pub const MOST_OPERATIONS: usize = 1 << 26;

/// An operation: its position among those of all ranks, which follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// The position in its array.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sends a message. One to the rank itself crosses no network: it is there at once.
    Send {
        /// Receiver.
        target: Rank,
        /// Payload.
        size: Bytes,
        /// What receives tell messages of one sender apart by.
        tag: u32,
    },
    /// Waits for a message.
    Receive {
        /// Sender; `None` takes any.
        source: Option<Rank>,
        /// Its tag; `None` takes any.
        tag: Option<u32>,
    },
    /// Computes. One of no time is complete as soon as it may start: it joins others.
    Compute {
        /// How long.
        time: Picos,
        /// Where: computations of a rank on one processor follow each other.
        cpu: u8,
    },
}

/// Why there is no such schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// A rank that is none.
    #[error("there is no rank {rank}; there are {ranks}, counted from 0")]
    Rank {
        /// The rank given.
        rank: u32,
        /// How many there are.
        ranks: u32,
    },
    /// A dependency on an operation that is none.
    #[error("rank {rank} has no operation {op}; it has {count}, counted from 0")]
    Operation {
        /// The rank.
        rank: u32,
        /// The operation given.
        op: u32,
        /// How many the rank has.
        count: usize,
    },
    /// Operations that wait for each other in a ring.
    #[error("operation {op} of rank {rank} requires itself, by way of others or at once")]
    Circular {
        /// The rank.
        rank: u32,
        /// The lowest operation of the rank on a ring.
        op: u32,
    },
    /// More operations or dependencies than are held.
    #[error("the schedule has {count} {what}, at most {most} are held; take fewer ranks")]
    TooLarge {
        /// How many it has, or has so far.
        count: u64,
        /// Operations, dependencies or phases.
        what: &'static str,
        /// The most there may be.
        most: u64,
    },
    /// A workload without end.
    #[error("{name} goes on for ever and has no schedule; take a finite workload")]
    Steady {
        /// The workload.
        name: &'static str,
    },
    /// The workload has no such phases.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// Operations of ranks, and which of them wait for which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// First operation of every rank, and one past the last.
    first: Vec<u32>,
    ops: Vec<Op>,
    /// How many requirements each operation has, of both kinds.
    pending: Vec<u32>,
    /// By operation, those that require it.
    after_complete: Lists,
    /// By operation, those that irequire it.
    after_start: Lists,
    envelopes: Envelopes,
}

impl Schedule {
    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        // Fits: the builder counts ranks in 32 bits.
        (self.first.len() - 1) as u32
    }

    /// All operations, rank by rank; [`OpId`] is the position.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// One operation.
    #[inline]
    #[must_use]
    pub fn op(&self, op: OpId) -> Op {
        self.ops[op.index()]
    }

    /// The operations of a rank.
    #[must_use]
    pub fn ops_of(&self, rank: Rank) -> Range<u32> {
        self.first[rank.index()]..self.first[rank.index() + 1]
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let Envelopes { first, labels, of_op, .. } = &self.envelopes;
        let words = [&self.first, &self.pending, first, of_op];
        let lists = [&self.after_complete, &self.after_start];
        let words = words.map(Vec::len).iter().sum::<usize>()
            + lists.iter().map(|list| list.first.len() + list.ops.len()).sum::<usize>();
        let (ops, labels) = (self.ops.len() * size_of::<Op>(), labels.len() * 2 * size_of::<u32>());
        (ops + labels + words * size_of::<u32>()) as u64
    }

    /// Whose operation it is.
    #[must_use]
    pub fn rank_of(&self, op: OpId) -> Rank {
        Rank::from_index(self.first.partition_point(|&first| first <= op.0) - 1)
    }

    /// Payload of all messages, in bytes.
    #[must_use]
    pub fn payload(&self) -> Bytes {
        let sizes =
            self.ops.iter().map(|op| if let Op::Send { size, .. } = op { size.0 } else { 0 });
        Bytes(sizes.fold(0, u64::saturating_add))
    }
}

/// A list of operations for each of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lists {
    first: Vec<u32>,
    ops: Vec<u32>,
}

impl Lists {
    /// Sorts pairs by their first members, otherwise in the order given.
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0u32; count + 1];
        pairs.clone().for_each(|(key, _)| first[key as usize + 1] += 1);
        (0..count).for_each(|at| first[at + 1] += first[at]);
        let mut next = first.clone();
        let mut ops = vec![0; first[count] as usize];
        for (key, op) in pairs {
            ops[next[key as usize] as usize] = op;
            next[key as usize] += 1;
        }
        Lists { first, ops }
    }

    #[inline]
    fn range(&self, key: u32) -> Range<usize> {
        self.first[key as usize] as usize..self.first[key as usize + 1] as usize
    }

    #[inline]
    fn of(&self, key: u32) -> &[u32] {
        &self.ops[self.range(key)]
    }
}

/// What messages look like to their receivers: an envelope is a target, a source and a tag under which messages are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Envelopes {
    /// First envelope of every target, and one past the last.
    first: Vec<u32>,
    /// Source and tag, ascending for each target.
    labels: Vec<(u32, u32)>,
    /// By operation: the envelope of a send, or of a receive that takes no other; else [`NONE`].
    of_op: Vec<u32>,
    /// Whether some receive takes any source or any tag.
    wild: bool,
}

/// No operation, no envelope.
const NONE: u32 = u32::MAX;

impl Envelopes {
    fn new(first_op: &[u32], ops: &[Op]) -> Self {
        let ranks = first_op.len() - 1;
        let each = || {
            (0..ranks).flat_map(|rank| {
                (first_op[rank]..first_op[rank + 1]).map(move |op| (rank as u32, op))
            })
        };
        let mut all: Vec<(u32, u32, u32)> = each()
            .filter_map(|(source, op)| match ops[op as usize] {
                Op::Send { target, tag, .. } => Some((target.0, source, tag)),
                _ => None,
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut first = vec![0u32; ranks + 1];
        all.iter().for_each(|&(target, ..)| first[target as usize + 1] += 1);
        (0..ranks).for_each(|at| first[at + 1] += first[at]);
        let labels = all.into_iter().map(|(_, source, tag)| (source, tag)).collect();
        let mut envelopes = Envelopes { first, labels, of_op: Vec::new(), wild: false };
        let found = each().map(|(rank, op)| match ops[op as usize] {
            Op::Send { target, tag, .. } => envelopes.find(target.0, rank, tag),
            Op::Receive { source: Some(source), tag: Some(tag) } => {
                envelopes.find(rank, source.0, tag)
            }
            _ => NONE,
        });
        envelopes.of_op = found.collect();
        envelopes.wild = ops.iter().any(|op| {
            matches!(op, Op::Receive { source: None, .. } | Op::Receive { tag: None, .. })
        });
        envelopes
    }

    fn find(&self, target: u32, source: u32, tag: u32) -> u32 {
        let own = self.of_target(target);
        let labels = &self.labels[own.start as usize..own.end as usize];
        labels.binary_search(&(source, tag)).map_or(NONE, |at| own.start + at as u32)
    }

    fn of_target(&self, target: u32) -> Range<u32> {
        self.first[target as usize]..self.first[target as usize + 1]
    }

    fn target(&self, envelope: u32) -> u32 {
        self.first.partition_point(|&first| first <= envelope) as u32 - 1
    }
}

#[cfg(test)]
mod tests;
