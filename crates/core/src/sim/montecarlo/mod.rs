//! Campaigns of failure sequences: nodes fail one after the other, ranks are moved, collisions are counted.
//!
//! A sequence fails the node of a rank drawn evenly, again and again, so that spares in use can fail and idle ones do not
//! ([`Victims`] has the other reading). What is drawn depends on the seed and the number of the sequence alone, so all
//! policies meet the same ranks, on any number of threads.
//!
//! Source: Hori et al. 2016, "Simulation".

mod any;
mod exhaustive;
mod together;
mod worst;

pub use any::{AnyJob, Network, any_job};
pub use exhaustive::{Worst, all_sequences};
pub use worst::{Proved, WorstError, worst_cases};

use rayon::prelude::*;

use crate::ids::NodeId;
use crate::load::PairLoad;
use crate::recovery::spares::{Choices, Job, Occupancy, Policy, Step, Substitution};
use crate::rng::{Seed, Stream};

/// What is done in every sequence.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Nodes that have failed before the job starts: its ranks are moved off them first, which does not count.
    pub dead: Vec<NodeId>,
    /// The policies compared.
    pub policies: Vec<Policy>,
    /// What the paper leaves open.
    pub choices: Choices,
    /// Who fails.
    pub victims: Victims,
    /// Failures of a sequence.
    pub failures: usize,
    /// For what is drawn.
    pub seed: Seed,
}

/// Which nodes may fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Victims {
    /// Those with a rank.
    #[default]
    Hosts,
    /// All that are alive, idle spares too.
    Alive,
}

/// What came out of sequences, for one policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By failure, from the first: how many sequences had each largest collision after it.
    pub collisions: Vec<Vec<u64>>,
    /// By failure: how many sequences used a slide of each degree; a search has none.
    pub degrees: Vec<Vec<u64>>,
    /// By failure: how many sequences lost a node without a rank.
    pub idle: Vec<u64>,
    /// By failure: how many sequences had no spare left for it.
    pub unrecovered: Vec<u64>,
}

impl Campaign {
    /// Runs sequences; a tally by policy. The same for any partition of the same numbers, once merged.
    #[must_use]
    pub fn run<L: PairLoad>(&self, job: &Job<L>, sequences: std::ops::Range<u64>) -> Vec<Tally> {
        let starts: Vec<_> =
            self.policies.iter().map(|policy| self.worm_eaten(job, policy)).collect();
        let empty = || self.policies.iter().map(|_| Tally::new(self.failures)).collect::<Vec<_>>();
        let merged = |mut sum: Vec<Tally>, more: Vec<Tally>| {
            sum.iter_mut().zip(&more).for_each(|(sum, more)| sum.merge(more));
            sum
        };
        // Sequences of one task share what begins alike; whoever starts anew copies the state.
        let count = sequences.end.saturating_sub(sequences.start);
        let tasks = TASKS_A_THREAD * rayon::current_num_threads() as u64;
        let size = (count / tasks).clamp(1, SEQUENCES_A_TASK) as usize;
        let firsts: Vec<u64> = sequences.clone().step_by(size).collect();
        let task = |&first: &u64| {
            let own = first..sequences.end.min(first + size as u64);
            let one = |(policy, start): (&Policy, &Option<Job<L>>)| match start {
                Some(start) => together::run(self, policy, start, own.clone()),
                None => Tally::lost(self.failures, own.end - own.start),
            };
            self.policies.iter().zip(&starts).map(one).collect()
        };
        firsts.par_iter().map(task).reduce(empty, merged)
    }

    /// The job with its ranks moved off nodes that are dead from the start; `None` if that takes more spares than there are.
    fn worm_eaten<L: PairLoad>(&self, job: &Job<L>, policy: &Policy) -> Option<Job<L>> {
        let mut job = job.clone();
        let mut stream = self.seed.stream("dead nodes", 0);
        let steps = job.fail_all(policy, self.choices, &self.dead, &mut stream);
        let lost = |step: &Step| matches!(step.substitution, Substitution::NoSpareLeft(_));
        (!steps.last().is_some_and(lost)).then_some(job)
    }
}

/// The most sequences that one task runs, and how many tasks there are at the least for each thread, if there are as many.
const SEQUENCES_A_TASK: u64 = 4096;
const TASKS_A_THREAD: u64 = 2;

impl Victims {
    /// The node that fails next; `None` if none is left.
    #[inline]
    fn draw(self, occupancy: &Occupancy, stream: &mut Stream) -> Option<NodeId> {
        let hosts = occupancy.node_of();
        match self {
            Victims::Hosts => hosts.get(stream.index(hosts.len())).copied(),
            Victims::Alive => {
                // Free nodes are few: draw among all until one is alive.
                if hosts.is_empty() && occupancy.free_count() == 0 {
                    return None;
                }
                loop {
                    let node = NodeId::from_index(stream.index(occupancy.grid().node_count()));
                    if !occupancy.is_dead(node) {
                        return Some(node);
                    }
                }
            }
        }
    }
}

impl Tally {
    fn new(failures: usize) -> Self {
        let rows = || vec![Vec::new(); failures];
        let (idle, unrecovered) = (vec![0; failures], vec![0; failures]);
        Tally { collisions: rows(), degrees: rows(), idle, unrecovered }
    }

    /// Sequences that find no spare from the first failure on.
    fn lost(failures: usize, sequences: u64) -> Self {
        let mut tally = Tally::new(failures);
        tally.unrecovered.iter_mut().take(1).for_each(|first| *first = sequences);
        tally
    }

    /// Notes that `sequences` sequences substituted a failed node alike, by a slide of that degree or a search.
    fn substituted(&mut self, failure: usize, degree: Option<u32>, collision: u32, sequences: u64) {
        count(&mut self.collisions[failure], collision, sequences);
        if let Some(degree) = degree {
            count(&mut self.degrees[failure], degree, sequences);
        }
    }

    /// Notes that a node failed that had no rank.
    fn idle(&mut self, failure: usize, collision: u32) {
        count(&mut self.collisions[failure], collision, 1);
        self.idle[failure] += 1;
    }

    /// Adds what came out of other sequences.
    pub fn merge(&mut self, other: &Tally) {
        for (own, add) in
            [(&mut self.collisions, &other.collisions), (&mut self.degrees, &other.degrees)]
        {
            for (own, add) in own.iter_mut().zip(add) {
                if own.len() < add.len() {
                    own.resize(add.len(), 0);
                }
                own.iter_mut().zip(add).for_each(|(own, add)| *own += add);
            }
        }
        let counts = [(&mut self.idle, &other.idle), (&mut self.unrecovered, &other.unrecovered)];
        for (own, add) in counts {
            own.iter_mut().zip(add).for_each(|(own, add)| *own += add);
        }
    }
}

/// Counts so many more of a value.
#[inline]
fn count(row: &mut Vec<u64>, value: u32, more: u64) {
    let at = value as usize;
    if row.len() <= at {
        row.resize(at + 1, 0);
    }
    row[at] += more;
}

#[cfg(test)]
mod tests;
