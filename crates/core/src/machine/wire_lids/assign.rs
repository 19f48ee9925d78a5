//! Giving out LIDs: runs that somebody must have, runs that somebody would like, and free ones for the rest.

use super::Run;
use crate::machine::{LMC_MAX, UNICAST_LIDS};

/// What a part asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// Exactly this run, whoever else has it.
    Fixed(Run),
    /// This run if it is free and well placed, else another one as long.
    Preferred(Run),
    /// Any run of 2^lmc.
    Any(u8),
}

/// The LIDs of one plane that are taken; reused from plane to plane.
pub(super) struct Taken {
    taken: Vec<bool>,
}

impl Taken {
    pub(super) fn new() -> Self {
        let mut taken = vec![false; UNICAST_LIDS + 1];
        taken[0] = true;
        Taken { taken }
    }

    /// A run for each part of a plane, in their order; `None` if LIDs run out.
    pub(super) fn give(
        &mut self,
        wanted: impl Iterator<Item = Wanted> + Clone,
    ) -> Option<Vec<Run>> {
        let mut given: Vec<Option<Run>> = wanted.clone().map(|_| None).collect();
        for (slot, wanted) in given.iter_mut().zip(wanted.clone()) {
            if let Wanted::Fixed(run) = wanted {
                self.take(run);
                *slot = Some(run);
            }
        }
        for (slot, wanted) in given.iter_mut().zip(wanted.clone()) {
            if let Wanted::Preferred(run) = wanted
                && run.first != 0
                && self.is_free(run)
            {
                self.take(run);
                *slot = Some(run);
            }
        }
        let mut next = [1; LMC_MAX as usize + 1];
        let mut complete = true;
        for (slot, wanted) in given.iter_mut().zip(wanted) {
            let (Wanted::Any(lmc) | Wanted::Preferred(Run { lmc, .. })) = wanted else { continue };
            if slot.is_some() {
                continue;
            }
            let Some(first) = self.free_run(next[usize::from(lmc)], 1 << lmc) else {
                complete = false;
                break;
            };
            next[usize::from(lmc)] = first + (1 << lmc);
            let run = Run { first: first as u16, lmc, given: false };
            self.take(run);
            *slot = Some(run);
        }
        // Planes are many and mostly small: clear only what this one used.
        for run in given.iter().flatten() {
            self.taken[span(*run)].fill(false);
        }
        self.taken[0] = true;
        if complete { given.into_iter().collect() } else { None }
    }

    fn take(&mut self, run: Run) {
        self.taken[span(run)].fill(true);
    }

    /// Whether a run begins at a multiple of its length, ends in time, and nobody has any of it.
    fn is_free(&self, run: Run) -> bool {
        let (first, size) = (usize::from(run.first), 1 << run.lmc);
        let row = self.taken.get(first..first + size);
        first.is_multiple_of(size) && row.is_some_and(|row| row.iter().all(|taken| !taken))
    }

    /// The first free run of `size` LIDs from `start` on that begins at a multiple of `size`, as a LID mask count asks.
    fn free_run(&self, start: usize, size: usize) -> Option<usize> {
        let first = start.next_multiple_of(size);
        (first..self.taken.len()).step_by(size).find(|&lid| {
            self.taken.get(lid..lid + size).is_some_and(|run| run.iter().all(|taken| !taken))
        })
    }
}

/// The unicast LIDs of a run.
fn span(run: Run) -> std::ops::Range<usize> {
    let first = usize::from(run.first).min(UNICAST_LIDS);
    first..(first + (1 << run.lmc)).min(UNICAST_LIDS + 1)
}
