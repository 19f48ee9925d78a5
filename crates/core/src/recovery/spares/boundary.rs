//! Two jobs side by side, with spare nodes at the boundary that both use.
//!
//! Half of the machine is one job's, half the other's, along x; the planes between them are free. Whichever job loses a node, a
//! rank of it moves into the boundary, and its messages may meet those of the other job.
//!
//! Source: Hori et al. 2016, "User-level vs. System-level" (spare nodes at the boundaries of jobs, used by both sides).

use std::sync::Arc;

use super::allocation::{Allocation, AllocationError};
use super::occupancy::Occupancy;
use crate::grid::Grid;
use crate::ids::{NodeId, Rank};
use crate::traffic::{Message, Traffic};

/// Two jobs; ranks of the first come first, each x fastest.
#[derive(Clone, Debug)]
pub struct SideBySide {
    /// Who is where.
    pub occupancy: Occupancy,
    /// Nodes along each dimension of either job; if they differ, the first is the longer.
    pub shapes: [Vec<u32>; 2],
}

impl SideBySide {
    /// Two jobs on all nodes but the `thickness` planes between them.
    ///
    /// # Errors
    /// If that leaves no node for one of them.
    pub fn new(grid: Arc<Grid>, thickness: u32) -> Result<Self, AllocationError> {
        let length = grid.lengths()[0];
        let left = length.saturating_sub(thickness);
        if left < 2 {
            let dimensions = grid.dimensions();
            let shape = grid.lengths().iter().map(u32::to_string).collect::<Vec<_>>().join("x");
            let allocation = Allocation::Sides { dimensions, sides: 1, thickness };
            return Err(AllocationError::Thick { allocation, shape, length, dimension: 0 });
        }
        let shapes = [left - left / 2, left / 2].map(|own| {
            let mut shape = grid.lengths().to_vec();
            shape[0] = own;
            shape
        });
        let nodes = || (0..grid.node_count()).map(NodeId::from_index);
        let x = |node: &NodeId| grid.coordinate(*node, 0);
        let first = nodes().filter(|node| x(node) < shapes[0][0]);
        let second = nodes().filter(|node| x(node) >= length - shapes[1][0]);
        let ranks = first.chain(second).collect();
        Ok(SideBySide { occupancy: Occupancy::of(grid.clone(), ranks), shapes })
    }
}

/// Messages of two jobs: of both at once, of the first alone, and of the second alone.
#[must_use]
pub fn both_and_each(first: &Traffic, second: &Traffic) -> [Traffic; 3] {
    let ranks = first.ranks + second.ranks;
    let later = |rank: Rank| Rank(rank.0 + first.ranks);
    let second: Vec<_> = second
        .messages
        .iter()
        .map(|one| Message { source: later(one.source), target: later(one.target), ..*one })
        .collect();
    let both = first.messages.iter().copied().chain(second.iter().copied()).collect();
    [both, first.messages.clone(), second].map(|messages| Traffic { ranks, messages })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn the_boundary_is_free_and_each_job_has_its_half() {
        let grid = Arc::new(Grid::new(&[8, 3], false).unwrap());
        let jobs = SideBySide::new(grid.clone(), 1).unwrap();
        assert_eq!(jobs.shapes, [vec![4, 3], vec![3, 3]]);
        let free: Vec<_> =
            (0..24).map(NodeId).filter(|&node| jobs.occupancy.is_free(node)).collect();
        assert_eq!(free, [4, 12, 20].map(NodeId));
        assert_eq!(jobs.occupancy.rank_on(NodeId(5)), Some(Rank(12)));
        assert!(SideBySide::new(grid, 7).is_err());
    }

    #[test]
    fn ranks_of_the_second_job_come_behind_those_of_the_first() {
        let message =
            |source, target| Message { source: Rank(source), target: Rank(target), size: Bytes(1) };
        let first = Traffic { ranks: 3, messages: vec![message(0, 2)] };
        let second = Traffic { ranks: 2, messages: vec![message(1, 0)] };
        let [both, one, other] = both_and_each(&first, &second);
        assert_eq!(both.messages, [message(0, 2), message(4, 3)]);
        assert_eq!((one.messages, other.messages), (vec![message(0, 2)], vec![message(4, 3)]));
        assert_eq!(both.ranks, 5);
    }
}
