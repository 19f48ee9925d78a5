//! A job on a network: ranks on the nodes of a grid, spares, and their messages on channels.
//!
//! The grid is the node space that ranks slide in. Messages go over the network that the nodes are attached to: that grid
//! under dimension-order routing, or any other network whose nodes the grid's nodes stand for.
//!
//! Source: Hori et al. 2016.

use crate::grid::Grid;
use crate::ids::{NodeId, Rank};
use crate::load::{MovingLoad, PairLoad};
use crate::recovery::spares::{
    Choice, Choices, Method, Move, Occupancy, Substitutes, Substitution,
};
use crate::rng::Stream;
use crate::traffic::Traffic;

/// A job whose nodes fail one after the other.
#[derive(Clone, Debug)]
pub struct Job<L> {
    /// Who is where.
    pub occupancy: Occupancy,
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
}

impl<L: PairLoad> Job<L> {
    /// A job with its messages where its ranks are, round by round.
    #[must_use]
    pub fn new(occupancy: Occupancy, rounds: Vec<MovingLoad<L>>) -> Self {
        Job { occupancy, rounds, moves: Vec::new(), moved: Vec::new() }
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
        self.carry_out(choice, failed)
    }

    /// Does what was chosen about a node that fails.
    #[inline]
    pub fn carry_out(&mut self, choice: Choice, failed: NodeId) -> Substitution {
        self.moves.clear();
        let done = choice.carry_out(&mut self.occupancy, failed, &mut self.moves);
        self.moved.clear();
        self.moved.extend(self.moves.iter().map(|one| (one.rank, one.to)));
        self.rounds.iter_mut().for_each(|load| load.relocate(&self.moved));
        done
    }

    /// Nodes fail in turn; ends early where no spare is left.
    pub fn fail_all(
        &mut self,
        method: &Method,
        choices: Choices,
        failed: &[NodeId],
        stream: &mut Stream,
    ) -> Vec<Step> {
        let dimensions = self.occupancy.grid().dimensions();
        let mut substitutes = Substitutes::new(method, choices, dimensions);
        let mut steps = Vec::new();
        for &failed in failed {
            let substitution = self.fail(&mut substitutes, failed, stream);
            let (moves, collisions) = (self.moves.clone(), self.collisions());
            steps.push(Step { failed, substitution, moves, collisions });
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
