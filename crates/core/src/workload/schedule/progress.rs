//! Running a schedule: what may start, what is complete. A state machine without a clock.
//!
//! Whoever has a clock and a network takes what a rank may start ([`ready_send`](Progress::ready_send),
//! [`ready_compute`](Progress::ready_compute)) when the rank can, and says when a send has left or a computation is over
//! ([`complete`](Progress::complete)) and when a message is there ([`arrived`](Progress::arrived)). Receives need nobody:
//! they start when they may and end with their message. Taking an operation is what starts it.
//!
//! What is told of a rank changes that rank alone: `complete` that of the operation, `arrived` the target. So whoever
//! found nothing to start at a rank need not ask again until one of them was called for it.

use std::collections::VecDeque;

use super::matching::Matching;
use super::{NONE, Op, OpId, Schedule};
use crate::ids::Rank;
use crate::units::Picos;

/// What cannot be told of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgressError {
    /// Complete is what runs: a send or a computation that was taken and was not complete.
    #[error("operation {number} of rank {rank} is no send or computation that runs")]
    NotRunning {
        /// Its rank.
        rank: u32,
        /// The operation, counted from the first of its rank.
        number: u32,
    },
    /// A message that is not under way.
    #[error("no message from rank {source_rank} to rank {target} with tag {tag} is under way")]
    NotSent {
        /// The sender given.
        source_rank: u32,
        /// The receiver given.
        target: u32,
        /// The tag given.
        tag: u32,
    },
}

/// How far a schedule has come.
#[derive(Clone, Debug)]
pub struct Progress<'s> {
    pub(super) schedule: &'s Schedule,
    pending: Vec<u32>,
    pub(super) states: Vec<State>,
    ranks: Vec<RankState>,
    /// By operation: the one behind it in the queue it stands in.
    next: Vec<u32>,
    pub(super) matching: Matching,
    /// Operations of one rank that have just become free.
    freed: VecDeque<OpId>,
    left: usize,
}

/// How far an operation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Waits for others.
    Blocked,
    /// May be taken.
    Ready,
    /// Was taken, or waits for its message.
    Started,
    /// Is over.
    Complete,
}

/// What a rank may start, and what it is at.
#[derive(Clone, Debug)]
struct RankState {
    sends: Queue,
    /// Its processors that had to do with a computation so far, by number.
    cpus: Vec<Cpu>,
    left: u32,
}

/// A processor of a rank.
#[derive(Clone, Copy, Debug)]
struct Cpu {
    number: u8,
    busy: bool,
    computes: Queue,
}

/// First and last of a queue.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

const EMPTY: Queue = Queue { head: NONE, tail: NONE };

impl Queue {
    /// Puts `op` last; `next` has by operation the one behind it.
    fn add(&mut self, op: OpId, next: &mut [u32]) {
        match self.tail {
            NONE => self.head = op.0,
            last => next[last as usize] = op.0,
        }
        self.tail = op.0;
    }

    /// Takes the first.
    fn take(&mut self, next: &mut [u32]) -> Option<OpId> {
        let op = self.head;
        if op == NONE {
            return None;
        }
        self.head = std::mem::replace(&mut next[op as usize], NONE);
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(OpId(op))
    }
}

impl RankState {
    /// The processor with that number.
    fn cpu(&mut self, number: u8) -> &mut Cpu {
        let at = self.cpus.binary_search_by_key(&number, |cpu| cpu.number).unwrap_or_else(|at| {
            self.cpus.insert(at, Cpu { number, busy: false, computes: EMPTY });
            at
        });
        &mut self.cpus[at]
    }
}

impl Cpu {
    /// Whether it may start a computation.
    fn has_compute(&self) -> bool {
        !self.busy && self.computes.head != NONE
    }
}

