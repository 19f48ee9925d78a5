//! The order of the writes of one block number over all switches of a plane.
//!
//! Blocks of different numbers hold different LIDs and need not know of each other. In a round, every switch whose
//! changed LIDs may all change is written. If there is none, blocks wait for each other because of different LIDs: the
//! one with the fewest LIDs that must still wait is written without them, and again later.

use super::moves::Moves;
use super::{BlockWrite, Plane, PlaneTables, Update};
use crate::ids::Lid;

/// Orders one block after the other; reused.
#[derive(Default)]
pub(super) struct Scheduler {
    moves: Moves,
    /// By switch: LIDs that have yet to change.
    pending: Vec<u64>,
    /// By switch: LIDs that must wait.
    blocked: Vec<u64>,
    /// By switch: LIDs that the new tables lead nowhere.
    astray: Vec<u64>,
    /// By switch: writes so far.
    written: Vec<u32>,
    /// By entry: how many others it waits for.
    unmet: Vec<u16>,
    /// By entry: the first of the waits for it, [`NONE`] if nobody waits.
    first_wait: Vec<u32>,
    /// Who waits, and the next wait for the same entry.
    waits: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;
/// Entries of a block.
const BITS: usize = super::BLOCK_LIDS as usize;

impl Scheduler {
    /// Orders the writes of block `block`, whose LIDs are `columns`.
    pub(super) fn schedule(
        &mut self,
        tables: &PlaneTables<'_>,
        columns: &[Option<Lid>],
        block: u16,
    ) -> Update {
        let mut update = Update::default();
        let any = self.find_changes(tables, columns);
        if any == 0 {
            return update;
        }
        for pending in &self.pending {
            update.changed_entries += u64::from(pending.count_ones());
            update.changed_blocks += u64::from(*pending != 0);
        }
        self.find_waits(tables, columns, any);
        self.write_all(tables.plane, block, &mut update);
        self.write_astray(tables.plane, block, &mut update);
        update
    }

    /// Notes which LIDs change at each switch, and returns those that change anywhere.
    fn find_changes(&mut self, tables: &PlaneTables<'_>, columns: &[Option<Lid>]) -> u64 {
        self.pending.clear();
        self.pending.extend(tables.plane.switches.iter().map(|&switch| {
            let differs = |lid| tables.old.port(switch, lid) != tables.new.port(switch, lid);
            let bits = columns.iter().enumerate();
            bits.fold(0, |mask, (bit, lid)| mask | u64::from(lid.is_some_and(differs)) << bit)
        }));
        self.pending.iter().fold(0, |any, pending| any | pending)
    }

    fn find_waits(&mut self, tables: &PlaneTables<'_>, columns: &[Option<Lid>], any: u64) {
        let count = tables.plane.switches.len();
        for list in [&mut self.blocked, &mut self.astray] {
            list.clear();
            list.resize(count, 0);
        }
        self.unmet.clear();
        self.unmet.resize(count * BITS, 0);
        self.first_wait.clear();
        self.first_wait.resize(count * BITS, NONE);
        self.waits.clear();
        let Scheduler { moves, pending, blocked, astray, unmet, first_wait, waits, .. } = self;
        for (bit, lid) in columns.iter().enumerate().filter(|(bit, _)| any >> bit & 1 == 1) {
            let Some(lid) = *lid else { continue };
            let changed = |at: usize| pending[at] >> bit & 1 == 1;
            let wait = |waiting: u32, on: u32| {
                let [waiting, on] = [waiting, on].map(|at| at as usize * BITS + bit);
                blocked[waiting / BITS] |= 1 << bit;
                unmet[waiting] += 1;
                waits.push((waiting as u32, first_wait[on]));
                first_wait[on] = waits.len() as u32 - 1;
            };
            moves.of(tables, lid, changed, |at| astray[at] |= 1 << bit, wait);
        }
    }

    /// Writes everything but the final values of entries that lead nowhere.
    fn write_all(&mut self, plane: &Plane, block: u16, update: &mut Update) {
        self.written.clear();
        self.written.resize(plane.switches.len(), 0);
        let free =
            |at: &usize| self.pending[*at] != 0 && self.pending[*at] & self.blocked[*at] == 0;
        let mut ready: Vec<usize> = (0..plane.switches.len()).filter(free).collect();
        let mut left = self.pending.iter().filter(|pending| **pending != 0).count();
        while left > 0 {
            update.rounds += 1;
            if ready.is_empty() {
                ready.extend(self.least_blocked());
            }
            // INVARIANT: for each LID by itself nobody waits in a circle, so some LID of some switch is free.
            assert!(!ready.is_empty(), "every entry of block {block} waits for another");
            let mut next = Vec::new();
            let turn: Vec<(usize, u64)> =
                ready.iter().map(|&at| (at, self.pending[at] & !self.blocked[at])).collect();
            for (at, now) in turn {
                let astray = self.astray[at];
                update.writes.push(BlockWrite {
                    round: update.rounds,
                    switch: plane.switches[at],
                    block,
                    set: now & !astray,
                    clear: now & astray,
                });
                self.written[at] += 1;
                self.pending[at] &= !now;
                left -= usize::from(self.pending[at] == 0);
                self.release(at, now, &mut next);
            }
            next.sort_unstable();
            ready = next;
        }
        update.split_blocks = self.written.iter().filter(|writes| **writes > 1).count() as u64;
    }

    /// Tells those who wait for the entries `done` of a switch; switches that wait for nothing more go to `free`.
    fn release(&mut self, at: usize, mut done: u64, free: &mut Vec<usize>) {
        while done != 0 {
            let bit = done.trailing_zeros() as usize;
            done &= done - 1;
            let mut wait = self.first_wait[at * BITS + bit];
            while wait != NONE {
                let (waiting, next) = self.waits[wait as usize];
                wait = next;
                let waiting = waiting as usize;
                self.unmet[waiting] -= 1;
                if self.unmet[waiting] == 0 {
                    let switch = waiting / BITS;
                    self.blocked[switch] &= !(1 << bit);
                    if self.pending[switch] != 0 && self.pending[switch] & self.blocked[switch] == 0
                    {
                        free.push(switch);
                    }
                }
            }
        }
    }

    /// The switch with a LID that may change and the fewest that may not.
    fn least_blocked(&self) -> Option<usize> {
        let some_free = |at: &usize| self.pending[*at] & !self.blocked[*at] != 0;
        (0..self.pending.len())
            .filter(some_free)
            .min_by_key(|&at| (self.pending[at] & self.blocked[at]).count_ones())
    }

    fn write_astray(&self, plane: &Plane, block: u16, update: &mut Update) {
        let astray = self.astray.iter().zip(&plane.switches).filter(|(astray, _)| **astray != 0);
        let round = update.rounds + 1;
        for (&set, &switch) in astray {
            update.rounds = round;
            update.dropped_entries += u64::from(set.count_ones());
            update.writes.push(BlockWrite { round, switch, block, set, clear: 0 });
        }
    }
}
