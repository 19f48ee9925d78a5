//! Sliding: the ranks between a failed node and free nodes move on by one.
//!
//! A *1D slide* moves along one line to the nearest free node of it. A *kD slide* takes the k-dimensional slice through the
//! failed node and moves all its lines along one dimension, from the failed node's coordinate to one at which all of them have a
//! free node: the plane of the failed node is empty afterwards, so dimension-order routes pass straight through. Failed nodes
//! on the way are passed over.
//!
//! Source: Hori et al. 2016, "1D sliding" and "2D sliding, 3D sliding, ..., qD sliding". What it leaves open (the direction,
//! what happens at failed nodes) is read as docs/models.md says. Ties: the higher end first.

use super::line::{self, Line};
use super::occupancy::Occupancy;
use crate::grid::DIMENSIONS_MAX;
use crate::ids::{NodeId, Rank};

/// One possible slide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slide {
    /// Dimensions of the slice, as bits.
    pub slice: u8,
    /// Along which dimension ranks move.
    pub along: u8,
    /// To higher coordinates, or around the end of a torus.
    pub up: bool,
    /// Nodes between the failed one and the free ones, these included.
    pub steps: u32,
}

/// A rank that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Who.
    pub rank: Rank,
    /// Where it was.
    pub from: NodeId,
    /// Where it is.
    pub to: NodeId,
}

impl Slide {
    /// Dimensions of the slice: `k`.
    #[must_use]
    pub fn degree(&self) -> u32 {
        self.slice.count_ones()
    }
}

/// What is near a node that fails, as far as slides of any degree need it.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'o> {
    occupancy: &'o Occupancy,
    failed: NodeId,
    /// Dimensions, as bits, along which the node's line has a free node.
    open: u32,
    /// By dimension along which ranks move: others, as bits, along which some row of nodes may take the node's row.
    fitting: [u32; DIMENSIONS_MAX],
}

impl<'o> Surroundings<'o> {
    /// Of a node with a rank; slides have at most `degree_max` dimensions.
    pub fn of(occupancy: &'o Occupancy, failed: NodeId, degree_max: u32) -> Self {
        let dimensions = occupancy.grid().dimensions();
        let mut made = Surroundings { occupancy, failed, open: 0, fitting: [0; DIMENSIONS_MAX] };
        for along in 0..dimensions {
            // The line of the failed node needs a free node in any case.
            let free = occupancy.free_on(along, occupancy.line_of(failed, along));
            if free.iter().all(|&word| word == 0) {
                continue;
            }
            made.open |= 1 << along;
            if degree_max > 1 {
                let others = (0..dimensions).filter(|&row| row != along);
                let fits = others.filter(|&row| made.row_fits(along, row, free));
                made.fitting[along] = fits.map(|row| 1 << row).sum();
            }
        }
        made
    }

    /// Whether one of the places that are free along a dimension has a row along another one with free nodes wherever the failed
    /// node's row has ranks.
    fn row_fits(&self, along: usize, row: usize, free: &[u64]) -> bool {
        let Surroundings { occupancy, failed, .. } = *self;
        let own = occupancy.line_of(failed, row);
        let used = occupancy.used_on(row, own);
        let pitch = occupancy.line_pitch(row, along);
        let first = own - occupancy.coordinate(failed, along) as usize * pitch;
        line::places(free).any(|to| {
            let there = occupancy.free_on(row, first + to as usize * pitch);
            used.iter().zip(there).all(|(used, free)| used & !free == 0)
        })
    }

    /// Adds the slides of degree `degree` (1 or more) by which the rank finds a node: by slice, then by dimension; of the two
    /// directions the shorter.
    pub fn possible(&self, degree: u32, found: &mut Vec<Slide>) {
        let Surroundings { occupancy, failed, open, fitting } = *self;
        let dimensions = occupancy.grid().dimensions();
        for slice in slices(dimensions, degree).filter(|slice| slice & open != 0) {
            for along in (0..dimensions).filter(|along| (slice & open) >> along & 1 == 1) {
                let across = slice & !(1 << along);
                if across & !fitting[along] != 0 {
                    continue;
                }
                let shortest = Slice { occupancy, failed, slice, along }.shortest();
                let (slice, along) = (slice as u8, along as u8);
                found.extend(shortest.map(|(up, steps)| Slide { slice, along, up, steps }));
            }
        }
    }
}

/// The sets of `degree` dimensions, as bits, in order.
fn slices(dimensions: usize, degree: u32) -> impl Iterator<Item = u32> {
    // The next number with as many bits set: the lowest group of ones gives its first one to the zero above, and the rest
    // goes down to the end.
    let next = |slice: &u32| {
        let above = slice + (slice & slice.wrapping_neg());
        Some(above | ((slice ^ above) >> 2 >> slice.trailing_zeros()))
    };
    let first = (1 << degree) - 1;
    std::iter::successors(Some(first), next).take_while(move |slice| slice >> dimensions == 0)
}

