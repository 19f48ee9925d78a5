//! Messages on the channels of a grid under dimension-order routing, kept up to date as ranks move.
//!
//! A message goes along x first, then y, and so on; on a torus the shorter way around, both being as long upwards. So it
//! has a run of channels along each dimension, on a line that the lower coordinates of its target and the higher ones of its source
//! name.
//!
//! Source: Hori et al. 2016 (static XY routing; message collisions on directed channels).

use std::sync::Arc;

use super::channel_lines::{Around, ChannelLines, Run};
use super::sliding::Chain;
use super::{Pair, PairLoad};
use crate::grid::Grid;
use crate::ids::NodeId;
use crate::rng::Stream;

/// Messages on each channel of a grid with `Q` dimensions.
#[derive(Clone, Debug)]
pub struct GridLoad<const Q: usize> {
    pub(super) routes: Routes<Q>,
    pub(super) lines: ChannelLines,
    /// Ranks that are moving.
    pub(super) chain: Chain,
}

/// Where a node is: its coordinates, each in as many bits as it takes, x in the lowest. A grid has at most 2^24 nodes, so they fit.
pub(super) type Place = u32;

/// Which channels messages take.
#[derive(Clone, Debug)]
pub(super) struct Routes<const Q: usize> {
    pub lengths: [u32; Q],
    pub wraps: [bool; Q],
    /// By node.
    places: Arc<[Place]>,
    /// Where in a place a coordinate is, and in how many bits.
    pub shifts: [u32; Q],
    widths: [u32; Q],
    /// The bits of a place with a coordinate, with all lower ones, and all the others.
    pub lanes: [Place; Q],
    pub below: [Place; Q],
    pub above: [Place; Q],
    /// First line along a dimension, up and down. A line's number is made of the bits of the other coordinates, so some are of no
    /// line. The channel between two neighbours has the number of the lower, or of the last one if it goes around the end.
    pub bases: [[u32; 2]; Q],
}

/// A node at an end of messages, as the other end is sought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<const Q: usize> {
    pub place: Place,
    /// Its coordinates.
    pub at: [u32; Q],
    /// By dimension: what lower and what higher coordinates make of the number of a line along it.
    pub low: [u32; Q],
    pub high: [u32; Q],
}

impl<const Q: usize> Routes<Q> {
    /// A coordinate of a place.
    #[inline(always)]
    pub fn at(&self, place: Place, dimension: usize) -> u32 {
        (place & self.lanes[dimension]) >> self.shifts[dimension]
    }

    /// What lower coordinates make of the number of a line along a dimension.
    #[inline(always)]
    pub fn low(&self, place: Place, dimension: usize) -> u32 {
        place & self.below[dimension]
    }

    /// What higher coordinates make of the number of a line along a dimension.
    #[inline(always)]
    pub fn high(&self, place: Place, dimension: usize) -> u32 {
        (place & self.above[dimension]) >> self.widths[dimension]
    }

    #[inline(always)]
    pub fn spot(&self, place: Place) -> Spot<Q> {
        Spot {
            place,
            at: std::array::from_fn(|dimension| self.at(place, dimension)),
            low: std::array::from_fn(|dimension| self.low(place, dimension)),
            high: std::array::from_fn(|dimension| self.high(place, dimension)),
        }
    }

    /// The channels along one dimension of a message that is sent from a spot, or received there (`SENT`).
    ///
    /// A message has its target's lower coordinates by then, and still its source's higher ones.
    #[inline(always)]
    pub fn run<const SENT: bool>(&self, dimension: usize, own: &Spot<Q>, other: Place) -> Run {
        let (here, there) = (own.at[dimension], self.at(other, dimension));
        let (from, to) = if SENT { (here, there) } else { (there, here) };
        let (down, around) = self.way(dimension, from, to);
        let others = match SENT {
            true => self.low(other, dimension) + own.high[dimension],
            false => own.low[dimension] + self.high(other, dimension),
        };
        Run { line: self.bases[dimension][usize::from(down)] + others, from, to, around }
    }

    /// Whether a way along a dimension goes down, and around the end.
    #[inline(always)]
    fn way(&self, dimension: usize, from: u32, to: u32) -> (bool, Around) {
        let falls = to < from;
        if !self.wraps[dimension] {
            return (falls, Around::No);
        }
        let length = self.lengths[dimension];
        let steps = if falls { to + length - from } else { to - from };
        match (2 * steps > length, falls) {
            (true, false) => (true, Around::Down),
            (false, true) => (false, Around::Up),
            (down, _) => (down, Around::No),
        }
    }

    /// The node at a place.
    fn node(&self, place: Place) -> NodeId {
        let mut stride = 1;
        let along = (0..Q).map(|dimension| {
            let step = stride;
            stride *= self.lengths[dimension];
            self.at(place, dimension) * step
        });
        NodeId(along.sum())
    }
}

