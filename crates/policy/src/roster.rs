//! Who stands where, and what a failure changes.
//!
//! Ranks stand on the places of a grid, each on one of its own. A place that fails is substituted by the policy, which may know
//! where places stand beside the grid (hosts, switches); what a search looks at is kept only for searches. A rank for which there is no spare has no place from then on: its place is dead as any
//! other, nobody takes it, and later failures of others are answered as if the rank had never been. A place that has failed can
//! be revived: whoever stands there then is a spare.

use runflat_core::ids::{NodeId, Rank};
use runflat_core::load::{GridLoad, MovingLoad, PairLoad, Partners};
use runflat_core::recovery::spares::{
    Choices, Job, Method, Occupancy, Policy, Sites, SitesError, Substitutes, Substitution,
};
use runflat_core::rng::Stream;
use runflat_core::traffic::Traffic;

use crate::input::{InputError, Launch};

/// The place of a rank that has none.
pub const NOWHERE: u32 = u32::MAX;

/// Ranks on places that fail one after the other.
pub struct Roster {
    policy: Policy,
    stream: Stream,
    sites: Option<Sites>,
    ranks: Box<dyn Ranks>,
    /// By rank of `ranks`, which has only those with a place: its number in the job, ascending.
    numbers: Vec<u32>,
    /// By rank of the job: its place, or [`NOWHERE`].
    places: Vec<u32>,
}

/// What a failure led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The rank of the place is elsewhere now, and maybe others.
    Substituted,
    /// The place was alive without a rank: nobody moved.
    SpareLost,
    /// The policy finds no spare for the rank of the place, which has no place now. Nobody moved.
    NoSpareLeft,
    /// The place had failed before: nothing changed.
    AlreadyDead,
}

/// A place that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchPlace {
    /// The number given.
    pub given: u32,
    /// How many places there are.
    pub count: usize,
}

impl Roster {
    /// Ranks on their places before anything fails.
    ///
    /// # Errors
    /// If there are no messages for a search to look at.
    pub fn new(launch: Launch) -> Result<Self, InputError> {
        let rounds = match launch.policy {
            Policy::Sliding(_) => None,
            Policy::Optimal(_) => Some(launch.messages()?),
        };
        let Launch { occupancy, policy, seed, .. } = launch;
        let places: Vec<u32> = occupancy.node_of().iter().map(|node| node.0).collect();
        let numbers = (0..places.len() as u32).collect();
        let ranks = match rounds {
            None => Box::new(occupancy),
            Some(rounds) => with_messages(occupancy, &rounds),
        };
        // The stream of `runflat spares substitute`.
        let stream = seed.stream("slides", 0);
        Ok(Roster { policy, stream, sites: None, ranks, numbers, places })
    }

