//! Campaigns of failure sequences: nodes fail one after the other, ranks are moved, collisions are counted.
//!
//! A sequence fails the node of a rank drawn evenly, again and again, so that spares in use can fail and idle ones do not. The
//! ranks drawn depend on the seed and the number of the sequence alone, so all methods meet the same failures, on any number
//! of threads.
//!
//! Source: Hori et al. 2016, "Simulation".

use rayon::prelude::*;

use crate::ids::{NodeId, Rank};
use crate::load::{MovingLoad, PairLoad};
use crate::recovery::spares::{Choices, Method, Move, Occupancy, Substitutes, Substitution};
use crate::rng::Seed;

/// What is done in every sequence.
#[derive(Clone, Debug)]
pub struct Campaign<'c, L> {
    /// Ranks before anything fails.
    pub start: &'c Occupancy,
    /// Their messages.
    pub load: &'c MovingLoad<L>,
    /// The methods compared.
    pub methods: &'c [Method],
    /// What the paper leaves open.
    pub choices: Choices,
    /// Failures of a sequence.
    pub failures: usize,
    /// For what is drawn.
    pub seed: Seed,
}

/// What came out of sequences, for one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By failure, from the first: how many sequences had each largest collision after it.
    pub collisions: Vec<Vec<u64>>,
    /// By failure: how many sequences used a slide of each degree.
    pub degrees: Vec<Vec<u64>>,
    /// By failure: how many sequences had no spare left for it.
    pub unrecovered: Vec<u64>,
}

impl<L: PairLoad> Campaign<'_, L> {
    /// Runs sequences; a tally by method. The same for any partition of the same numbers, once merged.
    #[must_use]
    pub fn run(&self, sequences: std::ops::Range<u64>) -> Vec<Tally> {
        let empty = || self.methods.iter().map(|_| Tally::new(self.failures)).collect::<Vec<_>>();
        let state = || (State::new(self), empty());
        let one = |(mut state, mut tallies): (State<L>, Vec<Tally>), sequence| {
            self.sequence(sequence, &mut state, &mut tallies);
            (state, tallies)
        };
        let merged = |mut sum: Vec<Tally>, more: Vec<Tally>| {
            sum.iter_mut().zip(&more).for_each(|(sum, more)| sum.merge(more));
            sum
        };
        // Whoever starts anew copies the state: not for single sequences.
        let starts: Vec<u64> = sequences.clone().step_by(SEQUENCES_A_TASK).collect();
        let task = |start: &u64| {
            let own = *start..sequences.end.min(start + SEQUENCES_A_TASK as u64);
            own.fold(state(), one).1
        };
        starts.par_iter().map(task).reduce(empty, merged)
    }

    fn sequence(&self, sequence: u64, state: &mut State<L>, tallies: &mut [Tally]) {
        let ranks = self.start.node_of().len();
        for (method, tally) in self.methods.iter().zip(tallies) {
            let mut failures = self.seed.stream("node failures", sequence);
            let mut ties = self.seed.stream("slides", sequence);
            state.occupancy.restore(self.start);
            state.load.restore(self.load);
            let dimensions = self.start.grid().dimensions();
            let mut substitutes = Substitutes::new(method, self.choices, dimensions);
            for failure in 0..self.failures {
                let failed = state.occupancy.node_of()[failures.index(ranks)];
                state.moves.clear();
                let done =
                    substitutes.fail(&mut state.occupancy, failed, &mut ties, &mut state.moves);
                let Substitution::Slide(degree) = done else {
                    tally.unrecovered[failure] += 1;
                    break;
                };
                state.moved.clear();
                state.moved.extend(state.moves.iter().map(|one| (one.rank, one.to)));
                state.load.relocate(&state.moved);
                tally.count(failure, degree, state.load.collision_max());
            }
        }
    }
}

/// Sequences that one task runs at the least.
const SEQUENCES_A_TASK: usize = 16;

/// What a thread needs.
#[derive(Clone, Debug)]
struct State<L> {
    occupancy: Occupancy,
    load: MovingLoad<L>,
    moves: Vec<Move>,
    moved: Vec<(Rank, NodeId)>,
}

impl<L: PairLoad> State<L> {
    fn new(campaign: &Campaign<'_, L>) -> Self {
        let (occupancy, load) = (campaign.start.clone(), campaign.load.clone());
        State { occupancy, load, moves: Vec::new(), moved: Vec::new() }
    }
}

impl Tally {
    fn new(failures: usize) -> Self {
        let rows = || vec![Vec::new(); failures];
        Tally { collisions: rows(), degrees: rows(), unrecovered: vec![0; failures] }
    }

    fn count(&mut self, failure: usize, degree: u32, collision: u32) {
        for (row, at) in [(&mut self.collisions, collision), (&mut self.degrees, degree)] {
            let (row, at) = (&mut row[failure], at as usize);
            if row.len() <= at {
                row.resize(at + 1, 0);
            }
            row[at] += 1;
        }
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
        self.unrecovered.iter_mut().zip(&other.unrecovered).for_each(|(own, add)| *own += add);
    }
}
