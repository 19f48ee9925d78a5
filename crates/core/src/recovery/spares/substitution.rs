//! A failed node is substituted: by the first method that can.

use super::nearest::{self, Tie};
use super::occupancy::Occupancy;
use super::policy::{Effort, Policy};
use super::sites::Sites;
use super::slide::{self, Move, Slide, Surroundings};
use crate::ids::{NodeId, Rank};
use crate::rng::Stream;

/// What the paper leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Which of the possible slides is taken.
    pub pick: Pick,
    /// Which of equally near free nodes a 0D slide takes.
    pub tie: Tie,
}

/// Which of the possible slides of one degree is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// Any.
    #[default]
    Random,
    /// The first: by slice, then by dimension.
    Fixed,
    /// One along the dimension that ranks slid along most often so far.
    Uneven,
}

/// How a failed node was substituted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// By a slide of that degree.
    Slide(u32),
    /// By what a search found.
    Searched,
    /// It had no rank: nothing moves.
    Idle,
    /// No method finds a free node for the rank.
    NoSpareLeft(Rank),
}

/// What is to be done about a failed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Ranks slide.
    Slide(Slide),
    /// Its rank moves to a free node.
    Nearest(NodeId),
    /// A search finds out what costs least.
    Search(Effort),
    /// It has no rank.
    Nothing,
    /// No method finds a free node for the rank.
    NoSpareLeft(Rank),
}

impl Choice {
    /// Moves the ranks that have to move, and notes them in `moves`.
    ///
    /// # Panics
    /// If that takes a search, which needs to know the messages: see [`Job`](super::Job).
    pub fn carry_out(
        self,
        occupancy: &mut Occupancy,
        failed: NodeId,
        moves: &mut Vec<Move>,
    ) -> Substitution {
        match self {
            Choice::Slide(chosen) => {
                slide::slide(occupancy, failed, chosen, moves);
                Substitution::Slide(chosen.degree())
            }
            Choice::Nearest(to) => {
                if let Some(rank) = occupancy.rank_on(failed) {
                    occupancy.place(rank, to);
                    occupancy.vacate(failed, true);
                    moves.push(Move { rank, from: failed, to });
                }
                Substitution::Slide(0)
            }
            Choice::Search(_) => unreachable!("a search looks at messages"),
            Choice::Nothing => {
                occupancy.fail_idle(failed);
                Substitution::Idle
            }
            Choice::NoSpareLeft(rank) => Substitution::NoSpareLeft(rank),
        }
    }
}

/// Substitutes nodes one after the other, and keeps what is needed for it.
#[derive(Clone, Debug)]
pub struct Substitutes<'m> {
    policy: &'m Policy,
    choices: Choices,
    sites: Option<&'m Sites>,
    /// Slides so far, by dimension.
    along: Vec<u32>,
    possible: Vec<Slide>,
}

impl<'m> Substitutes<'m> {
    /// Nothing has failed yet.
    #[must_use]
    pub fn new(policy: &'m Policy, choices: Choices, dimensions: usize) -> Self {
        let along = vec![0; dimensions];
        Substitutes { policy, choices, sites: None, along, possible: Vec::new() }
    }

    /// The same where it is known what nodes are near each other: 0D goes by that, and by the grid where it is the same.
    #[must_use]
    pub fn near(self, sites: Option<&'m Sites>) -> Self {
        Substitutes { sites, ..self }
    }

    /// Chooses what is to be done about a node that fails.
    pub fn choose(&mut self, occupancy: &Occupancy, failed: NodeId, stream: &mut Stream) -> Choice {
        let Some(rank) = occupancy.rank_on(failed) else { return Choice::Nothing };
        let method = match self.policy {
            Policy::Sliding(method) => method,
            Policy::Optimal(_) if occupancy.free_count() == 0 => return Choice::NoSpareLeft(rank),
            Policy::Optimal(effort) => return Choice::Search(*effort),
        };
        let mut surroundings = None;
        for &degree in method.degrees() {
            if degree == 0 {
                let to = match self.sites {
                    Some(sites) => sites.nearest(occupancy, failed),
                    None => nearest::nearest(occupancy, failed, self.choices.tie, stream),
                };
                match to {
                    Some(to) => return Choice::Nearest(to),
                    None => continue,
                }
            }
            self.possible.clear();
            surroundings
                .get_or_insert_with(|| Surroundings::of(occupancy, failed, degree))
                .possible(degree, &mut self.possible);
            if let Some(chosen) = self.pick(stream) {
                self.along[usize::from(chosen.along)] += 1;
                return Choice::Slide(chosen);
            }
        }
        Choice::NoSpareLeft(rank)
    }

    fn pick(&self, stream: &mut Stream) -> Option<Slide> {
        match self.choices.pick {
            Pick::Fixed => self.possible.first().copied(),
            Pick::Random if self.possible.is_empty() => None,
            Pick::Random => Some(self.possible[stream.index(self.possible.len())]),
            Pick::Uneven => {
                let slides = |slide: &Slide| self.along[usize::from(slide.along)];
                // Equally often: the first.
                self.possible.iter().rev().max_by_key(|slide| slides(slide)).copied()
            }
        }
    }
}
