//! Messages on the channels of a grid under dimension-order routing, kept up to date as ranks move.
//!
//! A message goes along x first, then y, and so on; on a torus the shorter way around, both being as long upwards. Loads are
//! 16-bit counts, line after line (24 x 24 x 24 nodes have 82,944 channels: they stay in the cache). Lines that change are
//! noted, and only their largest loads are looked for again when somebody asks for the largest of all.
//!
//! Source: Hori et al. 2016 (static XY routing; message collisions on directed channels).

use std::sync::Arc;

use super::{Pair, PairLoad};
use crate::grid::Grid;
use crate::ids::NodeId;
use crate::rng::Stream;

/// Messages on each channel of a grid with `Q` dimensions.
#[derive(Clone, Debug)]
pub struct GridLoad<const Q: usize> {
    lengths: [u32; Q],
    strides: [u32; Q],
    wraps: [bool; Q],
    places: Arc<[Place<Q>]>,
    /// First line along a dimension, up and down.
    bases: [[u32; 2]; Q],
    /// Channels from one line to the next: the longest line, whole words of [`LANES`].
    pitch: usize,
    /// Line after line along its dimension; some at the end of each are none.
    messages: Vec<u16>,
    /// By line: its largest load, and whether that may have changed.
    line_most: Vec<u16>,
    changed: Vec<bool>,
    /// The lines that may have changed.
    look_at: Vec<u32>,
    /// How many lines have each largest load.
    lines: Vec<u32>,
    most: usize,
    /// By line, once somebody asked for it: its pressure; and of all.
    line_pressure: Vec<u64>,
    pressure: u64,
    /// Messages added since the largest load was looked for.
    added: usize,
}

/// Loads that are compared at a time.
const LANES: usize = 8;