impl<'s> Progress<'s> {
    /// The beginning: what requires nothing may start.
    #[must_use]
    pub fn new(schedule: &'s Schedule) -> Self {
        let count = schedule.ops.len();
        let rank_state = |rank| {
            let left = schedule.ops_of(Rank(rank)).len() as u32;
            RankState { sends: EMPTY, cpus: Vec::new(), left }
        };
        let mut progress = Progress {
            schedule,
            pending: schedule.pending.clone(),
            states: vec![State::Blocked; count],
            ranks: (0..schedule.ranks()).map(rank_state).collect(),
            next: vec![NONE; count],
            matching: Matching::new(schedule),
            freed: VecDeque::new(),
            left: count,
        };
        for rank in (0..schedule.ranks()).map(Rank) {
            let free = schedule.ops_of(rank).filter(|&op| schedule.pending[op as usize] == 0);
            progress.freed.extend(free.map(OpId));
            progress.settle(rank);
        }
        progress
    }

    /// Bytes that running a schedule takes.
    #[must_use]
    pub fn memory(schedule: &Schedule) -> u64 {
        let each = 2 * size_of::<u32>() + size_of::<State>();
        let ops = schedule.ops.len() * each + schedule.ranks() as usize * size_of::<RankState>();
        let is_compute = |op: &u32| matches!(schedule.op(OpId(*op)), Op::Compute { .. });
        let computes = |rank| schedule.ops_of(Rank(rank)).filter(is_compute).count();
        // A list grows from 4 by doubling.
        let room = |cpus: usize| if cpus == 0 { 0 } else { cpus.next_power_of_two().max(4) };
        let cpus = |rank| room(computes(rank).min(usize::from(u8::MAX) + 1));
        let cpus = (0..schedule.ranks()).map(cpus).sum::<usize>() * size_of::<Cpu>();
        (ops + cpus) as u64 + Matching::memory(schedule)
    }

    /// Takes the next send that `rank` may start, in the order in which they became free.
    pub fn ready_send(&mut self, rank: Rank) -> Option<OpId> {
        let op = self.ranks[rank.index()].sends.take(&mut self.next)?;
        self.matching.sent(self.schedule.envelopes.of_op[op.index()]);
        self.start(op);
        self.settle(rank);
        Some(op)
    }

    /// Takes the next computation that `rank` may start: the one that became free first of the processor with the lowest
    /// number that does nothing.
    pub fn ready_compute(&mut self, rank: Rank) -> Option<OpId> {
        let cpu = self.ranks[rank.index()].cpus.iter_mut().find(|cpu| cpu.has_compute())?;
        cpu.busy = true;
        let op = cpu.computes.take(&mut self.next)?;
        self.start(op);
        self.settle(rank);
        Some(op)
    }

    /// Whether `rank` may start a send.
    #[inline]
    #[must_use]
    pub fn has_send(&self, rank: Rank) -> bool {
        self.ranks[rank.index()].sends.head != NONE
    }

    /// Whether `rank` may start a computation.
    #[must_use]
    pub fn has_compute(&self, rank: Rank) -> bool {
        self.ranks[rank.index()].cpus.iter().any(Cpu::has_compute)
    }

    /// A send that was taken has left its rank, or a computation that was taken is over.
    ///
    /// # Errors
    /// If it is neither; nothing has changed then.
    pub fn complete(&mut self, op: OpId) -> Result<(), ProgressError> {
        let is_receive = |op| matches!(self.schedule.op(op), Op::Receive { .. });
        if self.states.get(op.index()) != Some(&State::Started) || is_receive(op) {
            return Err(self.not_running(op));
        }
        let rank = self.schedule.rank_of(op);
        if let Op::Compute { cpu, .. } = self.schedule.op(op) {
            self.ranks[rank.index()].cpu(cpu).busy = false;
        }
        self.finish(rank, op);
        self.settle(rank);
        Ok(())
    }

