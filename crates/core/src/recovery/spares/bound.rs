//! What no placement can be better than.
//!
//! A job of stencil messages on a mesh has no collision only if its lines of ranks are straight and parallel: some
//! coordinates are left out along each dimension, the same for all ranks. [`Fit`] tells whether the dead nodes allow that. If
//! they do not, some channel carries 2 messages whatever one does.
//!
//! Why, for the stencil with `2 q + 1` points under dimension-order routing and at least four ranks along each dimension: a rank
//! inside the job sends `2 q` messages, so without a collision one leaves by each of its node's channels. The two that leave
//! along the last dimension are for partners that are apart along that dimension alone; their answers arrive along it too, so
//! all other partners' messages arrive along lower ones, and these partners are not apart along the last. By induction each
//! partner is apart along one dimension, one in each direction. Two partners at right angles share a third one, which is the
//! fourth corner of a rectangle; so lines of ranks inside the job are straight and parallel. A rank at a face of the job is in
//! line with the one inside it. Were it nearer to that one than its neighbour on the face is to its own, a message between the
//! two would begin or end on the channel that a message to or from inside takes. The same holds for edges between
//! faces in turn, and for corners. (Jobs of 3x3 ranks were tried exhaustively
//! and agree; nothing is claimed of jobs with fewer than four ranks along a dimension.)

use crate::grid::Grid;
use crate::ids::NodeId;
use crate::traffic::Traffic;

/// Whether a job fits between dead nodes on straight lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It does.
    On(Straight),
    /// It does not.
    Never,
    /// That takes too long to tell.
    Unknown,
}

/// A job on straight lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Straight {
    /// By dimension of the job: that of the grid which it lies along.
    along: Vec<usize>,
    /// By dimension of the job: the coordinates it has, in order.
    kept: Vec<Vec<u32>>,
}

/// The most coordinates left out along all dimensions together, and the most dimensions, for which all ways are tried.
const LEFT_OUT_MAX: u32 = 12;
const TURNED_MAX: usize = 4;

/// Ranks along each dimension from which on the reason above holds.
const RANKS_LEAST: u32 = 4;

/// Whether no placement of a job on the grid has a largest collision of 1 unless it [fits](Fit) on straight lines: whether its
/// messages are those of a stencil on a mesh.
#[must_use]
pub fn needs_straight_lines(grid: &Grid, shape: &[u32], traffic: &Traffic) -> bool {
    let Ok(job) = Grid::new(shape, false) else { return false };
    let mesh = (0..grid.dimensions()).all(|dimension| !grid.wraps(dimension));
    let mut sent: Vec<_> =
        traffic.messages.iter().map(|one| (one.source.0, one.target.0)).collect();
    sent.sort_unstable();
    let mut wanted = Vec::new();
    for node in (0..job.node_count()).map(NodeId::from_index) {
        let next = |(dimension, up)| job.next(node, dimension, up);
        let ways = (0..shape.len()).flat_map(|dimension| [(dimension, false), (dimension, true)]);
        wanted.extend(ways.filter_map(next).map(|next| (node.0, next.0)));
    }
    wanted.sort_unstable();
    mesh && shape.iter().all(|&length| length >= RANKS_LEAST) && sent == wanted
}

impl Fit {
    /// Looks for a place for a job of that shape: of those there are, the one that turns it least and leaves out low dimensions
    /// first.
    #[must_use]
    pub fn of(grid: &Grid, shape: &[u32], dead: &[NodeId]) -> Fit {
        let own: Vec<usize> = (0..shape.len()).collect();
        let all = grid.lengths().iter().zip(shape).map(|(length, own)| length.saturating_sub(*own));
        if all.sum::<u32>() > LEFT_OUT_MAX {
            return Fit::Unknown;
        }
        if let Some(found) = straight(grid, shape, dead, own.clone()) {
            return Fit::On(found);
        }
        if shape.len() > TURNED_MAX {
            return Fit::Unknown;
        }
        let mut tried = vec![shape.to_vec()];
        for along in permutations(own) {
            // The shape as the grid sees it.
            let mut turned = vec![0; shape.len()];
            along.iter().zip(shape).for_each(|(&along, &length)| turned[along] = length);
            if tried.contains(&turned) {
                continue;
            }
            tried.push(turned);
            if let Some(found) = straight(grid, shape, dead, along) {
                return Fit::On(found);
            }
        }
        Fit::Never
    }
}

impl Straight {
    /// The node of each rank.
    pub fn nodes(&self, grid: &Grid) -> impl Iterator<Item = NodeId> + '_ {
        let strides: Vec<_> = self.along.iter().map(|&along| grid.stride(along)).collect();
        let ranks: usize = self.kept.iter().map(Vec::len).product();
        (0..ranks).map(move |mut rank| {
            let at = self.kept.iter().zip(&strides).map(|(kept, stride)| {
                let own = kept[rank % kept.len()];
                rank /= kept.len();
                own * stride
            });
            NodeId(at.sum())
        })
    }
}

/// A place for a job whose dimensions lie along those of the grid.
fn straight(grid: &Grid, shape: &[u32], dead: &[NodeId], along: Vec<usize>) -> Option<Straight> {
    let mut left = vec![0; shape.len()];
    for (&along, &length) in along.iter().zip(shape) {
        left[along] = grid.lengths()[along].checked_sub(length)?;
    }
    let mut search = Search { grid, dead, left, out: vec![Vec::new(); shape.len()] };
    if !search.covers(0) {
        return None;
    }
    let Search { mut left, mut out, .. } = search;
    let kept = along.iter().map(|&along| {
        let length = grid.lengths()[along];
        // What need not be left out is left out at the high end.
        for at in (0..length).rev() {
            if left[along] > 0 && !out[along].contains(&at) {
                out[along].push(at);
                left[along] -= 1;
            }
        }
        (0..length).filter(|at| !out[along].contains(at)).collect()
    });
    let kept = kept.collect();
    Some(Straight { along, kept })
}