/// Where a node is, as routes need it.
#[derive(Clone, Copy, Debug)]
struct Place<const Q: usize> {
    at: [u16; Q],
    /// Parts of the number of a line along each dimension: from the lower and from the higher coordinates.
    low: [u32; Q],
    high: [u32; Q],
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
        let pitch = lengths.into_iter().max().unwrap_or(0).next_multiple_of(LANES as u32) as usize;
        GridLoad {
            lengths,
            strides: std::array::from_fn(|dimension| grid.stride(dimension)),
            wraps: std::array::from_fn(|dimension| grid.wraps(dimension)),
            places: (0..nodes).map(place).collect(),
            bases,
            pitch,
            messages: vec![0; lines as usize * pitch],
            line_most: vec![0; lines as usize],
            changed: vec![false; lines as usize],
            look_at: Vec::new(),
            lines: vec![lines],
            most: 0,
            line_pressure: Vec::new(),
            pressure: 0,
            added: 0,
        }
    }

    /// Messages on the channel that leaves a node along a dimension.
    #[must_use]
    pub fn on(&self, node: NodeId, dimension: usize, up: bool) -> u32 {
        let place = &self.places[node.index()];
        let line =
            self.bases[dimension][usize::from(!up)] + place.low[dimension] + place.high[dimension];
        let at = usize::from(place.at[dimension]);
        u32::from(self.messages[line as usize * self.pitch + at])
    }

    /// The last dimension along which two nodes are apart.
    #[inline]
    fn last_apart(&self, one: NodeId, other: NodeId) -> usize {
        let (one, other) = (&self.places[one.index()].at, &self.places[other.index()].at);
        (0..Q).rev().find(|&dimension| one[dimension] != other[dimension]).unwrap_or(0)
    }

    /// The first dimension along which two nodes are apart.
    #[inline]
    fn first_apart(&self, one: NodeId, other: NodeId) -> usize {
        let (one, other) = (&self.places[one.index()].at, &self.places[other.index()].at);
        (0..Q).find(|&dimension| one[dimension] != other[dimension]).unwrap_or(Q)
    }

    /// The channels of a message along one dimension.
    #[inline(always)]
    fn run(&self, dimension: usize, from: NodeId, to: NodeId) -> Run {
        let (source, target) = (&self.places[from.index()], &self.places[to.index()]);
        let (at, end) = (u32::from(source.at[dimension]), u32::from(target.at[dimension]));
        if at == end {
            return Run { line: u32::MAX, at: 0, end: 0 };
        }
        // Lower dimensions are behind it, higher ones ahead.
        let line = target.low[dimension] + source.high[dimension];
        let length = self.lengths[dimension];
        let [up, down] = self.bases[dimension].map(|base| base + line);
        if self.wraps[dimension] {
            // Positions beyond the end are those around it.
            let steps = if end > at { end - at } else { end + length - at };
            return match 2 * steps <= length {
                true => Run { line: up, at, end: at + steps },
                false => Run { line: down, at: end + 1, end: end + 1 + length - steps },
            };
        }
        match at < end {
            true => Run { line: up, at, end },
            false => Run { line: down, at: end + 1, end: at + 1 },
        }
    }

    /// The first dimension along which a reroute may change anything, and the one behind the last.
    #[inline]
    fn changed(&self, old: Pair, new: Pair) -> (usize, usize) {
        // A line along a dimension has the higher coordinates of the sender and the lower ones of the receiver.
        let beyond = if old.1 == new.1 { self.last_apart(old.0, new.0) + 1 } else { Q };
        let from = if old.0 == new.0 { self.first_apart(old.1, new.1) } else { 0 };
        (from, beyond)
    }

    /// What a reroute changes if that is one channel along the dimension in which an end moves: whether it is added. Not on
    /// lines that close around.
    #[inline]
    fn one_step(&self, old: Pair, new: Pair) -> Option<(usize, Run, bool)> {
        let dimension = if old.1 == new.1 {
            self.last_apart(old.0, new.0)
        } else if old.0 == new.0 {
            self.first_apart(old.1, new.1)
        } else {
            return None;
        };
        let (from, beyond) = self.changed(old, new);
        let same = |other| self.run(other, old.0, old.1) == self.run(other, new.0, new.1);
        if self.wraps[dimension] || !(from..beyond).all(|other| other == dimension || same(other)) {
            return None;
        }
        let (old, new) = (self.run(dimension, old.0, old.1), self.run(dimension, new.0, new.1));
        match (old.end - old.at, new.end - new.at) {
            (0, 1) => Some((dimension, new, true)),
            (1, 0) => Some((dimension, old, false)),
            _ => None,
        }
    }

    /// How many of the messages from the first on are each the one before, one node further along a dimension; and whether
    /// that is upwards.
    #[inline]
    fn translates(&self, dimension: usize, messages: &[(Pair, Pair)]) -> (usize, bool) {
        let first = ids(messages[0]);
        let step = ids(messages[1])[0].wrapping_sub(first[0]);
        let up = step == self.strides[dimension];
        if !up && step != self.strides[dimension].wrapping_neg() {
            return (1, up);
        }
        let mut wanted = first;
        let next = |message: &&(Pair, Pair)| {
            wanted = wanted.map(|id| id.wrapping_add(step));
            ids(**message) == wanted
        };
        let more = messages[1..].iter().take_while(next).count();
        // Beyond the end of a line, ids go on along the next one.
        let inside = first.iter().zip(ids(messages[more])).all(|(&first, last)| {
            let at = |id: u32| usize::from(self.places[id as usize].at[dimension]);
            at(first).abs_diff(at(last)) == more
        });
        (if inside { 1 + more } else { 1 }, up)
    }

    /// Brings a message from one run along a dimension to another.
    #[inline]
    fn reroute_along(&mut self, dimension: usize, old: Run, new: Run) {
        if old.line == new.line && old.at < new.end && new.at < old.end {
            // What both have stays as it is.
            let line = old.line;
            if old.at != new.at {
                self.change::<false>(dimension, Run { line, at: old.at, end: new.at });
                self.change::<true>(dimension, Run { line, at: new.at, end: old.at });
            }
            if old.end != new.end {
                self.change::<false>(dimension, Run { line, at: new.end, end: old.end });
                self.change::<true>(dimension, Run { line, at: old.end, end: new.end });
            }
        } else {
            self.change::<false>(dimension, old);
            self.change::<true>(dimension, new);
        }
    }

    /// Adds one to the channels of a run, or takes one off.
    #[inline]
    fn change<const ADD: bool>(&mut self, dimension: usize, run: Run) {
        if run.at >= run.end {
            return;
        }
        let line = run.line as usize;
        let changed = std::mem::replace(&mut self.changed[line], true);
        if !changed {
            self.look_at.push(run.line);
        }
        let start = line * self.pitch;
        let all = &mut self.messages[start..start + self.pitch];
        let change = |messages: &mut u16| {
            *messages = if ADD { messages.wrapping_add(1) } else { messages.wrapping_sub(1) };
        };
        if run.end - run.at == 1 {
            let at = if run.at < self.lengths[dimension] {
                run.at
            } else {
                run.at - self.lengths[dimension]
            };
            return change(&mut all[at as usize]);
        }
        if !self.wraps[dimension] {
            return all[run.at as usize..run.end as usize].iter_mut().for_each(change);
        }
        let length = self.lengths[dimension];
        let (at, end) = match run.at < length {
            true => (run.at, run.end),
            false => (run.at - length, run.end - length),
        };
        all[at as usize..end.min(length) as usize].iter_mut().for_each(change);
        all[..end.saturating_sub(length) as usize].iter_mut().for_each(change);
    }

    /// Notes that a message is added: counts wrap around, so the largest must be known before one can have.
    #[inline]
    fn adds_one(&mut self) {
        self.added += 1;
        if self.most + self.added > usize::from(u16::MAX) {
            self.look();
            assert!(self.most < usize::from(u16::MAX), "more than 65,535 messages on a channel");
            self.added = 1;
        }
    }

    /// Finds the largest load of lines that may have changed, and of all.
    fn look(&mut self) {
        for line in self.look_at.drain(..) {
            let line = line as usize;
            self.changed[line] = false;
            let mut most = [0u16; LANES];
            for some in
                self.messages[line * self.pitch..(line + 1) * self.pitch].chunks_exact(LANES)
            {
                (0..LANES).for_each(|lane| most[lane] = most[lane].max(some[lane]));
            }
            let most = most.into_iter().max().unwrap_or(0);
            if let Some(own) = self.line_pressure.get_mut(line) {
                let messages = &self.messages[line * self.pitch..(line + 1) * self.pitch];
                let now = messages.iter().map(|&messages| super::weight(messages.into())).sum();
                self.pressure = self.pressure - std::mem::replace(own, now) + now;
            }
            let before = std::mem::replace(&mut self.line_most[line], most);
            if before != most {
                self.lines[usize::from(before)] -= 1;
                if self.lines.len() <= usize::from(most) {
                    self.lines.resize(usize::from(most) + 1, 0);
                }
                self.lines[usize::from(most)] += 1;
                self.most = self.most.max(usize::from(most));
            }
        }
        while self.lines[self.most] == 0 {
            self.most -= 1;
        }
        self.added = 0;
    }
}