/// Slides: the rank of the failed node, and all between it and the free nodes, move on by one node that is alive.
///
/// # Panics
/// If the slide is not possible.
pub fn slide(occupancy: &mut Occupancy, failed: NodeId, slide: Slide, moves: &mut Vec<Move>) {
    let along = usize::from(slide.along);
    let line = line(occupancy, along, slide.up);
    let stride = occupancy.grid().stride(along);
    let at = occupancy.coordinate(failed, along);
    let end = line.coordinate(at, slide.steps);
    for start in plane(occupancy, failed, u32::from(slide.slice) & !(1 << slide.along)) {
        // From the free end back, so that each rank moves to a node that is free or has just been left.
        let mut hole: Option<(NodeId, bool)> = None;
        let mut coordinate = end;
        for left in (0..=slide.steps).rev() {
            let node = NodeId(start.0 - at * stride + coordinate * stride);
            // Where nobody has to move on to the last node, it may have a rank of its own.
            let rank = occupancy.rank_on(node).filter(|_| left < slide.steps);
            if let Some(rank) = rank {
                // INVARIANT: the line ends with a free node, or nobody on it moves.
                #[allow(clippy::expect_used)]
                let (to, left) = hole.expect("a slide ends on a free node");
                if left {
                    occupancy.hand_over(rank, to);
                } else {
                    occupancy.place(rank, to);
                }
                moves.push(Move { rank, from: node, to });
                hole = Some((node, true));
            } else if !occupancy.is_dead(node) {
                settle(occupancy, hole, failed);
                hole = Some((node, false));
            }
            coordinate = line.back(coordinate);
        }
        settle(occupancy, hole, failed);
    }
}

/// The node that a rank has left stays empty if it did.
fn settle(occupancy: &mut Occupancy, hole: Option<(NodeId, bool)>, failed: NodeId) {
    if let Some((node, true)) = hole {
        occupancy.vacate(node, node == failed);
    }
}

/// The nodes of a plane through `node` that spreads out along the dimensions `across` (bits), lowest ids first.
fn plane(occupancy: &Occupancy, node: NodeId, across: u32) -> impl Iterator<Item = NodeId> + use<> {
    let grid = occupancy.grid().clone();
    let own = NodeId(node.0 - offset(occupancy, node, across));
    let spread = (0..grid.dimensions()).filter(|dimension| across >> dimension & 1 == 1);
    let count: u32 = spread.map(|dimension| grid.lengths()[dimension]).product();
    (0..count).map(move |mut number| {
        let mut at = own.0;
        for dimension in (0..grid.dimensions()).filter(|dimension| across >> dimension & 1 == 1) {
            at += number % grid.lengths()[dimension] * grid.stride(dimension);
            number /= grid.lengths()[dimension];
        }
        NodeId(at)
    })
}

/// What a node's coordinates along some dimensions make of its id.
fn offset(occupancy: &Occupancy, node: NodeId, dimensions: u32) -> u32 {
    let grid = occupancy.grid();
    let all = (0..grid.dimensions()).filter(|dimension| dimensions >> dimension & 1 == 1);
    all.map(|dimension| occupancy.coordinate(node, dimension) * grid.stride(dimension)).sum()
}

/// The slice of a slide and how it would move.
#[derive(Clone, Copy)]
struct Slice<'o> {
    occupancy: &'o Occupancy,
    failed: NodeId,
    slice: u32,
    along: usize,
}

impl Slice<'_> {
    /// The direction of, and the steps to, the nearest plane in which all lines have free nodes for their ranks; upwards if
    /// there are two.
    #[inline]
    fn shortest(&self) -> Option<(bool, u32)> {
        let (occupancy, along) = (self.occupancy, self.along);
        let at = occupancy.coordinate(self.failed, along);
        let free = occupancy.free_on(along, occupancy.line_of(self.failed, along));
        let steps = |up| {
            let line = line(occupancy, along, up);
            if self.slice.is_power_of_two() {
                return line.nearest(free, at);
            }
            line.steps(free, at).find(|&steps| self.fits(line, at, steps))
        };
        match (steps(true), steps(false)) {
            (Some(up), Some(down)) if down < up => Some((false, down)),
            (Some(up), _) => Some((true, up)),
            (None, down) => down.map(|down| (false, down)),
        }
    }

    /// Whether, in the plane `steps` away, the nodes are free wherever a rank stands in a plane before.
    fn fits(&self, line: Line, at: u32, steps: u32) -> bool {
        let (occupancy, stride) = (self.occupancy, self.occupancy.grid().stride(self.along));
        let across = self.slice & !(1 << self.along);
        // A row of a plane is a line along the first dimension across.
        let row = across.trailing_zeros() as usize;
        let fits = |start: NodeId| {
            let row_of = |away: u32| {
                let node = NodeId(start.0 - at * stride + line.coordinate(at, away) * stride);
                occupancy.line_of(node, row)
            };
            let free = occupancy.free_on(row, row_of(steps));
            (0..steps).all(|away| {
                let used = occupancy.used_on(row, row_of(away));
                used.iter().zip(free).all(|(used, free)| used & !free == 0)
            })
        };
        fits(self.failed) && plane(occupancy, self.failed, across & !(1 << row)).all(fits)
    }
}

/// A line along a dimension.
#[inline]
fn line(occupancy: &Occupancy, along: usize, up: bool) -> Line {
    let grid = occupancy.grid();
    Line { length: grid.lengths()[along], wraps: grid.wraps(along), up }
}