struct Search<'s> {
    grid: &'s Grid,
    dead: &'s [NodeId],
    /// By dimension of the grid: how many coordinates may still be left out, and which are.
    left: Vec<u32>,
    out: Vec<Vec<u32>>,
}

impl Search<'_> {
    /// Whether the dead nodes from the `first` on can be left out.
    fn covers(&mut self, first: usize) -> bool {
        let is_out = |&&node: &&NodeId| {
            let mut ways = self.out.iter().enumerate();
            ways.any(|(along, out)| out.contains(&self.grid.coordinate(node, along)))
        };
        let first = first + self.dead[first..].iter().take_while(is_out).count();
        let Some(&node) = self.dead.get(first) else { return true };
        for dimension in 0..self.left.len() {
            if self.left[dimension] > 0 {
                self.left[dimension] -= 1;
                self.out[dimension].push(self.grid.coordinate(node, dimension));
                if self.covers(first + 1) {
                    return true;
                }
                self.out[dimension].pop();
                self.left[dimension] += 1;
            }
        }
        false
    }
}

/// All orders, that given first.
fn permutations(all: Vec<usize>) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = all.split_first() else { return vec![Vec::new()] };
    let put = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, first);
            order
        })
    };
    permutations(rest.to_vec()).into_iter().flat_map(put).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{GridLoad, PairLoad};

    /// All placements of a job without a collision are on straight lines.
    struct Every {
        grid: Grid,
        job: Grid,
        load: GridLoad<2>,
        node_of: Vec<NodeId>,
        found: usize,
    }

    impl Every {
        fn place(&mut self) {
            let rank = NodeId::from_index(self.node_of.len());
            if rank.index() == self.job.node_count() {
                self.found += 1;
                assert!(self.is_straight(), "{:?}", self.node_of);
                return;
            }
            for node in (0..self.grid.node_count()).map(NodeId::from_index) {
                if self.node_of.contains(&node) {
                    continue;
                }
                let before = (0..2).filter_map(|dimension| self.job.next(rank, dimension, false));
                let partners: Vec<_> = before.map(|one| self.node_of[one.index()]).collect();
                for &other in &partners {
                    self.load.add(node, other);
                    self.load.add(other, node);
                }
                if self.load.collision_max() <= 1 {
                    self.node_of.push(node);
                    self.place();
                    self.node_of.pop();
                }
                for &other in &partners {
                    self.load.remove(node, other);
                    self.load.remove(other, node);
                }
            }
        }

        /// Whether neighbours along a dimension are apart along one dimension, always the same.
        fn is_straight(&self) -> bool {
            (0..2).all(|dimension| {
                let pairs = (0..self.node_of.len()).map(NodeId::from_index).filter_map(|rank| {
                    let next = self.job.next(rank, dimension, true)?;
                    Some((self.node_of[rank.index()], self.node_of[next.index()]))
                });
                let pairs: Vec<_> = pairs.collect();
                (0..2).any(|along| {
                    let other = 1 - along;
                    pairs.iter().all(|&(one, next)| {
                        self.grid.coordinate(one, other) == self.grid.coordinate(next, other)
                    })
                })
            })
        }
    }

    #[test]
    fn without_a_collision_all_lines_are_straight() {
        // So many, by hand: rows and columns to leave out, times eight turned and mirrored.
        for (lengths, shape, wanted) in
            [([4, 4], [3, 3], 4 * 4 * 8), ([5, 4], [3, 3], 10 * 4 * 8), ([5, 5], [4, 4], 5 * 5 * 8)]
        {
            let grid = Grid::new(&lengths, false).unwrap();
            let load = GridLoad::new(&grid);
            let job = Grid::new(&shape, false).unwrap();
            let mut every = Every { grid, job, load, node_of: Vec::new(), found: 0 };
            every.place();
            assert_eq!(every.found, wanted, "{lengths:?} {shape:?}");
        }
    }

    #[test]
    fn a_job_fits_where_dead_nodes_are_in_rows_and_columns_that_it_can_leave_out() {
        let grid = Grid::new(&[5, 4], false).unwrap();
        let node = |x: u32, y: u32| NodeId(x + 5 * y);
        let Fit::On(place) = Fit::of(&grid, &[4, 3], &[node(1, 0), node(1, 3), node(3, 2)]) else {
            panic!("leave out column 1 and row 2")
        };
        let nodes: Vec<_> = place.nodes(&grid).collect();
        assert_eq!(nodes[..5], [node(0, 0), node(2, 0), node(3, 0), node(4, 0), node(0, 1)]);
        assert_eq!(Fit::of(&grid, &[4, 3], &[node(0, 0), node(1, 1), node(2, 2)]), Fit::Never);
        // Turned, it leaves out two columns and no row.
        let Fit::On(place) =
            Fit::of(&grid, &[4, 3], &[node(0, 0), node(0, 1), node(1, 2), node(1, 3)])
        else {
            panic!("leave out columns 0 and 1")
        };
        assert_eq!(place.nodes(&grid).take(2).collect::<Vec<_>>(), [node(2, 0), node(2, 1)]);
    }
}