/// The nodes of an old and a new message.
#[inline]
fn ids((old, new): (Pair, Pair)) -> [u32; 4] {
    [old.0.0, old.1.0, new.0.0, new.1.0]
}

/// Whether the second of some messages is the first, each end as far away.
#[inline]
fn are_translates(messages: &[(Pair, Pair)]) -> bool {
    let [first, second, ..] = messages else { return false };
    let (first, second) = (ids(*first), ids(*second));
    let step = second[0].wrapping_sub(first[0]);
    (1..4).all(|end| second[end].wrapping_sub(first[end]) == step)
}

impl<const Q: usize> PairLoad for GridLoad<Q> {
    fn add(&mut self, from: NodeId, to: NodeId) {
        self.adds_one();
        (0..Q).for_each(|dimension| self.change::<true>(dimension, self.run(dimension, from, to)));
    }

    fn remove(&mut self, from: NodeId, to: NodeId) {
        (0..Q).for_each(|dimension| self.change::<false>(dimension, self.run(dimension, from, to)));
    }

    #[inline]
    fn reroute(&mut self, old: Pair, new: Pair) {
        self.adds_one();
        let (from, beyond) = self.changed(old, new);
        for dimension in from..beyond {
            let (old, new) = (self.run(dimension, old.0, old.1), self.run(dimension, new.0, new.1));
            if old != new {
                self.reroute_along(dimension, old, new);
            }
        }
    }

