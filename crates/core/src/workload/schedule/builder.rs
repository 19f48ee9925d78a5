//! Making a schedule operation by operation.

use super::{Envelopes, Lists, MOST_OPERATIONS, Op, Schedule, ScheduleError};
use crate::ids::Rank;

/// Takes operations rank by rank or mixed; those of a rank keep their order and are counted from 0.
#[derive(Clone, Debug)]
pub struct Builder {
    ranks: Vec<Draft>,
    operations: usize,
    dependencies: usize,
}

/// What one rank does; dependencies are pairs of an operation and one that waits for it.
#[derive(Clone, Debug, Default)]
struct Draft {
    ops: Vec<Op>,
    requires: Vec<(u32, u32)>,
    irequires: Vec<(u32, u32)>,
}

impl Builder {
    /// A schedule of ranks that do nothing.
    #[must_use]
    pub fn new(ranks: u32) -> Self {
        Builder { ranks: vec![Draft::default(); ranks as usize], operations: 0, dependencies: 0 }
    }

    /// Adds an operation to a rank; its number among those of the rank is what dependencies name it by.
    ///
    /// # Errors
    /// If there is no such rank, or no such partner, or there are too many operations.
    pub fn add(&mut self, rank: Rank, op: Op) -> Result<u32, ScheduleError> {
        let ranks = self.ranks.len() as u32;
        let partner = match op {
            Op::Send { target, .. } => Some(target),
            Op::Receive { source, .. } => source,
            Op::Compute { .. } => None,
        };
        for rank in [Some(rank), partner].into_iter().flatten() {
            if rank.0 >= ranks {
                return Err(ScheduleError::Rank { rank: rank.0, ranks });
            }
        }
        self.operations += 1;
        refuse_above(self.operations, "operations", MOST_OPERATIONS)?;
        let ops = &mut self.ranks[rank.index()].ops;
        ops.push(op);
        Ok(ops.len() as u32 - 1)
    }

    /// Lets operation `op` of a rank start only when its operation `on` is complete.
    ///
    /// # Errors
    /// If the rank has no such operations, or there are too many dependencies.
    pub fn requires(&mut self, rank: Rank, op: u32, on: u32) -> Result<(), ScheduleError> {
        self.check(rank, op, on)?;
        self.ranks[rank.index()].requires.push((on, op));
        Ok(())
    }

    /// Lets operation `op` of a rank start only when its operation `on` has started.
    ///
    /// # Errors
    /// If the rank has no such operations, or there are too many dependencies.
    pub fn irequires(&mut self, rank: Rank, op: u32, on: u32) -> Result<(), ScheduleError> {
        self.check(rank, op, on)?;
        self.ranks[rank.index()].irequires.push((on, op));
        Ok(())
    }

    /// The schedule.
    ///
    /// # Errors
    /// If operations require each other in a ring.
    ///
    /// # Complexity
    /// Linear in operations and dependencies, but for sorting the messages.
    pub fn build(mut self) -> Result<Schedule, ScheduleError> {
        let mut first = vec![0];
        let mut ops = Vec::with_capacity(self.operations);
        for draft in &mut self.ranks {
            ops.append(&mut draft.ops);
            // Fits: there are at most MOST_OPERATIONS.
            first.push(ops.len() as u32);
        }
        let lists = |kind: fn(&Draft) -> &[(u32, u32)]| {
            let pairs = self.ranks.iter().zip(&first).flat_map(|(draft, &first)| {
                kind(draft).iter().map(move |&(on, op)| (first + on, first + op))
            });
            Lists::new(ops.len(), pairs)
        };
        let after_complete = lists(|draft| &draft.requires);
        let after_start = lists(|draft| &draft.irequires);
        let mut pending = vec![0u32; ops.len()];
        for &op in after_complete.ops.iter().chain(&after_start.ops) {
            pending[op as usize] += 1;
        }
        let envelopes = Envelopes::new(&first, &ops);
        let schedule = Schedule { first, ops, pending, after_complete, after_start, envelopes };
        match schedule.on_a_ring() {
            Some((rank, op)) => Err(ScheduleError::Circular { rank, op }),
            None => Ok(schedule),
        }
    }

    fn check(&mut self, rank: Rank, op: u32, on: u32) -> Result<(), ScheduleError> {
        let ranks = self.ranks.len() as u32;
        let Some(draft) = self.ranks.get(rank.index()) else {
            return Err(ScheduleError::Rank { rank: rank.0, ranks });
        };
        let count = draft.ops.len();
        if let Some(&op) = [op, on].iter().find(|&&op| op as usize >= count) {
            return Err(ScheduleError::Operation { rank: rank.0, op, count });
        }
        self.dependencies += 1;
        refuse_above(self.dependencies, "dependencies", MOST_DEPENDENCIES)
    }
}

/// The most dependencies: they are counted in 32 bits.
const MOST_DEPENDENCIES: usize = u32::MAX as usize;

fn refuse_above(count: usize, what: &'static str, most: usize) -> Result<(), ScheduleError> {
    if count <= most {
        return Ok(());
    }
    Err(ScheduleError::TooLarge { count: count as u64, what, most: most as u64 })
}

impl Schedule {
    /// The first rank with a ring of dependencies, and the lowest operation of such a ring.
    ///
    /// A ring of either kind of dependency, or both, stands still: each of its operations starts after the next has.
    fn on_a_ring(&self) -> Option<(u32, u32)> {
        let mut pending = self.pending.clone();
        let mut free: Vec<u32> =
            (0..).zip(&pending).filter(|at| *at.1 == 0).map(|at| at.0).collect();
        let mut rest = self.ops.len();
        while let Some(op) = free.pop() {
            rest -= 1;
            for &next in self.after(op) {
                pending[next as usize] -= 1;
                if pending[next as usize] == 0 {
                    free.push(next);
                }
            }
        }
        if rest == 0 {
            return None;
        }
        // What is left is on a ring or waits for one; going from where one waits to what it waits for ends on a ring.
        let blocked = |op: &u32| pending[*op as usize] > 0;
        let mut waits_for = vec![super::NONE; self.ops.len()];
        for op in (0..self.ops.len() as u32).filter(blocked) {
            self.after(op).for_each(|&next| waits_for[next as usize] = op);
        }
        let mut at = (0..self.ops.len() as u32).find(blocked)?;
        let mut seen = vec![false; self.ops.len()];
        while !std::mem::replace(&mut seen[at as usize], true) {
            at = waits_for[at as usize];
        }
        let (start, mut lowest) = (at, at);
        loop {
            at = waits_for[at as usize];
            lowest = lowest.min(at);
            if at == start {
                break;
            }
        }
        let rank = self.rank_of(super::OpId(lowest));
        Some((rank.0, lowest - self.first[rank.index()]))
    }

    /// Operations that require or irequire `op`.
    fn after(&self, op: u32) -> impl Iterator<Item = &u32> {
        self.after_complete.of(op).iter().chain(self.after_start.of(op))
    }
}
