//! A search for the substitution that costs least: ranks move along chains to where messages meet least.
//!
//! First the failed node is substituted: by each slide there is, the chains along its lines and to the free nodes
//! nearest to it, and, where the dead nodes leave straight lines for the whole job, by moving all onto those. The best stays. Then
//! chains are tried from nodes around the channels with the largest collision, and kept if they lower the cost: the largest
//! collision, then a sum over all channels that weighs large ones most, then the ranks that move. Loads follow each trial
//! exactly; a trial that does not help is taken back.
//!
//! Not in the paper; [`Fit`] tells where no search could do better.

use super::bound::Fit;
use super::chain::{Chain, Ended};
use super::job::Job;
use super::nearest::{self, Tie};
use super::policy::Effort;
use super::slide::{Move, Surroundings};
use super::substitution::{Choice, Substitution};
use crate::ids::{NodeId, Rank};
use crate::load::PairLoad;
use crate::rng::Stream;

/// What a placement costs, compared in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    collision_max: u32,
    pressure: u64,
    moved: u32,
}

/// Substitutes a node; `moves` then names each rank that is elsewhere once.
pub(super) fn substitute<L: PairLoad>(
    job: &mut Job<L>,
    effort: Effort,
    failed: NodeId,
    stream: &mut Stream,
    moves: &mut Vec<Move>,
) -> Substitution {
    let home = job.occupancy.node_of().to_vec();
    let (trial, best) = (Vec::new(), None);
    let mut search = Search { job, effort, stream, home, moved: 0, trial, best };
    search.first_candidates(failed);
    // INVARIANT: a node is free, and a rank that moves there alone is a candidate.
    #[allow(clippy::expect_used)]
    let (_, chosen) = search.best.take().expect("a free node");
    search.apply(chosen.iter().copied());
    search.job.occupancy.fail_idle(failed);
    search.improve();
    let Search { job, home, .. } = search;
    let now = job.occupancy.node_of();
    moves.clear();
    moves.extend(
        (0u32..)
            .zip(home.iter().zip(now))
            .filter(|(_, (from, to))| from != to)
            .map(|(rank, (&from, &to))| Move { rank: Rank(rank), from, to }),
    );
    Substitution::Searched
}

struct Search<'s, L: PairLoad> {
    job: &'s mut Job<L>,
    effort: Effort,
    stream: &'s mut Stream,
    /// By rank: where it was when the node failed.
    home: Vec<NodeId>,
    /// Ranks that are elsewhere now.
    moved: u32,
    /// What is tried next.
    trial: Vec<Move>,
    /// The best way to substitute the failed node so far: cost and moves.
    best: Option<(Cost, Vec<Move>)>,
}

