//! Chains: ranks move on by one from node to node, along lines with bends, until one reaches a free node.
//!
//! A 1D slide is a chain without a bend, a 0D slide one of a single step over any distance. Failed nodes are passed over.

use super::line::Line;
use super::occupancy::Occupancy;
use super::slide::Move;
use crate::ids::{NodeId, Rank};

/// Where a walk along a line has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// On a free node: the chain is whole.
    Free,
    /// After all its steps.
    Steps,
    /// At the edge of the mesh.
    Edge,
}

/// A chain as far as it has come.
#[derive(Debug)]
pub struct Chain<'o> {
    occupancy: &'o Occupancy,
    moves: &'o mut Vec<Move>,
    /// Where it has come to.
    at: NodeId,
    /// Who moves to the next node that is alive, and from where.
    next: (Rank, NodeId),
}

impl<'o> Chain<'o> {
    /// Begins at a node, if it has a rank; `moves` is emptied, and has one move for each rank of the chain in the end.
    pub fn from(
        occupancy: &'o Occupancy,
        start: NodeId,
        moves: &'o mut Vec<Move>,
    ) -> Option<Chain<'o>> {
        moves.clear();
        let rank = occupancy.rank_on(start)?;
        Some(Chain { occupancy, moves, at: start, next: (rank, start) })
    }

    /// Goes on along a dimension, up or down, at most `steps` nodes and not all around.
    pub fn along(&mut self, dimension: usize, up: bool, steps: u32) -> Ended {
        let (occupancy, grid) = (self.occupancy, self.occupancy.grid());
        let (length, stride) = (grid.lengths()[dimension], grid.stride(dimension));
        let line = Line { length, wraps: grid.wraps(dimension), up };
        let mut at = occupancy.coordinate(self.at, dimension);
        let first = NodeId(self.at.0 - at * stride);
        for step in 0..steps {
            let edge = if up { at + 1 == length } else { at == 0 };
            if edge && !line.wraps || step + 1 == length {
                return Ended::Edge;
            }
            at = line.coordinate(at, 1);
            self.at = NodeId(first.0 + at * stride);
            if occupancy.is_dead(self.at) {
                continue;
            }
            let (rank, from) = self.next;
            self.moves.push(Move { rank, from, to: self.at });
            match occupancy.rank_on(self.at) {
                Some(rank) => self.next = (rank, self.at),
                None => return Ended::Free,
            }
        }
        Ended::Steps
    }

    /// Goes on to a free node, or one on the way there, along dimensions in this order; the shorter way around.
    pub fn to(&mut self, target: NodeId, order: impl Iterator<Item = usize>) -> Ended {
        let occupancy = self.occupancy;
        for dimension in order {
            let (at, end) =
                (occupancy.coordinate(self.at, dimension), occupancy.coordinate(target, dimension));
            let (apart, length) = (at.abs_diff(end), occupancy.grid().lengths()[dimension]);
            let around = occupancy.grid().wraps(dimension) && 2 * apart > length;
            let steps = if around { length - apart } else { apart };
            if self.along(dimension, (end > at) != around, steps) == Ended::Free {
                return Ended::Free;
            }
        }
        Ended::Steps
    }
}
