//! Who sends what, from the workloads: random targets for ever, the messages of phases, or schedules in which messages wait
//! for others.

use std::collections::{BTreeMap, VecDeque};

use super::source::{Delivery, Next, Send, Source};
use crate::ids::Rank;
use crate::rng::{Seed, Stream};
use crate::traffic::{Message, Traffic};
use crate::units::Picos;
use crate::workload::Draw;
use crate::workload::schedule::{Op, OpId, Progress, Schedule, Stuck};

/// Messages of one size, each to a rank drawn at random, for ever.
#[derive(Clone, Debug)]
pub struct RandomTargets {
    draw: Draw,
    streams: Vec<Stream>,
}

impl RandomTargets {
    /// Draws are those of `seed`, a stream a rank, so they do not depend on timing.
    #[must_use]
    pub fn new(ranks: u32, draw: Draw, seed: Seed) -> Self {
        let stream = |rank| seed.stream("flit targets", rank);
        RandomTargets { draw, streams: (0..u64::from(ranks)).map(stream).collect() }
    }

    /// A hot rank other than `rank`; `None` if there is none.
    fn hot_rank(&mut self, rank: u32) -> Option<u32> {
        let (ranks, hot) = (self.streams.len() as u64, u64::from(self.draw.hot));
        let at = |index: u64| (index * ranks / hot) as u32;
        let own = (0..hot).find(|&index| at(index) == rank);
        let others = hot - u64::from(own.is_some());
        if others == 0 {
            return None;
        }
        let drawn = self.streams[rank as usize].below(others);
        Some(at(drawn + u64::from(own.is_some_and(|own| drawn >= own))))
    }

    /// Any other rank.
    fn any_rank(&mut self, rank: u32) -> u32 {
        let others = self.streams.len() as u64 - 1;
        let drawn = self.streams[rank as usize].below(others) as u32;
        drawn + u32::from(drawn >= rank)
    }
}

impl Source for RandomTargets {
    fn next(&mut self, rank: u32, _now: Picos) -> Next {
        if self.streams.len() < 2 {
            return Next::Nothing;
        }
        let Draw { size, hot, share } = self.draw;
        let is_hot = hot > 0 && self.streams[rank as usize].unit() < share;
        let target = match is_hot.then(|| self.hot_rank(rank)) {
            None => self.any_rank(rank),
            Some(Some(target)) => target,
            // The only hot rank sends the rest alone, if there is a rest.
            Some(None) if share < 1.0 => self.any_rank(rank),
            Some(None) => return Next::Nothing,
        };
        Next::Message(Send { target, bytes: size.0, tag: 0 })
    }

    fn delivered(&mut self, _delivery: Delivery, _ready: &mut Vec<u32>) {}

    fn unrouted(&mut self, _source: u32, _send: Send) {}
}

/// The messages of phases, each rank's one after the other: a rank begins with its next message when it has sent the last
/// one, and waits for nobody.
///
/// Ranks drift apart, so several phases are held at a time, and worked out again if they were given up too early.
pub struct Phases<F> {
    phase: F,
    count: u64,
    forever: bool,
    /// By rank: the phase it is in, and how many of its messages there it has sent.
    at: Vec<(u64, u32)>,
    held: BTreeMap<u64, Held>,
    /// Phases held, from the one held longest, and their messages.
    oldest: VecDeque<u64>,
    messages: usize,
}

/// The messages of a phase, sorted by sender.
struct Held {
    first: Vec<u32>,
    sends: Vec<Send>,
}

/// Messages that [`Phases`] hold at the most, unless a single phase has more.
const MOST_HELD: usize = 1 << 22;

/// Bytes that [`Phases`] hold at the most, of `count` phases of so many messages.
#[must_use]
pub fn phases_memory(messages: usize, count: u64) -> u64 {
    let (one, most) = (messages as u64, MOST_HELD as u64);
    let held = one.saturating_mul(count).min(most).max(one);
    // While one is worked out, it is there twice, once as messages.
    (held + one) * size_of::<Send>() as u64 + one * size_of::<Message>() as u64
}

impl<F: FnMut(u64) -> Traffic> Phases<F> {
    /// The phases `0..count` that `phase` works out, the same whenever asked, once or for ever.
    pub fn new(ranks: u32, count: u64, forever: bool, phase: F) -> Self {
        let at = vec![(0, 0); ranks as usize];
        let (held, oldest) = (BTreeMap::new(), VecDeque::new());
        Phases { phase, count, forever, at, held, oldest, messages: 0 }
    }

    /// The next message of `rank` in the phase that it is in.
    fn next_in_phase(&mut self, rank: u32) -> Option<Send> {
        let (phase, sent) = self.at[rank as usize];
        let number = phase % self.count;
        if !self.held.contains_key(&number) {
            self.hold(number);
        }
        let Held { first, sends } = self.held.get(&number)?;
        let own = first[rank as usize]..first[rank as usize + 1];
        sends[own.start as usize..own.end as usize].get(sent as usize).copied()
    }

