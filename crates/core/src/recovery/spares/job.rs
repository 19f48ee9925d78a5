//! A job on a network: ranks on the nodes of a grid, spares, and their messages on channels.
//!
//! The grid is the node space that ranks slide in. Messages go over the network that the nodes are attached to: that grid
//! under dimension-order routing, or any other network whose nodes the grid's nodes stand for.
//!
//! Source: Hori et al. 2016.

use super::bound::Fit;
use super::occupancy::Occupancy;
use super::optimal;
use super::policy::Policy;
use super::slide::Move;
use super::substitution::{Choice, Choices, Substitutes, Substitution};
use crate::grid::Grid;
use crate::ids::{NodeId, Rank};
use crate::load::{MovingLoad, Pair, PairLoad};
use crate::rng::Stream;
use crate::traffic::Traffic;

/// A job whose nodes fail one after the other.
#[derive(Clone, Debug)]
pub struct Job<L: PairLoad> {
    /// Who is where.
    pub occupancy: Occupancy,
    /// Whether ranks must stand on straight lines for no collision; see [`needs_straight_lines`](super::needs_straight_lines).
    pub straight_only: bool,
    /// By round: messages of different rounds never meet.
    rounds: Vec<MovingLoad<L>>,
    moves: Vec<Move>,
    moved: Vec<(Rank, NodeId)>,
}

/// What one failure led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node that failed.
    pub failed: NodeId,
    /// How it was substituted, if it was.
    pub substitution: Substitution,
    /// Ranks that moved, each named once.
    pub moves: Vec<Move>,
    /// The largest collision of each round afterwards.
    pub collisions: Vec<u32>,
    /// No placement of the ranks has a smaller largest collision.
    pub collision_bound: u32,
}

impl<L: PairLoad> Job<L> {
    /// A job with its messages where its ranks are, round by round.
    #[must_use]
    pub fn new(occupancy: Occupancy, rounds: Vec<MovingLoad<L>>) -> Self {
        Job { occupancy, straight_only: false, rounds, moves: Vec::new(), moved: Vec::new() }
    }

    /// By round: messages of different rounds never meet.
    #[must_use]
    pub fn rounds(&self) -> &[MovingLoad<L>] {
        &self.rounds
    }

    /// A node fails: ranks move, and their messages with them.
    #[inline]
    pub fn fail(
        &mut self,
        substitutes: &mut Substitutes<'_>,
        failed: NodeId,
        stream: &mut Stream,
    ) -> Substitution {
        let choice = substitutes.choose(&self.occupancy, failed, stream);
        self.carry_out(choice, failed, stream)
    }

    /// Does what was chosen about a node that fails.
    #[inline]
    pub fn carry_out(
        &mut self,
        choice: Choice,
        failed: NodeId,
        stream: &mut Stream,
    ) -> Substitution {
        self.moves.clear();
        if let Choice::Search(effort) = choice {
            let mut moves = std::mem::take(&mut self.moves);
            let done = optimal::substitute(self, effort, failed, stream, &mut moves);
            self.moves = moves;
            return done;
        }
        let done = choice.carry_out(&mut self.occupancy, failed, &mut self.moves);
        self.moved.clear();
        self.moved.extend(self.moves.iter().map(|one| (one.rank, one.to)));
        self.rounds.iter_mut().for_each(|load| load.relocate(&self.moved));
        done
    }

    /// Moves ranks and their messages, each to a node that is free or that another one leaves.
    pub(super) fn relocate(&mut self, moves: impl Iterator<Item = Move> + Clone) {
        self.occupancy.relocate(moves.clone());
        self.moved.clear();
        self.moved.extend(moves.map(|one| (one.rank, one.to)));
        self.rounds.iter_mut().for_each(|load| load.relocate(&self.moved));
    }

    /// How crowded the channels are, over all rounds; see [`PairLoad::pressure`].
    pub(super) fn pressure(&mut self) -> u64 {
        self.rounds.iter_mut().map(MovingLoad::pressure).sum()
    }

