//! Every sequence of failures, one after the other: the worst there is, and the sequence that shows it.
//!
//! Choices must not be drawn: then a sequence has one outcome. The number of sequences grows as ranks to the power of
//! failures; states are copied on the way down, so that each sequence costs one substitution.
//!
//! Source: Hori et al. 2016, Figure 8.

use rayon::prelude::*;

use crate::ids::NodeId;
use crate::load::PairLoad;
use crate::recovery::spares::{Choices, Job, Policy, Substitutes, Substitution};
use crate::rng::{Seed, Stream};

/// The worst of all sequences of some length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worst {
    /// Sequences in which every failed node was substituted.
    pub recovered: u64,
    /// The largest collision after any of them, and the first of those that show it.
    pub collision_max: u32,
    /// Nodes in the order of failure.
    pub sequence: Vec<NodeId>,
    /// Sequences whose last failure found no spare, and the first of them.
    pub unrecovered: u64,
    /// Nodes in the order of failure.
    pub lost: Vec<NodeId>,
}

impl Worst {
    /// Adds what came of later sequences.
    fn merge(&mut self, later: Worst) {
        if later.recovered > 0 && (self.recovered == 0 || later.collision_max > self.collision_max)
        {
            (self.collision_max, self.sequence) = (later.collision_max, later.sequence);
        }
        if self.unrecovered == 0 {
            self.lost = later.lost;
        }
        self.recovered += later.recovered;
        self.unrecovered += later.unrecovered;
    }
}

/// Fails the nodes of all ranks in all orders, up to `failures` of them; by number of failures, from 1.
///
/// # Complexity
/// Substitutions: ranks to the power of failures.
#[must_use]
pub fn all_sequences<L: PairLoad>(
    job: &Job<L>,
    policy: &Policy,
    choices: Choices,
    failures: usize,
) -> Vec<Worst> {
    let ranks = job.occupancy.node_of().len();
    let firsts: Vec<usize> = (0..ranks).collect();
    let parts = firsts.par_iter().map(|&rank| {
        let mut search = Search::new(job, policy, choices, failures);
        search.fail(0, rank);
        search.worst
    });
    // In the order of ranks: of equally bad sequences the first.
    let mut sum = vec![Worst::default(); failures];
    for part in parts.collect::<Vec<_>>() {
        sum.iter_mut().zip(part).for_each(|(sum, later)| sum.merge(later));
    }
    sum
}

struct Search<'m, L: PairLoad> {
    /// By number of failures.
    jobs: Vec<Job<L>>,
    substitutes: Vec<Substitutes<'m>>,
    failed: Vec<NodeId>,
    worst: Vec<Worst>,
    /// Nothing is drawn from it.
    stream: Stream,
}

impl<'m, L: PairLoad> Search<'m, L> {
    fn new(job: &Job<L>, policy: &'m Policy, choices: Choices, failures: usize) -> Self {
        let dimensions = job.occupancy.grid().dimensions();
        let substitutes = Substitutes::new(policy, choices, dimensions);
        Search {
            jobs: vec![job.clone(); failures + 1],
            substitutes: vec![substitutes; failures + 1],
            failed: Vec::new(),
            worst: vec![Worst::default(); failures],
            stream: Seed(0).stream("nothing", 0),
        }
    }

    /// Fails the node of a rank after `depth` others, then all that may come after it.
    fn fail(&mut self, depth: usize, rank: usize) {
        let [before, after] = &mut self.jobs[depth..depth + 2] else { return };
        let node = before.occupancy.node_of()[rank];
        after.restore(before);
        let (done, next) = self.substitutes.split_at_mut(depth + 1);
        next[0].clone_from(&done[depth]);
        self.failed.push(node);
        let worst = &mut self.worst[depth];
        if let Substitution::NoSpareLeft(_) = after.fail(&mut next[0], node, &mut self.stream) {
            if worst.unrecovered == 0 {
                worst.lost.clone_from(&self.failed);
            }
            worst.unrecovered += 1;
        } else {
            let collision_max = after.collision_max();
            if worst.recovered == 0 || collision_max > worst.collision_max {
                worst.sequence.clone_from(&self.failed);
                worst.collision_max = collision_max;
            }
            worst.recovered += 1;
            if depth + 1 < self.worst.len() {
                for next in 0..self.jobs[0].occupancy.node_of().len() {
                    self.fail(depth + 1, next);
                }
            }
        }
        self.failed.pop();
    }
}