impl<const Q: usize> GridLoad<Q> {
    /// No message yet.
    ///
    /// # Panics
    /// If the grid has not `Q` dimensions.
    #[must_use]
    pub fn new(grid: &Grid) -> Self {
        let lengths: [u32; Q] =
            grid.lengths().try_into().unwrap_or_else(|_| panic!("a grid of {Q} dimensions"));
        let widths = lengths.map(|length| (length - 1).checked_ilog2().map_or(0, |top| top + 1));
        let shifts = std::array::from_fn(|dimension| widths[..dimension].iter().sum());
        let width: u32 = widths.iter().sum();
        assert!(width < Place::BITS, "coordinates and one more bit fit into a word");
        let place = |node: usize| -> Place {
            let own = grid.coordinates(NodeId::from_index(node)).zip(shifts);
            own.map(|(at, shift)| at << shift).sum()
        };
        let (mut bases, mut down) = ([[0; 2]; Q], Vec::new());
        for (bases, own) in bases.iter_mut().zip(widths) {
            for (base, goes_down) in bases.iter_mut().zip([false, true]) {
                *base = down.len() as u32;
                down.resize(down.len() + (1 << (width - own)), goes_down);
            }
        }
        let below = shifts.map(|shift| (1u32 << shift) - 1);
        let lane = |dimension: usize| ((1u32 << widths[dimension]) - 1) << shifts[dimension];
        let routes = Routes {
            lengths,
            wraps: std::array::from_fn(|dimension| grid.wraps(dimension)),
            places: (0..grid.node_count()).map(place).collect(),
            shifts,
            widths,
            lanes: std::array::from_fn(lane),
            below,
            above: std::array::from_fn(|dimension| !(lane(dimension) | below[dimension])),
            bases,
        };
        let length_max = lengths.into_iter().max().unwrap_or(0);
        let lines = ChannelLines::new(down.into(), length_max);
        GridLoad { routes, lines, chain: Chain::default() }
    }

    /// Messages on the channel that leaves a node along a dimension.
    #[must_use]
    pub fn on(&self, node: NodeId, dimension: usize, up: bool) -> u32 {
        let place = self.place(node);
        let own = self.routes.spot(place);
        let base = self.routes.bases[dimension][usize::from(!up)];
        let line = base + own.low[dimension] + own.high[dimension];
        let (at, length) = (self.routes.at(place, dimension), self.routes.lengths[dimension]);
        let channel = if up { at } else { (at + length - 1) % length };
        self.lines.on(line as usize).nth(channel as usize).map_or(0, u32::from)
    }
}

impl<const Q: usize> PairLoad for GridLoad<Q> {
    type Place = Place;
    const NOWHERE: Place = Place::MAX;

    #[inline]
    fn place(&self, node: NodeId) -> Place {
        self.routes.places[node.index()]
    }

    fn add(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (self.routes.spot(self.place(from)), self.place(to));
        for dimension in 0..Q {
            self.lines.add(self.routes.run::<true>(dimension, &from, to));
        }
    }

    fn remove(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (self.routes.spot(self.place(from)), self.place(to));
        for dimension in 0..Q {
            self.lines.remove(self.routes.run::<true>(dimension, &from, to));
        }
    }

    #[inline]
    fn move_rank(&mut self, from: Place, to: Place, partners: &[Place], ends: [bool; 2]) {
        self.slide(from, to, partners, ends);
    }

    #[inline]
    fn end_moves(&mut self) {
        self.end_slide();
    }

    #[inline]
    fn collision_max(&mut self) -> u32 {
        self.lines.most().into()
    }

    fn pressure(&mut self) -> u64 {
        self.lines.pressure()
    }

    fn hottest(&mut self, stream: &mut Stream) -> Option<Pair> {
        let most = self.lines.most();
        let (count, mut lines) = self.lines.hottest();
        let line = lines.nth(stream.index(count))?;
        drop(lines);
        let routes = &self.routes;
        let dimension = (0..Q).rev().find(|&one| routes.bases[one][0] as usize <= line)?;
        let [up, down] = routes.bases[dimension];
        let length = routes.lengths[dimension];
        let goes_up = line < down as usize;
        let mut loads: Vec<_> = self.lines.on(line).take(length as usize).collect();
        if !goes_up {
            // By the nodes that the channels leave.
            loads.rotate_right(1);
        }
        let hot = |&at: &u32| loads[at as usize] == most;
        let count = (0..length).filter(hot).count();
        let at = (0..length).filter(hot).nth(stream.index(count))?;
        let own = line as u32 - if goes_up { up } else { down };
        let (shift, below) = (routes.shifts[dimension], routes.below[dimension]);
        let first = (own & !below) << routes.widths[dimension] | own & below;
        let next = if goes_up { (at + 1) % length } else { (at + length - 1) % length };
        Some((routes.node(first | at << shift), routes.node(first | next << shift)))
    }

    fn restore(&mut self, state: &Self) {
        self.lines.restore(&state.lines);
    }

    fn cross(&self, from: NodeId, to: NodeId, channels: &mut Vec<u32>) {
        let (source, target) = (self.routes.spot(self.place(from)), self.place(to));
        for dimension in 0..Q {
            let Run { line, from, to, around } =
                self.routes.run::<true>(dimension, &source, target);
            let length = self.routes.lengths[dimension];
            // From the lowest channel on, whichever way.
            let (low, high) = match around {
                Around::No => (from.min(to), from.max(to)),
                Around::Up => (from, to + length),
                Around::Down => (to, from + length),
            };
            let along = (low..high).map(|at| at % length);
            channels.extend(along.map(|at| self.lines.number(line, at)));
        }
    }

    fn is_mesh(&self) -> bool {
        self.routes.wraps.iter().all(|wraps| !wraps)
    }
}