impl<L: PairLoad> Search<'_, L> {
    /// Tries all that may substitute the failed node, which is still alive.
    fn first_candidates(&mut self, failed: NodeId) {
        let dimensions = self.job.occupancy.grid().dimensions();
        for degree in (2..=dimensions as u32).rev() {
            let mut slides = Vec::new();
            Surroundings::of(&self.job.occupancy, failed, degree).possible(degree, &mut slides);
            for one in slides {
                self.trial.clear();
                Choice::Slide(one).carry_out(&mut self.job.occupancy, failed, &mut self.trial);
                self.job.occupancy.relocate(back(&self.trial));
                self.consider();
            }
        }
        for dimension in 0..dimensions {
            for up in [true, false] {
                if self.straight(failed, dimension, up) {
                    self.consider();
                }
            }
        }
        for tie in [Tie::Lowest, Tie::Highest, Tie::Aligned] {
            let near = nearest::nearest(&self.job.occupancy, failed, tie, self.stream);
            let Some((rank, to)) = self.job.occupancy.rank_on(failed).zip(near) else { return };
            self.trial.clear();
            self.trial.push(Move { rank, from: failed, to });
            self.consider();
            for first in 0..dimensions {
                let order = (first..dimensions).chain(0..first);
                if self.chain_to(failed, to, order.clone()) {
                    self.consider();
                }
                if self.chain_to(failed, to, order.rev()) {
                    self.consider();
                }
            }
        }
        self.straight_lines(failed);
    }

    /// Tries to put the whole job on straight lines, if it may move so far and has its messages still on bent ones.
    fn straight_lines(&mut self, failed: NodeId) {
        let straight = |(cost, _): &(Cost, Vec<Move>)| cost.collision_max <= 1;
        if self.best.as_ref().is_some_and(straight) {
            return;
        }
        let occupancy = &self.job.occupancy;
        let Some(shape) = occupancy.job_shape() else { return };
        let dead: Vec<_> = occupancy.dead().chain([failed]).collect();
        let Fit::On(place) = Fit::of(occupancy.grid(), shape, &dead) else { return };
        let nodes = occupancy.node_of().iter().zip(place.nodes(occupancy.grid()));
        let moves =
            (0u32..).zip(nodes).map(|(rank, (&from, to))| Move { rank: Rank(rank), from, to });
        self.trial.clear();
        self.trial.extend(moves.filter(|one| one.from != one.to));
        self.consider();
    }

    /// Tries changes around the channels with the largest collision.
    fn improve(&mut self) {
        let dimensions = self.job.occupancy.grid().dimensions();
        let mut now = self.cost();
        for _ in 0..self.effort.trials {
            if now.collision_max <= 1 {
                return;
            }
            let Some(at) = self.crowded() else { continue };
            let found = match self.stream.below(3) {
                0 => {
                    let (dimension, up) = self.direction(dimensions);
                    self.straight(at, dimension, up)
                }
                1 => self.bent(at),
                _ => self.near(at),
            };
            if !found || !self.may_move() {
                continue;
            }
            let trial = std::mem::take(&mut self.trial);
            self.apply(trial.iter().copied());
            let cost = self.cost();
            if cost < now {
                now = cost;
            } else {
                self.apply(back(&trial));
            }
            self.trial = trial;
        }
    }

    /// A node at, or next to, a channel with the largest collision; any rank's where channels are not between nodes.
    fn crowded(&mut self) -> Option<NodeId> {
        let Some((from, to)) = self.job.hottest(self.stream) else {
            let hosts = self.job.occupancy.node_of();
            return hosts.get(self.stream.index(hosts.len())).copied();
        };
        let end = if self.stream.below(2) == 0 { from } else { to };
        let grid = self.job.occupancy.grid();
        let pick = self.stream.index(2 * grid.dimensions() + 1);
        let (dimension, up) = (pick / 2, pick.is_multiple_of(2));
        if dimension == grid.dimensions() {
            return Some(end);
        }
        grid.next(end, dimension, up)
    }

    fn direction(&mut self, dimensions: usize) -> (usize, bool) {
        (self.stream.index(dimensions), self.stream.below(2) == 0)
    }

    /// A chain along a line.
    fn straight(&mut self, from: NodeId, dimension: usize, up: bool) -> bool {
        let chain = Chain::from(&self.job.occupancy, from, &mut self.trial);
        chain.is_some_and(|mut chain| chain.along(dimension, up, u32::MAX) == Ended::Free)
    }

    /// A chain with one bend, anywhere.
    fn bent(&mut self, from: NodeId) -> bool {
        let dimensions = self.job.occupancy.grid().dimensions();
        let (first, up) = self.direction(dimensions);
        let length = self.job.occupancy.grid().lengths()[first];
        let steps = 1 + self.stream.below(u64::from(length)) as u32;
        let (second, then_up) = self.direction(dimensions);
        let chain = Chain::from(&self.job.occupancy, from, &mut self.trial);
        chain.is_some_and(|mut chain| match chain.along(first, up, steps) {
            Ended::Free => true,
            Ended::Steps => {
                first != second && chain.along(second, then_up, u32::MAX) == Ended::Free
            }
            Ended::Edge => false,
        })
    }

    /// A chain to a free node near by: the nearest, or the nearest of some.
    fn near(&mut self, from: NodeId) -> bool {
        let occupancy = &self.job.occupancy;
        let target = if self.stream.below(4) == 0 {
            let count = occupancy.grid().node_count();
            let any: Vec<_> = (0..FREE_TRIED)
                .map(|_| NodeId::from_index(self.stream.index(count)))
                .filter(|&node| occupancy.is_free(node))
                .collect();
            any.into_iter().min_by_key(|&node| (occupancy.grid().hops(from, node), node))
        } else {
            nearest::nearest(occupancy, from, Tie::Random, self.stream)
        };
        let Some(target) = target else { return false };
        let mut order: Vec<usize> = (0..occupancy.grid().dimensions()).collect();
        self.stream.shuffle(&mut order);
        self.chain_to(from, target, order.into_iter())
    }

    fn chain_to(
        &mut self,
        from: NodeId,
        target: NodeId,
        order: impl Iterator<Item = usize>,
    ) -> bool {
        let chain = Chain::from(&self.job.occupancy, from, &mut self.trial);
        chain.is_some_and(|mut chain| chain.to(target, order) == Ended::Free)
    }

    /// Notes the trial if it is the best so far to substitute the failed node.
    fn consider(&mut self) {
        if !self.may_move() {
            return;
        }
        let trial = std::mem::take(&mut self.trial);
        self.apply(trial.iter().copied());
        let cost = self.cost();
        self.apply(back(&trial));
        // Of equal ones the first.
        if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
            self.best = Some((cost, trial.clone()));
        }
        self.trial = trial;
    }

    /// Whether no more ranks than allowed are elsewhere after the trial.
    fn may_move(&self) -> bool {
        self.moved_after(self.trial.iter().copied()) <= self.effort.moves_max
    }

    /// Ranks that are elsewhere than at home after some moves.
    fn moved_after(&self, moves: impl Iterator<Item = Move> + Clone) -> u32 {
        let away = |node: fn(&Move) -> NodeId| {
            moves.clone().filter(|one| self.home[one.rank.index()] != node(one)).count() as u32
        };
        self.moved + away(|one| one.to) - away(|one| one.from)
    }

    fn apply(&mut self, moves: impl Iterator<Item = Move> + Clone) {
        self.moved = self.moved_after(moves.clone());
        self.job.relocate(moves);
    }

    fn cost(&mut self) -> Cost {
        let (collision_max, pressure) = (self.job.collision_max(), self.job.pressure());
        Cost { collision_max, pressure, moved: self.moved }
    }
}

/// Nodes looked at for one that is free.
const FREE_TRIED: usize = 64;

/// The same ranks, back to where they were.
fn back(moves: &[Move]) -> impl Iterator<Item = Move> + Clone + '_ {
    moves.iter().map(|one| Move { rank: one.rank, from: one.to, to: one.from })
}

#[cfg(test)]
mod tests;
