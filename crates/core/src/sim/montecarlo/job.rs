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

/// A job whose nodes fail one after the other.
#[derive(Clone, Debug)]
pub struct Job<L> {
    /// Who is where.
    pub occupancy: Occupancy,
    load: MovingLoad<L>,
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
    /// The largest collision afterwards.
    pub collision_max: u32,
}

impl<L: PairLoad> Job<L> {
    /// A job with its messages where its ranks are.
    #[must_use]
    pub fn new(occupancy: Occupancy, load: MovingLoad<L>) -> Self {
        Job { occupancy, load, moves: Vec::new(), moved: Vec::new() }
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
        self.load.relocate(&self.moved);
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
            let (moves, collision_max) = (self.moves.clone(), self.collision_max());
            steps.push(Step { failed, substitution, moves, collision_max });
            if matches!(substitution, Substitution::NoSpareLeft(_)) {
                break;
            }
        }
        steps
    }

    /// The largest collision.
    #[inline]
    pub fn collision_max(&mut self) -> u32 {
        self.load.collision_max()
    }

    /// Its messages.
    #[must_use]
    pub fn load(&self) -> &MovingLoad<L> {
        &self.load
    }

    /// Goes back to a state kept before, of the same job.
    pub fn restore(&mut self, state: &Self) {
        self.occupancy.restore(&state.occupancy);
        self.load.restore(&state.load);
    }
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
