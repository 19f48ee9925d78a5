//! Jobs on whatever network, for callers that do not know which.

use std::ops::Range;
use std::sync::Arc;

use super::{Campaign, Proved, Tally, Worst, WorstError, all_sequences, worst_cases};
use crate::grid::Grid;
use crate::ids::NodeId;
use crate::load::{FoldedLoad, GridLoad, MovingLoad, PairLoad, Partners, Paths, RoutedLoad};
use crate::recovery::spares::{Choices, Job, Occupancy, Policy, Step, needs_straight_lines};
use crate::rng::Stream;
use crate::traffic::Traffic;

/// A [`Job`] on some network.
pub trait AnyJob: Send + Sync {
    /// Who is where before anything fails.
    fn occupancy(&self) -> &Occupancy;
    /// The largest collision of each round before anything fails.
    fn collisions_before(&self) -> Vec<u32>;
    /// See [`Job::fail_all`]; the job itself stays as it is. Tells who is where afterwards, too.
    fn replay(
        &self,
        policy: &Policy,
        choices: Choices,
        failed: &[NodeId],
        stream: &mut Stream,
    ) -> (Vec<Step>, Occupancy);
    /// See [`all_sequences`].
    fn all_sequences(&self, policy: &Policy, choices: Choices, failures: usize) -> Vec<Worst>;
    /// See [`worst_cases`].
    ///
    /// # Errors
    /// As there.
    fn worst_cases(
        &self,
        policy: &Policy,
        choices: Choices,
        failures: usize,
        limit: u64,
        report: &mut dyn FnMut(&Proved) -> bool,
    ) -> Result<Vec<Proved>, WorstError>;
    /// See [`Campaign::run`].
    fn campaign(&self, campaign: &Campaign, sequences: Range<u64>) -> Vec<Tally>;
}

impl<L: PairLoad> AnyJob for Job<L> {
    fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    fn collisions_before(&self) -> Vec<u32> {
        self.clone().collisions()
    }

    fn replay(
        &self,
        policy: &Policy,
        choices: Choices,
        failed: &[NodeId],
        stream: &mut Stream,
    ) -> (Vec<Step>, Occupancy) {
        let mut job = self.clone();
        let steps = job.fail_all(policy, choices, failed, stream);
        (steps, job.occupancy)
    }

    fn all_sequences(&self, policy: &Policy, choices: Choices, failures: usize) -> Vec<Worst> {
        all_sequences(self, policy, choices, failures)
    }

    fn worst_cases(
        &self,
        policy: &Policy,
        choices: Choices,
        failures: usize,
        limit: u64,
        report: &mut dyn FnMut(&Proved) -> bool,
    ) -> Result<Vec<Proved>, WorstError> {
        worst_cases(self, policy, choices, failures, limit, report)
    }

    fn campaign(&self, campaign: &Campaign, sequences: Range<u64>) -> Vec<Tally> {
        campaign.run(self, sequences)
    }
}

/// Where the messages of a job go.
#[derive(Clone, Debug)]
pub enum Network {
    /// The grid that ranks slide in, under dimension-order routing.
    Own,
    /// Another grid: by node of the own one, the node it stands on.
    Grid(Arc<Grid>, Arc<[NodeId]>),
    /// Any network with a path for each pair of nodes, by source and then target, over so many channels.
    Routed(Arc<Paths>, usize),
}

/// A job with these messages, round by round, on a network.
///
/// # Panics
/// If there are not as many ranks as the messages are for.
#[must_use]
pub fn any_job(occupancy: Occupancy, rounds: &[Traffic], network: Network) -> Box<dyn AnyJob> {
    let partners: Vec<_> = rounds.iter().map(|round| Arc::new(Partners::new(round))).collect();
    let nodes = occupancy.grid().node_count();
    match network {
        Network::Own => {
            let grid = occupancy.grid().clone();
            let shape = occupancy.job_shape().unwrap_or_default();
            let straight = matches!(rounds, [all] if needs_straight_lines(&grid, shape, all));
            on_grid(occupancy, partners, &grid, None, straight)
        }
        Network::Grid(grid, on) => on_grid(occupancy, partners, &grid, Some(on), false),
        Network::Routed(paths, channels) => {
            job(occupancy, partners, RoutedLoad::new(paths, nodes, channels), false)
        }
    }
}

fn on_grid(
    occupancy: Occupancy,
    partners: Vec<Arc<Partners>>,
    grid: &Grid,
    stands_on: Option<Arc<[NodeId]>>,
    straight: bool,
) -> Box<dyn AnyJob> {
    macro_rules! by_dimensions {
        ($($q:literal)*) => {
            match (grid.dimensions(), stands_on) {
                $(
                    ($q, None) => job(occupancy, partners, GridLoad::<$q>::new(grid), straight),
                    ($q, Some(on)) => job(occupancy, partners, FoldedLoad::new(GridLoad::<$q>::new(grid), on), straight),
                )*
                (more, _) => unreachable!("a grid of {more} dimensions"),
            }
        };
    }
    by_dimensions!(1 2 3 4 5 6 7 8)
}

fn job<L: PairLoad + 'static>(
    occupancy: Occupancy,
    partners: Vec<Arc<Partners>>,
    load: L,
    straight_only: bool,
) -> Box<dyn AnyJob> {
    let rounds =
        partners.into_iter().map(|round| MovingLoad::new(round, load.clone(), occupancy.node_of()));
    let rounds = rounds.collect();
    let mut job = Job::new(occupancy, rounds);
    job.straight_only = straight_only;
    Box::new(job)
}