    fn hold(&mut self, number: u64) {
        let traffic = (self.phase)(number);
        let mut first = vec![0u32; self.at.len() + 1];
        traffic.messages.iter().for_each(|message| first[message.source.index() + 1] += 1);
        (1..first.len()).for_each(|rank| first[rank] += first[rank - 1]);
        let mut next = first.clone();
        let mut sends = vec![Send { target: 0, bytes: 0, tag: 0 }; traffic.messages.len()];
        for message in &traffic.messages {
            let next = &mut next[message.source.index()];
            let (target, bytes) = (message.target.0, message.size.0);
            sends[*next as usize] = Send { target, bytes, tag: 0 };
            *next += 1;
        }
        self.messages += sends.len();
        self.held.insert(number, Held { first, sends });
        self.oldest.push_back(number);
        while self.messages > MOST_HELD && self.oldest.len() > 1 {
            let given_up = self.oldest.pop_front().and_then(|oldest| self.held.remove(&oldest));
            self.messages -= given_up.map_or(0, |held| held.sends.len());
        }
    }
}

impl<F: FnMut(u64) -> Traffic> Source for Phases<F> {
    fn next(&mut self, rank: u32, _now: Picos) -> Next {
        // A rank that sends in no phase has had them all once.
        for _ in 0..=self.count {
            let phase = self.at[rank as usize].0;
            if self.count == 0 || (!self.forever && phase == self.count) {
                break;
            }
            if let Some(send) = self.next_in_phase(rank) {
                self.at[rank as usize].1 += 1;
                return Next::Message(send);
            }
            self.at[rank as usize] = (phase + 1, 0);
        }
        Next::Nothing
    }

    fn delivered(&mut self, _delivery: Delivery, _ready: &mut Vec<u32>) {}

    fn unrouted(&mut self, _source: u32, _send: Send) {}
}

/// A schedule: a rank sends and computes what no longer waits for anything. Sends are complete when the host is through
/// with them. Ranks beyond those of the schedule have nothing to do.
///
/// Computations end between the moments at which a rank is asked or told; what follows from that is caught up on, end by
/// end, when it is next asked or told.
pub struct Scheduled<'s> {
    schedule: &'s Schedule,
    progress: Progress<'s>,
    ranks: Vec<Running>,
}

/// What of a rank is under way.
#[derive(Clone, Default)]
struct Running {
    /// The send that its host is busy with.
    sending: Option<OpId>,
    /// Computations, and when they end.
    computing: Vec<(Picos, OpId)>,
}

impl<'s> Scheduled<'s> {
    /// Bytes that a schedule and running it take.
    #[must_use]
    pub fn memory(schedule: &Schedule) -> u64 {
        schedule.memory() + Progress::memory(schedule)
    }

    /// The schedule from its beginning.
    #[must_use]
    pub fn new(schedule: &'s Schedule) -> Self {
        let ranks = vec![Running::default(); schedule.ranks() as usize];
        Scheduled { schedule, progress: Progress::new(schedule), ranks }
    }

    fn complete(&mut self, op: OpId) {
        let told = self.progress.complete(op);
        // INVARIANT: what was taken from `progress` runs until it is told complete, once.
        assert_eq!(told, Ok(()));
    }

    /// Starts the computations that `rank` may start at `now`.
    fn compute(&mut self, rank: u32, now: Picos) {
        while let Some(op) = self.progress.ready_compute(Rank(rank)) {
            if let Op::Compute { time, .. } = self.schedule.op(op) {
                let end = Picos(now.0.saturating_add(time.0));
                self.ranks[rank as usize].computing.push((end, op));
            }
        }
    }

    /// The computation of `rank` that ends first.
    fn first_end(&self, rank: u32) -> Option<(Picos, OpId)> {
        self.ranks[rank as usize].computing.iter().min().copied()
    }

    /// Has computations of `rank` end up to `now`, and those start that they free.
    fn catch_up(&mut self, rank: u32, now: Picos) {
        while let Some((end, op)) = self.first_end(rank).filter(|(end, _)| *end <= now) {
            self.ranks[rank as usize].computing.retain(|&(_, other)| other != op);
            self.complete(op);
            self.compute(rank, end);
        }
    }
}

impl Source for Scheduled<'_> {
    fn next(&mut self, rank: u32, now: Picos) -> Next {
        if rank >= self.schedule.ranks() {
            return Next::Nothing;
        }
        self.catch_up(rank, now);
        if let Some(sent) = self.ranks[rank as usize].sending.take() {
            self.complete(sent);
        }
        self.compute(rank, now);
        if let Some(op) = self.progress.ready_send(Rank(rank)) {
            self.ranks[rank as usize].sending = Some(op);
            // What starting it frees.
            self.compute(rank, now);
            if let Op::Send { target, size, .. } = self.schedule.op(op) {
                return Next::Message(Send { target: target.0, bytes: size.0, tag: op.0 });
            }
        }
        self.first_end(rank).map_or(Next::Nothing, |(end, _)| Next::At(end))
    }

    fn delivered(&mut self, delivery: Delivery, ready: &mut Vec<u32>) {
        let (target, now) = (delivery.send.target, delivery.now);
        self.catch_up(target, now);
        let told = self.progress.arrived_of(OpId(delivery.send.tag));
        assert_eq!(told, Ok(()));
        self.compute(target, now);
        if self.progress.has_send(Rank(target)) || self.first_end(target).is_some() {
            ready.push(target);
        }
    }

    fn unrouted(&mut self, _source: u32, _send: Send) {
        // It has left for good; whoever waits for it waits for ever, and `stuck` says so.
    }

    fn stuck(&self) -> Option<Stuck> {
        (!self.progress.finished()).then(|| self.progress.stuck())
    }
}
