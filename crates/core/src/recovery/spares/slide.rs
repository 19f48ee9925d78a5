//! Sliding: the ranks between a failed node and free nodes move on by one.
//!
//! A *1D slide* moves along one line to the nearest free node of it. A *kD slide* takes the k-dimensional slice through the
//! failed node and moves all its lines along one dimension, from the failed node's coordinate to one at which all of them have a
//! free node: the plane of the failed node is empty afterwards, so dimension-order routes pass straight through. Failed nodes
//! on the way are passed over.
//!
//! Source: Hori et al. 2016, "1D sliding" and "2D sliding, 3D sliding, ..., qD sliding". What it leaves open (the direction, what
//! happens at failed nodes) is read as in `reference/spare-sliding.md`. Ties: the higher end first.

use super::line;
use super::occupancy::Occupancy;
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

/// Adds the slides of degree `degree` (1 or more) by which the rank on `failed` finds a node: by slice, then by dimension; of
/// the two directions the shorter.
pub fn possible(occupancy: &Occupancy<'_>, failed: NodeId, degree: u32, found: &mut Vec<Slide>) {
    let dimensions = occupancy.grid().dimensions();
    for slice in (1..1u32 << dimensions).filter(|slice| slice.count_ones() == degree) {
        for along in (0..dimensions).filter(|along| slice >> along & 1 == 1) {
            let steps = |up| match degree {
                1 => steps_on_line(occupancy, failed, along, up),
                _ => Slice::new(occupancy, failed, slice, along).steps(up),
            };
            let slide = |up, steps| Slide { slice: slice as u8, along: along as u8, up, steps };
            found.extend(match (steps(true), steps(false)) {
                (Some(up), Some(down)) if down < up => Some(slide(false, down)),
                (Some(up), _) => Some(slide(true, up)),
                (None, down) => down.map(|down| slide(false, down)),
            });
        }
    }
}

/// Slides: the rank of the failed node, and all between it and the free nodes, move on by one node that is alive.
///
/// # Panics
/// If the slide is not possible.
pub fn slide(occupancy: &mut Occupancy<'_>, failed: NodeId, slide: Slide, moves: &mut Vec<Move>) {
    let grid = occupancy.grid();
    let along = usize::from(slide.along);
    let step = Step { stride: grid.stride(along), length: grid.lengths()[along], up: slide.up };
    let at = grid.coordinate(failed, along);
    let end = step.coordinate(at, slide.steps);
    for start in plane(occupancy, failed, u32::from(slide.slice) & !(1 << slide.along)) {
        // From the free end back, so that each rank moves to a node that has just become free.
        let mut free = None;
        let mut node = NodeId(start.0 - at * step.stride + end * step.stride);
        let mut coordinate = end;
        for left in (0..=slide.steps).rev() {
            // Where nobody has to move on to the last node, it may have a rank of its own.
            if let Some(rank) = occupancy.rank_on(node)
                && left < slide.steps
            {
                // INVARIANT: the line ends with a free node, or nobody on it moves.
                #[allow(clippy::expect_used)]
                let to = free.expect("a slide ends on a free node");
                occupancy.relocate(node, to, node == failed);
                moves.push(Move { rank, from: node, to });
            }
            if !occupancy.is_dead(node) {
                free = Some(node);
            }
            if left > 0 {
                let before = step.back(coordinate);
                node = NodeId(node.0 - coordinate * step.stride + before * step.stride);
                coordinate = before;
            }
        }
    }
}

/// The nodes of a plane through `node` that spreads out along the dimensions `across` (bits), lowest ids first.
fn plane(occupancy: &Occupancy<'_>, node: NodeId, across: u32) -> Vec<NodeId> {
    let grid = occupancy.grid();
    let mut nodes = vec![node];
    for dimension in (0..grid.dimensions()).filter(|dimension| across >> dimension & 1 == 1) {
        let (stride, length) = (grid.stride(dimension), grid.lengths()[dimension]);
        let first = |node: NodeId| node.0 - grid.coordinate(node, dimension) * stride;
        nodes = (0..length)
            .flat_map(|at| nodes.iter().map(move |&node| NodeId(first(node) + at * stride)))
            .collect();
    }
    nodes
}

/// Going along a line.
#[derive(Clone, Copy)]
struct Step {
    stride: u32,
    length: u32,
    up: bool,
}

impl Step {
    /// The coordinate `steps` further, around the end.
    fn coordinate(self, at: u32, steps: u32) -> u32 {
        let further = if self.up { steps } else { self.length - steps };
        (at + further) % self.length
    }

    /// The coordinate one step back.
    fn back(self, at: u32) -> u32 {
        self.coordinate(at, self.length - 1)
    }
}

/// Steps from a node to the nearest free one of its line in a direction.
fn steps_on_line(occupancy: &Occupancy<'_>, from: NodeId, along: usize, up: bool) -> Option<u32> {
    let grid = occupancy.grid();
    let (at, length) = (grid.coordinate(from, along), grid.lengths()[along]);
    let free = occupancy.lines(along).free(occupancy.line_of(from, along));
    let steps = if up { line::steps_up } else { line::steps_down };
    steps(free, at, length, grid.is_torus())
}

/// The slice of a slide of degree 2 or more, seen from its planes.
struct Slice<'o, 'g> {
    occupancy: &'o Occupancy<'g>,
    /// A dimension across the slide: a row of a plane is a line along it.
    row: usize,
    /// Rows of the plane of the failed node, its own first.
    rows: Vec<NodeId>,
    at: u32,
    step: Step,
}

impl<'o, 'g> Slice<'o, 'g> {
    fn new(occupancy: &'o Occupancy<'g>, failed: NodeId, slice: u32, along: usize) -> Self {
        let grid = occupancy.grid();
        let across = slice & !(1 << along);
        let row = across.trailing_zeros() as usize;
        let mut rows = plane(occupancy, failed, across & !(1 << row));
        let own = rows.iter().position(|&node| node == failed).unwrap_or(0);
        rows.swap(0, own);
        let (stride, length) = (grid.stride(along), grid.lengths()[along]);
        let step = Step { stride, length, up: true };
        Slice { occupancy, row, rows, at: grid.coordinate(failed, along), step }
    }

    /// Steps to the nearest plane in which all rows have free nodes for the ranks between.
    fn steps(&self, up: bool) -> Option<u32> {
        let step = Step { up, ..self.step };
        let most = match (self.occupancy.grid().is_torus(), up) {
            (true, _) => step.length - 1,
            (false, true) => step.length - 1 - self.at,
            (false, false) => self.at,
        };
        (1..=most).find(|&steps| self.rows.iter().all(|&row| self.fits(row, step, steps)))
    }

    /// Whether the nodes of a row `steps` planes away are free wherever a rank stands in a plane before.
    fn fits(&self, row: NodeId, step: Step, steps: u32) -> bool {
        let lines = self.occupancy.lines(self.row);
        let line = |away: u32| {
            let coordinate = step.coordinate(self.at, away);
            let node = NodeId(row.0 - self.at * step.stride + coordinate * step.stride);
            self.occupancy.line_of(node, self.row)
        };
        let free = lines.free(line(steps));
        (0..steps).all(|away| {
            let used = lines.used(line(away));
            used.iter().zip(free).all(|(used, free)| used & !free == 0)
        })
    }
}