    /// Says where places stand: for each, one after the other, a path of so many levels.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn stand(&mut self, levels: usize, path: Vec<u64>) -> Result<(), SitesError> {
        self.sites = Some(Sites::new(self.place_count(), levels, path)?);
        Ok(())
    }

    /// By rank: its place, or [`NOWHERE`].
    #[must_use]
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Places of the grid, dead or alive.
    #[must_use]
    pub fn place_count(&self) -> usize {
        self.ranks.occupancy().grid().node_count()
    }

    /// Places that are alive and without a rank.
    #[must_use]
    pub fn spare_count(&self) -> usize {
        self.ranks.occupancy().free_count()
    }

    /// A place fails.
    ///
    /// # Errors
    /// If there is no such place.
    pub fn fail(&mut self, place: u32) -> Result<Answer, NoSuchPlace> {
        let count = self.place_count();
        if place as usize >= count {
            return Err(NoSuchPlace { given: place, count });
        }
        let failed = NodeId(place);
        if self.ranks.occupancy().is_dead(failed) {
            return Ok(Answer::AlreadyDead);
        }
        // What the paper leaves open is chosen as `runflat spares` does if not told otherwise; what slid before plays no part in
        // that, so nothing is kept from one failure to the next.
        let dimensions = self.ranks.occupancy().grid().dimensions();
        let mut substitutes = Substitutes::new(&self.policy, Choices::default(), dimensions)
            .near(self.sites.as_ref());
        let answer = match self.ranks.fail(&mut substitutes, failed, &mut self.stream) {
            Substitution::Slide(_) | Substitution::Searched => Answer::Substituted,
            Substitution::Idle => Answer::SpareLost,
            Substitution::NoSpareLeft(rank) => {
                self.lose(rank, failed);
                Answer::NoSpareLeft
            }
        };
        self.places.fill(NOWHERE);
        for (&number, node) in self.numbers.iter().zip(self.ranks.occupancy().node_of()) {
            self.places[number as usize] = node.0;
        }
        Ok(answer)
    }

    /// A place that has failed is alive again, without a rank; returns whether it had failed.
    ///
    /// # Errors
    /// If there is no such place.
    pub fn revive(&mut self, place: u32) -> Result<bool, NoSuchPlace> {
        let count = self.place_count();
        if place as usize >= count {
            return Err(NoSuchPlace { given: place, count });
        }
        let revived = NodeId(place);
        if !self.ranks.occupancy().is_dead(revived) {
            return Ok(false);
        }
        self.ranks.occupancy_mut().revive(revived);
        if self.numbers.len() < self.places.len() && matches!(self.policy, Policy::Optimal(_)) {
            // The messages that a search looks at went with the rank that was lost.
            self.policy = Policy::Sliding(Method::nearest());
        }
        Ok(true)
    }

    /// A rank has no place any more, and the one it had is dead: the others are counted anew.
    ///
    /// Their messages are not needed any more: a search finds no spare only where none is free, and so it stays until a place
    /// is revived.
    fn lose(&mut self, rank: Rank, place: NodeId) {
        let before = self.ranks.occupancy();
        let mut node_of = before.node_of().to_vec();
        node_of.remove(rank.index());
        self.numbers.remove(rank.index());
        let mut after = Occupancy::of(before.grid().clone(), node_of);
        before.dead().chain([place]).for_each(|node| after.fail_idle(node));
        self.ranks = Box::new(after);
    }
}

impl std::fmt::Display for NoSuchPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NoSuchPlace { given, count } = self;
        write!(f, "there is no place {given}: places are numbered 0 to {}", count - 1)
    }
}

impl std::error::Error for NoSuchPlace {}

/// Ranks that have a place, with what is needed to decide about them.
trait Ranks: Send {
    fn occupancy(&self) -> &Occupancy;
    fn occupancy_mut(&mut self) -> &mut Occupancy;
    fn fail(
        &mut self,
        substitutes: &mut Substitutes<'_>,
        failed: NodeId,
        stream: &mut Stream,
    ) -> Substitution;
}

/// Slides need no messages.
impl Ranks for Occupancy {
    fn occupancy(&self) -> &Occupancy {
        self
    }

    fn occupancy_mut(&mut self) -> &mut Occupancy {
        self
    }

    fn fail(
        &mut self,
        substitutes: &mut Substitutes<'_>,
        failed: NodeId,
        stream: &mut Stream,
    ) -> Substitution {
        let choice = substitutes.choose(self, failed, stream);
        choice.carry_out(self, failed, &mut Vec::new())
    }
}

impl<L: PairLoad> Ranks for Job<L> {
    fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    fn occupancy_mut(&mut self) -> &mut Occupancy {
        &mut self.occupancy
    }

    fn fail(
        &mut self,
        substitutes: &mut Substitutes<'_>,
        failed: NodeId,
        stream: &mut Stream,
    ) -> Substitution {
        Job::fail(self, substitutes, failed, stream)
    }
}

/// A job whose messages go over the grid that ranks stand on.
fn with_messages(occupancy: Occupancy, rounds: &[Traffic]) -> Box<dyn Ranks> {
    macro_rules! by_dimensions {
        ($($q:literal)*) => {
            match occupancy.grid().dimensions() {
                $($q => job(GridLoad::<$q>::new(occupancy.grid()), occupancy, rounds),)*
                more => unreachable!("a grid of {more} dimensions"),
            }
        };
    }
    by_dimensions!(1 2 3 4 5 6 7 8)
}

fn job<L: PairLoad + 'static>(load: L, occupancy: Occupancy, rounds: &[Traffic]) -> Box<dyn Ranks> {
    let moving =
        |round| MovingLoad::new(Partners::new(round).into(), load.clone(), occupancy.node_of());
    let rounds = rounds.iter().map(moving).collect();
    Box::new(Job::new(occupancy, rounds))
}

#[cfg(test)]
pub(crate) mod tests;