    /// A message has reached its target, whether or not its send was said to be complete. Messages of one source, target
    /// and tag are taken to arrive in the order they were sent.
    ///
    /// # Errors
    /// If no such message is under way; nothing has changed then.
    pub fn arrived(&mut self, source: Rank, target: Rank, tag: u32) -> Result<(), ProgressError> {
        let envelope = match target.0 < self.schedule.ranks() {
            true => self.schedule.envelopes.find(target.0, source.0, tag),
            false => NONE,
        };
        self.receive(target, envelope).map_err(|()| ProgressError::NotSent {
            source_rank: source.0,
            target: target.0,
            tag,
        })
    }

    /// The same for whoever remembers which send it was.
    ///
    /// # Errors
    /// If the send is none, or its message is not under way; nothing has changed then.
    pub fn arrived_of(&mut self, op: OpId) -> Result<(), ProgressError> {
        let Some(&Op::Send { target, .. }) = self.schedule.ops.get(op.index()) else {
            return Err(self.not_running(op));
        };
        let envelope = self.schedule.envelopes.of_op[op.index()];
        self.receive(target, envelope).map_err(|()| self.not_running(op))
    }

    /// Whether every operation is complete.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.left == 0
    }

    /// Whether every operation of `rank` is complete.
    #[must_use]
    pub fn finished_rank(&self, rank: Rank) -> bool {
        self.ranks[rank.index()].left == 0
    }

    fn receive(&mut self, target: Rank, envelope: u32) -> Result<(), ()> {
        if let Some(op) = self.matching.came(self.schedule, target.0, envelope)? {
            self.finish(target, op);
            self.settle(target);
        }
        Ok(())
    }

    /// Starts or queues what has become free at `rank`, and what that frees.
    fn settle(&mut self, rank: Rank) {
        while let Some(op) = self.freed.pop_front() {
            match self.schedule.op(op) {
                Op::Send { target, .. } if target == rank => {
                    let envelope = self.schedule.envelopes.of_op[op.index()];
                    self.matching.sent(envelope);
                    self.start(op);
                    self.finish(rank, op);
                    if let Ok(Some(receive)) = self.matching.came(self.schedule, rank.0, envelope) {
                        self.finish(rank, receive);
                    }
                }
                Op::Send { .. } => {
                    self.states[op.index()] = State::Ready;
                    self.ranks[rank.index()].sends.add(op, &mut self.next);
                }
                Op::Compute { time: Picos(0), .. } => {
                    self.start(op);
                    self.finish(rank, op);
                }
                Op::Compute { cpu, .. } => {
                    self.states[op.index()] = State::Ready;
                    self.ranks[rank.index()].cpu(cpu).computes.add(op, &mut self.next);
                }
                Op::Receive { .. } => {
                    self.start(op);
                    if self.matching.post(self.schedule, rank.0, op) {
                        self.finish(rank, op);
                    }
                }
            }
        }
    }

    fn start(&mut self, op: OpId) {
        self.states[op.index()] = State::Started;
        let schedule = self.schedule;
        self.release(schedule.after_start.of(op.0));
    }

    fn finish(&mut self, rank: Rank, op: OpId) {
        self.states[op.index()] = State::Complete;
        self.left -= 1;
        self.ranks[rank.index()].left -= 1;
        let schedule = self.schedule;
        self.release(schedule.after_complete.of(op.0));
    }

    fn release(&mut self, ops: &[u32]) {
        for &op in ops {
            self.pending[op as usize] -= 1;
            if self.pending[op as usize] == 0 {
                self.freed.push_back(OpId(op));
            }
        }
    }

    fn not_running(&self, op: OpId) -> ProgressError {
        if op.index() >= self.states.len() {
            return ProgressError::NotRunning { rank: self.schedule.ranks(), number: op.0 };
        }
        let rank = self.schedule.rank_of(op);
        ProgressError::NotRunning { rank: rank.0, number: op.0 - self.schedule.first[rank.index()] }
    }
}
