//! Messages on the channels of a grid under dimension-order routing, kept up to date as ranks move.
//!
//! A message goes along x first, then y, and so on; on a torus the shorter way around, both being as long upwards. So it
//! has a run of channels along each dimension, on a line that the lower coordinates of its target and the higher ones of its source
//! name.
//!
//! Source: Hori et al. 2016 (static XY routing; message collisions on directed channels).

use std::sync::Arc;

use super::channel_lines::{ChannelLines, Run};
use super::sliding::Stretch;
use super::{Pair, PairLoad};
use crate::grid::Grid;
use crate::ids::NodeId;
use crate::rng::Stream;

/// Messages on each channel of a grid with `Q` dimensions.
#[derive(Clone, Debug)]
pub struct GridLoad<const Q: usize> {
    pub(super) routes: Routes<Q>,
    pub(super) lines: ChannelLines,
    /// By kind of partner, while ranks slide.
    pub(super) stretches: Vec<[Stretch; 2]>,
}

/// Which channels messages take.
#[derive(Clone, Debug)]
pub(super) struct Routes<const Q: usize> {
    pub lengths: [u32; Q],
    strides: [u32; Q],
    pub wraps: [bool; Q],
    pub places: Arc<[Place<Q>]>,
    /// First line along a dimension, up and down. The channel of a line between two neighbours has the number of the lower, or of
    /// the last one if it goes around the end.
    pub bases: [[u32; 2]; Q],
}

/// Where a node is, as routes need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<const Q: usize> {
    pub at: [u16; Q],
    /// Parts of the number of a line along each dimension: from the lower and from the higher coordinates.
    pub low: [u32; Q],
    pub high: [u32; Q],
}

impl<const Q: usize> Routes<Q> {
    #[inline]
    pub fn place(&self, node: NodeId) -> &Place<Q> {
        &self.places[node.index()]
    }

    /// The channels of a message along one dimension.
    #[inline(always)]
    pub fn run(&self, dimension: usize, source: &Place<Q>, target: &Place<Q>) -> Run {
        let (from, to) = (u32::from(source.at[dimension]), u32::from(target.at[dimension]));
        // Lower dimensions are behind it, higher ones ahead.
        let line = target.low[dimension] + source.high[dimension];
        let [up, down] = self.bases[dimension].map(|base| base + line);
        if self.wraps[dimension] {
            let length = self.lengths[dimension];
            let steps = if to >= from { to - from } else { to + length - from };
            return match 2 * steps <= length {
                true => Run { line: up, at: from, end: from + steps },
                false => Run { line: down, at: to, end: to + length - steps },
            };
        }
        match from < to {
            true => Run { line: up, at: from, end: to },
            false => Run { line: down, at: to, end: from },
        }
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
        let place = |node: usize| {
            let node = NodeId::from_index(node);
            let mut place = Place { at: [0; Q], low: [0; Q], high: [0; Q] };
            for (dimension, &length) in lengths.iter().enumerate() {
                let stride = grid.stride(dimension);
                place.at[dimension] = grid.coordinate(node, dimension) as u16;
                place.low[dimension] = node.0 % stride;
                place.high[dimension] = node.0 / (stride * length) * stride;
            }
            place
        };
        let nodes = grid.node_count();
        let mut lines = 0;
        let bases = lengths.map(|length| {
            let count = nodes as u32 / length;
            lines += 2 * count;
            [lines - 2 * count, lines - count]
        });
        let routes = Routes {
            lengths,
            strides: std::array::from_fn(|dimension| grid.stride(dimension)),
            wraps: std::array::from_fn(|dimension| grid.wraps(dimension)),
            places: (0..nodes).map(place).collect(),
            bases,
        };
        let length_max = lengths.into_iter().max().unwrap_or(0);
        GridLoad {
            routes,
            lines: ChannelLines::new(lines as usize, length_max),
            stretches: Vec::new(),
        }
    }

    /// Messages on the channel that leaves a node along a dimension.
    #[must_use]
    pub fn on(&self, node: NodeId, dimension: usize, up: bool) -> u32 {
        let place = self.routes.place(node);
        let base = self.routes.bases[dimension][usize::from(!up)];
        let line = base + place.low[dimension] + place.high[dimension];
        let (at, length) = (u32::from(place.at[dimension]), self.routes.lengths[dimension]);
        let channel = if up { at } else { (at + length - 1) % length };
        self.lines.on(line as usize).nth(channel as usize).map_or(0, u32::from)
    }
}

impl<const Q: usize> PairLoad for GridLoad<Q> {
    fn add(&mut self, from: NodeId, to: NodeId) {
        let GridLoad { routes, lines, .. } = self;
        let (from, to) = (routes.place(from), routes.place(to));
        for dimension in 0..Q {
            lines.change::<true>(routes.run(dimension, from, to), routes.lengths[dimension]);
        }
    }

    fn remove(&mut self, from: NodeId, to: NodeId) {
        let GridLoad { routes, lines, .. } = self;
        let (from, to) = (routes.place(from), routes.place(to));
        for dimension in 0..Q {
            lines.change::<false>(routes.run(dimension, from, to), routes.lengths[dimension]);
        }
    }

    #[inline]
    fn reroute(&mut self, old: Pair, new: Pair) {
        let GridLoad { routes, lines, .. } = self;
        let [(from, to), (new_from, new_to)] =
            [old, new].map(|pair| (routes.place(pair.0), routes.place(pair.1)));
        for dimension in 0..Q {
            let old = routes.run(dimension, from, to);
            let new = routes.run(dimension, new_from, new_to);
            if old != new {
                lines.reroute(old, new, routes.lengths[dimension]);
            }
        }
    }

    fn move_along(&mut self, path: &[NodeId], others: &[NodeId], ends: [bool; 2]) {
        self.slide(path, others, ends);
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
        let (stride, length) = (routes.strides[dimension], routes.lengths[dimension]);
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
        let first = own % stride + own / stride * stride * length;
        let next = if goes_up { (at + 1) % length } else { (at + length - 1) % length };
        Some((NodeId(first + at * stride), NodeId(first + next * stride)))
    }

    fn restore(&mut self, state: &Self) {
        self.lines.restore(&state.lines);
    }

    fn cross(&self, from: NodeId, to: NodeId, channels: &mut Vec<u32>) {
        let GridLoad { routes, lines, .. } = self;
        let (from, to) = (routes.place(from), routes.place(to));
        for dimension in 0..Q {
            let Run { line, at, end } = routes.run(dimension, from, to);
            let along = (at..end).map(|at| at % routes.lengths[dimension]);
            channels.extend(along.map(|at| lines.number(line, at)));
        }
    }

    fn is_mesh(&self) -> bool {
        self.routes.wraps.iter().all(|wraps| !wraps)
    }
}