    /// The nodes at the ends of a channel with the largest collision of any round, if channels are between nodes.
    pub(super) fn hottest(&mut self, stream: &mut Stream) -> Option<Pair> {
        let most = self.collision_max();
        let round =
            self.rounds.iter_mut().find_map(|load| (load.collision_max() == most).then_some(load));
        round?.hottest(stream)
    }

    /// Nodes fail in turn; ends early where no spare is left.
    pub fn fail_all(
        &mut self,
        policy: &Policy,
        choices: Choices,
        failed: &[NodeId],
        stream: &mut Stream,
    ) -> Vec<Step> {
        let dimensions = self.occupancy.grid().dimensions();
        let mut substitutes = Substitutes::new(policy, choices, dimensions);
        let mut steps = Vec::new();
        for &failed in failed {
            let substitution = self.fail(&mut substitutes, failed, stream);
            steps.push(Step {
                failed,
                substitution,
                moves: self.moves.clone(),
                collisions: self.collisions(),
                collision_bound: self.collision_bound(),
            });
            if matches!(substitution, Substitution::NoSpareLeft(_)) {
                break;
            }
        }
        steps
    }

    /// The largest collision of any round.
    #[inline]
    pub fn collision_max(&mut self) -> u32 {
        self.rounds.iter_mut().map(MovingLoad::collision_max).max().unwrap_or(0)
    }

    /// What the largest collision is at the least, wherever ranks stand on nodes that are alive.
    #[must_use]
    pub fn collision_bound(&self) -> u32 {
        let Some(shape) = self.occupancy.job_shape().filter(|_| self.straight_only) else {
            return 1;
        };
        let dead: Vec<_> = self.occupancy.dead().collect();
        if Fit::of(self.occupancy.grid(), shape, &dead) == Fit::Never { 2 } else { 1 }
    }

    /// The largest collision of each round: about what the round takes, in times of one message.
    pub fn collisions(&mut self) -> Vec<u32> {
        self.rounds.iter_mut().map(MovingLoad::collision_max).collect()
    }

    /// Goes back to a state kept before, of the same job.
    pub fn restore(&mut self, state: &Self) {
        self.occupancy.restore(&state.occupancy);
        self.rounds.iter_mut().zip(&state.rounds).for_each(|(own, kept)| own.restore(kept));
    }
}

impl Step {
    /// The largest collision of any round afterwards.
    #[must_use]
    pub fn collision_max(&self) -> u32 {
        self.collisions.iter().copied().max().unwrap_or(0)
    }
}

/// Messages in rounds, each rank sending at most `sends` at a time, in the order it posts them.
///
/// Source: Hori et al. 2016, Table 2 (1, 4 and 10 simultaneous sends).
#[must_use]
pub fn rounds_of(traffic: &Traffic, sends: u32) -> Vec<Traffic> {
    let mut sent = vec![0u32; traffic.ranks as usize];
    let mut rounds: Vec<Traffic> = Vec::new();
    for &message in &traffic.messages {
        let own = &mut sent[message.source.index()];
        let round = (*own / sends.max(1)) as usize;
        *own += 1;
        if rounds.len() <= round {
            rounds.resize(round + 1, Traffic { ranks: traffic.ranks, messages: Vec::new() });
        }
        rounds[round].messages.push(message);
    }
    rounds
}

/// Whether ranks still stand as a grid of that shape: along each dimension in order, where only the coordinate along it counts.
///
/// Collectives that are tuned to the shape of a job need that.
#[must_use]
pub fn shape_kept(grid: &Grid, shape: &[u32], node_of: &[NodeId]) -> bool {
    let Ok(job) = Grid::new(shape, false) else { return false };
    let own = |rank: usize, dimension| job.coordinate(NodeId::from_index(rank), dimension);
    (0..shape.len()).all(|dimension| {
        let mut place = vec![None; shape[dimension] as usize];
        let one_each = node_of.iter().enumerate().all(|(rank, &node)| {
            let at = grid.coordinate(node, dimension);
            *place[own(rank, dimension) as usize].get_or_insert(at) == at
        });
        one_each && place.is_sorted_by(|one, next| one < next)
    })
}