    fn reroute_all(&mut self, messages: &[(Pair, Pair)]) {
        let mut rest = messages;
        while let Some(&(old, new)) = rest.first() {
            let step = if are_translates(rest) { self.one_step(old, new) } else { None };
            let alike = step.map(|(dimension, run, adds)| {
                (run, adds, self.translates(dimension, rest), dimension)
            });
            let Some((run, adds, (count, up), dimension)) = alike.filter(|alike| alike.2.0 > 1)
            else {
                self.reroute(old, new);
                rest = &rest[1..];
                continue;
            };
            // Each changes the channel next to that of the one before.
            let more = count as u32 - 1;
            let (at, end) = if up { (run.at, run.end + more) } else { (run.at - more, run.end) };
            let run = Run { line: run.line, at, end };
            if adds {
                self.adds_one();
                self.change::<true>(dimension, run);
            } else {
                self.change::<false>(dimension, run);
            }
            rest = &rest[count..];
        }
    }

    fn moves_cheaply(&self, from: NodeId, to: NodeId, other: NodeId, receives: bool) -> bool {
        // The runs behind, seen from the end that moves, keep their lines.
        match receives {
            true => self.first_apart(from, other) >= self.last_apart(from, to),
            false => self.last_apart(from, other) <= self.first_apart(from, to),
        }
    }

    #[inline]
    fn collision_max(&mut self) -> u32 {
        self.look();
        self.most as u32
    }

    fn pressure(&mut self) -> u64 {
        if self.line_pressure.is_empty() {
            self.line_pressure = vec![0; self.line_most.len()];
            for (line, own) in self.line_pressure.iter_mut().enumerate() {
                let messages = &self.messages[line * self.pitch..(line + 1) * self.pitch];
                *own = messages.iter().map(|&messages| super::weight(messages.into())).sum();
            }
            self.pressure = self.line_pressure.iter().sum();
        }
        self.look();
        self.pressure
    }

    fn hottest(&mut self, stream: &mut Stream) -> Option<Pair> {
        self.look();
        let most = self.most as u16;
        let skip = stream.index(self.lines[self.most] as usize);
        let line = self.line_most.iter().enumerate().filter(|(_, one)| **one == most).nth(skip)?.0;
        let messages = &self.messages[line * self.pitch..(line + 1) * self.pitch];
        let hot = |&at: &usize| messages[at] == most;
        let count = (0..self.pitch).filter(hot).count();
        let at = (0..self.pitch).filter(hot).nth(stream.index(count))? as u32;
        let dimension = (0..Q).rev().find(|&one| self.bases[one][0] as usize <= line)?;
        let [up, down] = self.bases[dimension];
        let goes_up = line < down as usize;
        let own = line as u32 - if goes_up { up } else { down };
        let (stride, length) = (self.strides[dimension], self.lengths[dimension]);
        let first = own % stride + own / stride * stride * length;
        let next = if goes_up { (at + 1) % length } else { (at + length - 1) % length };
        Some((NodeId(first + at * stride), NodeId(first + next * stride)))
    }

    fn restore(&mut self, state: &Self) {
        self.look();
        self.line_pressure.clone_from(&state.line_pressure);
        self.pressure = state.pressure;
        self.messages.copy_from_slice(&state.messages);
        self.line_most.copy_from_slice(&state.line_most);
        self.lines.clone_from(&state.lines);
        self.most = state.most;
        state.look_at.iter().for_each(|&line| self.changed[line as usize] = true);
        self.look_at.extend_from_slice(&state.look_at);
    }

    fn cross(&self, from: NodeId, to: NodeId, channels: &mut Vec<u32>) {
        for dimension in 0..Q {
            let Run { line, at, end } = self.run(dimension, from, to);
            let first = u64::from(line) * self.pitch as u64;
            let along = (at..end).map(|at| u64::from(at % self.lengths[dimension]));
            channels.extend(along.map(|at| (first + at) as u32));
        }
    }

    fn is_mesh(&self) -> bool {
        self.wraps.iter().all(|wraps| !wraps)
    }
}

/// Channels one behind the other, on a line of them along one dimension in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    line: u32,
    /// The first one of the run, and the one behind its last, along the line.
    at: u32,
    end: u32,
}
