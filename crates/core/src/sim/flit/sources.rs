//! Who sends what, from the workloads: random targets for ever, the messages of phases, or schedules in which messages wait
//! for others.

use std::collections::VecDeque;

use super::source::{Send, Source};
use crate::ids::Rank;
use crate::rng::{Seed, Stream};
use crate::traffic::Traffic;
use crate::units::{Bytes, Picos};
use crate::workload::schedule::{Op, OpId, Progress, Schedule};

/// Messages of one size, each to a rank drawn at random from all others, for ever.
#[derive(Clone, Debug)]
pub struct RandomTargets {
    size: Bytes,
    streams: Vec<Stream>,
    unrouted: u64,
}

impl RandomTargets {
    /// Draws are those of `seed`, a stream a rank, so they do not depend on timing.
    #[must_use]
    pub fn new(ranks: u32, size: Bytes, seed: Seed) -> Self {
        let stream = |rank| seed.stream("flit targets", rank);
        RandomTargets { size, streams: (0..u64::from(ranks)).map(stream).collect(), unrouted: 0 }
    }

    /// Draws of a rank that no route serves before it gives up.
    const TRIES: u64 = 1_000_000;
}

impl Source for RandomTargets {
    fn next(&mut self, rank: u32, _now: Picos) -> Option<Send> {
        let others = self.streams.len() as u64 - 1;
        if others == 0 || self.unrouted > Self::TRIES {
            return None;
        }
        let drawn = self.streams[rank as usize].below(others) as u32;
        let target = drawn + u32::from(drawn >= rank);
        Some(Send { target, bytes: self.size.0, tag: 0 })
    }

    fn delivered(&mut self, _source: u32, _send: Send, _now: Picos, _ready: &mut Vec<u32>) {}

    fn unrouted(&mut self, _source: u32, _send: Send) {
        self.unrouted += 1;
    }
}

/// The messages of phases, each rank's one after the other: a rank begins with its next message when it has sent the last
/// one, and waits for nobody.
pub struct Phases<F> {
    phase: F,
    /// Phases so far, of how many; `None`: begin again after the last of them.
    next: u64,
    count: u64,
    forever: bool,
    queues: Vec<VecDeque<Send>>,
}

impl<F: FnMut(u64) -> Traffic> Phases<F> {
    /// The phases `0..count` that `phase` works out, once or for ever.
    pub fn new(ranks: u32, count: u64, forever: bool, phase: F) -> Self {
        Phases { phase, next: 0, count, forever, queues: vec![VecDeque::new(); ranks as usize] }
    }
}

impl<F: FnMut(u64) -> Traffic> Source for Phases<F> {
    fn next(&mut self, rank: u32, _now: Picos) -> Option<Send> {
        let at = rank as usize;
        let mut rounds = 0;
        while self.queues[at].is_empty() {
            let over = !self.forever && self.next == self.count;
            // A rank that sends in no phase has had them all once.
            if over || self.count == 0 || rounds > self.count {
                return None;
            }
            let traffic = (self.phase)(self.next % self.count);
            for message in &traffic.messages {
                let send = Send { target: message.target.0, bytes: message.size.0, tag: 0 };
                self.queues[message.source.index()].push_back(send);
            }
            self.next += 1;
            rounds += 1;
        }
        self.queues[at].pop_front()
    }

    fn delivered(&mut self, _source: u32, _send: Send, _now: Picos, _ready: &mut Vec<u32>) {}

    fn unrouted(&mut self, _source: u32, _send: Send) {}
}

/// A schedule: a rank sends what no longer waits for anything. Sends are complete when the host is through with them.
///
/// Limits: computations take no time.
pub struct Scheduled<'s> {
    schedule: &'s Schedule,
    progress: Progress<'s>,
    /// By rank: the send that its host is busy with.
    sending: Vec<Option<OpId>>,
}

impl<'s> Scheduled<'s> {
    /// The schedule from its beginning.
    #[must_use]
    pub fn new(schedule: &'s Schedule) -> Self {
        let sending = vec![None; schedule.ranks() as usize];
        Scheduled { schedule, progress: Progress::new(schedule), sending }
    }

    fn complete(&mut self, op: OpId) {
        let told = self.progress.complete(op);
        // INVARIANT: what was taken from `progress` runs until it is told complete, once.
        debug_assert_eq!(told, Ok(()));
    }
}

impl Source for Scheduled<'_> {
    fn next(&mut self, rank: u32, _now: Picos) -> Option<Send> {
        if let Some(sent) = self.sending[rank as usize].take() {
            self.complete(sent);
        }
        while let Some(compute) = self.progress.ready_compute(Rank(rank)) {
            self.complete(compute);
        }
        let op = self.progress.ready_send(Rank(rank))?;
        self.sending[rank as usize] = Some(op);
        match self.schedule.op(op) {
            Op::Send { target, size, .. } => {
                Some(Send { target: target.0, bytes: size.0, tag: op.0 })
            }
            _ => None,
        }
    }

    fn delivered(&mut self, _source: u32, send: Send, _now: Picos, ready: &mut Vec<u32>) {
        let told = self.progress.arrived_of(OpId(send.tag));
        debug_assert_eq!(told, Ok(()));
        let target = Rank(send.target);
        if self.progress.has_send(target) || self.progress.has_compute(target) {
            ready.push(send.target);
        }
    }

    fn unrouted(&mut self, _source: u32, _send: Send) {
        // It has left for good; whoever waits for it waits for ever, and the count of unrouted messages says why.
    }
}
