//! Campaigns of failure sequences: nodes fail one after the other, ranks are moved, collisions are counted.
//!
//! A sequence fails the node of a rank drawn evenly, again and again, so that spares in use can fail and idle ones do not
//! ([`Victims`] has the other reading). What is drawn depends on the seed and the number of the sequence alone, so all
//! methods meet the same ranks, on any number of threads.
//!
//! Source: Hori et al. 2016, "Simulation".

mod any;
mod exhaustive;
mod job;

pub use any::{AnyJob, Network, any_job};
pub use exhaustive::{Worst, all_sequences};
pub use job::{Job, Step, shape_kept};

use rayon::prelude::*;

use crate::ids::NodeId;
use crate::load::PairLoad;
use crate::recovery::spares::{Choices, Method, Occupancy, Substitutes, Substitution};
use crate::rng::{Seed, Stream};

/// What is done in every sequence.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Nodes that have failed before the job starts: its ranks are moved off them first, which does not count.
    pub dead: Vec<NodeId>,
    /// The methods compared.
    pub methods: Vec<Method>,
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

/// What came out of sequences, for one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By failure, from the first: how many sequences had each largest collision after it.
    pub collisions: Vec<Vec<u64>>,
    /// By failure: how many sequences used a slide of each degree.
    pub degrees: Vec<Vec<u64>>,
    /// By failure: how many sequences lost a node without a rank.
    pub idle: Vec<u64>,
    /// By failure: how many sequences had no spare left for it.
    pub unrecovered: Vec<u64>,
}

impl Campaign {
    /// Runs sequences; a tally by method. The same for any partition of the same numbers, once merged.
    #[must_use]
    pub fn run<L: PairLoad>(&self, job: &Job<L>, sequences: std::ops::Range<u64>) -> Vec<Tally> {
        let starts: Vec<_> =
            self.methods.iter().map(|method| self.worm_eaten(job, method)).collect();
        let empty = || self.methods.iter().map(|_| Tally::new(self.failures)).collect::<Vec<_>>();
        let merged = |mut sum: Vec<Tally>, more: Vec<Tally>| {
            sum.iter_mut().zip(&more).for_each(|(sum, more)| sum.merge(more));
            sum
        };
        // Whoever starts anew copies the state: not for single sequences.
        let firsts: Vec<u64> = sequences.clone().step_by(SEQUENCES_A_TASK).collect();
        let task = |&first: &u64| {
            let mut tallies = empty();
            for ((method, start), tally) in self.methods.iter().zip(&starts).zip(&mut tallies) {
                let mut job = start.clone();
                for sequence in first..sequences.end.min(first + SEQUENCES_A_TASK as u64) {
                    job.restore(start);
                    self.sequence(sequence, method, &mut job, tally);
                }
            }
            tallies
        };
        firsts.par_iter().map(task).reduce(empty, merged)
    }

    /// The job with its ranks moved off nodes that are dead from the start.
    fn worm_eaten<L: PairLoad>(&self, job: &Job<L>, method: &Method) -> Job<L> {
        let mut job = job.clone();
        let mut stream = self.seed.stream("dead nodes", 0);
        job.fail_all(method, self.choices, &self.dead, &mut stream);
        job
    }

    fn sequence<L: PairLoad>(
        &self,
        sequence: u64,
        method: &Method,
        job: &mut Job<L>,
        tally: &mut Tally,
    ) {
        let mut failures = self.seed.stream("node failures", sequence);
        let mut ties = self.seed.stream("slides", sequence);
        let dimensions = job.occupancy.grid().dimensions();
        let mut substitutes = Substitutes::new(method, self.choices, dimensions);
        for failure in 0..self.failures {
            let Some(failed) = self.victims.draw(&job.occupancy, &mut failures) else { return };
            match job.fail(&mut substitutes, failed, &mut ties) {
                Substitution::Slide(degree) => {
                    tally.count(failure, job.collision_max());
                    count(&mut tally.degrees[failure], degree);
                }
                Substitution::Idle => {
                    tally.count(failure, job.collision_max());
                    tally.idle[failure] += 1;
                }
                Substitution::NoSpareLeft(_) => {
                    tally.unrecovered[failure] += 1;
                    return;
                }
            }
        }
    }
}

/// Sequences that one task runs.
const SEQUENCES_A_TASK: usize = 16;

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

    fn count(&mut self, failure: usize, collision: u32) {
        count(&mut self.collisions[failure], collision);
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

/// Counts one more of a value.
#[inline]
fn count(row: &mut Vec<u64>, value: u32) {
    let at = value as usize;
    if row.len() <= at {
        row.resize(at + 1, 0);
    }
    row[at] += 1;
}
