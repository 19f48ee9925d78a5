//! Messages of ranks that slide along a line of a grid, to and from partners that stay.
//!
//! When a rank moves from node to node along dimension `d`, the channels of a message that it sends change in `d`, where its way
//! begins earlier or later, and in the dimensions before `d`, where it goes on parallel lines; of one that it receives, in `d`
//! and the dimensions behind. Along `d`, ranks that move on one behind the other change channels one behind the other,
//! so as long as their partners are on the same side and their messages on the same line, that is one run. In the
//! other dimensions, whoever comes to a node takes the channels of who was there, if their partners have the same coordinates.
//! So of a slide the irregular places cost time, not all the messages.

use super::NOWHERE;
use super::channel_lines::{ChannelLines, Run};
use super::dimension_order::{GridLoad, Place, Routes};
use crate::ids::NodeId;

/// Messages of ranks one behind the other with partners of one kind, all on the same line and with partners on the same side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// What partners have in common: four times the part of the line's number that they make up, and their side.
    key: u32,
    /// Where the first rank comes from or goes to, whatever is further ahead along the line.
    ahead: u32,
}

/// Sides on which a partner is, as seen from a rank before and after it moves: at higher coordinates, or to be reached around the
/// end that way; at lower ones; or one after the other.
const ABOVE: u32 = 1;
const BELOW: u32 = 2;
const EITHER: u32 = 0;
const SIDES: u32 = 3;

/// No partner: its side is none of these.
const NOBODY: u32 = u32::MAX;

/// Ranks that move along one line in one direction.
struct Slide<'l, const Q: usize> {
    routes: &'l Routes<Q>,
    lines: &'l mut ChannelLines,
    dimension: usize,
    /// Whether they move to higher coordinates, or around the end.
    up: bool,
    /// Their coordinates' parts of the numbers of lines along the dimension, for messages sent and received.
    own: [u32; 2],
}

impl<const Q: usize> GridLoad<Q> {
    /// See [`PairLoad::move_along`](super::PairLoad::move_along).
    pub(super) fn slide(&mut self, path: &[NodeId], others: &[NodeId], ends: [bool; 2]) {
        let kinds = others.len() / (path.len() - 1);
        let mut first = 0;
        while kinds > 0 && first + 1 < path.len() {
            let (straight, last) = self.routes.section(path, first);
            let (path, others) = (&path[first..=last], &others[first * kinds..last * kinds]);
            match straight {
                Some((dimension, up)) => {
                    let place = self.routes.place(path[0]);
                    let own = [place.high[dimension], place.low[dimension]];
                    let GridLoad { routes, lines, stretches } = self;
                    stretches.clear();
                    stretches.resize(kinds, [Stretch { key: NOBODY, ahead: 0 }; 2]);
                    let slide = Slide { routes, lines, dimension, up, own };
                    if routes.wraps[dimension] {
                        slide.walk::<true>(path, others, ends, stretches);
                    } else {
                        slide.walk::<false>(path, others, ends, stretches);
                    }
                }
                None => super::move_one_by_one(self, path, others, ends),
            }
            first = last;
        }
    }
}

impl<const Q: usize> Routes<Q> {
    /// The dimension and the direction of a path from `first` on, if it begins straight, and where they change.
    fn section(&self, path: &[NodeId], first: usize) -> (Option<(usize, bool)>, usize) {
        let (to, from) = (self.place(path[first]), self.place(path[first + 1]));
        let mut apart = (0..Q).filter(|&dimension| to.at[dimension] != from.at[dimension]);
        let (Some(dimension), None) = (apart.next(), apart.next()) else {
            return (None, first + 1);
        };
        let (up, mut far) = self.shorter_way(dimension, from, to);
        let goes_on = |nodes: &&[NodeId]| {
            let (to, from) = (self.place(nodes[0]), self.place(nodes[1]));
            let (goes_up, steps) = self.shorter_way(dimension, from, to);
            far += steps;
            to.low[dimension] == from.low[dimension]
                && to.high[dimension] == from.high[dimension]
                && goes_up == up
                // Not all around, which the other way can be where nodes are passed over.
                && far < self.lengths[dimension]
        };
        let more = path[first + 1..].windows(2).take_while(goes_on).count();
        (Some((dimension, up)), first + 1 + more)
    }

    /// Whether it is upwards, and how many steps.
    #[inline]
    fn shorter_way(&self, dimension: usize, from: &Place<Q>, to: &Place<Q>) -> (bool, u32) {
        let (from, to) = (u32::from(from.at[dimension]), u32::from(to.at[dimension]));
        let (length, apart) = (self.lengths[dimension], from.abs_diff(to));
        let around = self.wraps[dimension] && 2 * apart > length;
        ((to > from) != around, if around { length - apart } else { apart })
    }

    /// The channels of a message that a node sends to another, or receives from it.
    #[inline(always)]
    fn message<const SENT: bool>(&self, dimension: usize, own: NodeId, other: NodeId) -> Run {
        let (own, other) = (self.place(own), self.place(other));
        if SENT { self.run(dimension, own, other) } else { self.run(dimension, other, own) }
    }
}

/// On which side a partner is of all channels between two coordinates; on a line of some length that closes around, `turn` steps
/// up from a channel's lower end messages go down.
#[inline]
fn side<const WRAPS: bool>(partner: u32, [low, high]: [u32; 2], length: u32, turn: u32) -> u32 {
    if !WRAPS {
        return u32::from(partner >= high) * ABOVE + u32::from(partner <= low) * BELOW;
    }
    // Steps up from the lowest of the lower ends of channels to the partner: a whole turn if it is there.
    let channels = if high > low { high - low } else { high + length - low };
    let steps = if partner > low { partner - low } else { partner + length - low };
    // If a message goes the other way after the move, both ways differ all along.
    if steps < turn && steps >= channels {
        ABOVE
    } else if steps >= turn + channels {
        BELOW
    } else {
        EITHER
    }
}

impl<const Q: usize> Slide<'_, Q> {
    /// Moves the messages to where they are. `others` has the partners of each rank in turn, the first being the one that comes to
    /// the first node of the path.
    fn walk<const WRAPS: bool>(
        mut self,
        path: &[NodeId],
        others: &[NodeId],
        ends: [bool; 2],
        stretches: &mut [[Stretch; 2]],
    ) {
        let (routes, dimension, kinds) = (self.routes, self.dimension, stretches.len());
        if dimension >= Q {
            return;
        }
        let length = routes.lengths[dimension];
        let turns = [length / 2 + 1, length - length / 2];
        let mut to = u32::from(routes.place(path[0]).at[dimension]);
        let (mut before, mut nobody): (&[NodeId], bool) = (&[], true);
        for (nodes, others) in path.windows(2).zip(others.chunks_exact(kinds)) {
            let from = u32::from(routes.place(nodes[1]).at[dimension]);
            let between = if self.up { [from, to] } else { [to, from] };
            let nobody_before =
                std::mem::replace(&mut nobody, others.iter().all(|&other| other == NOWHERE));
            if nobody && nobody_before {
                to = from;
                continue;
            }
            for (kind, (&other, [sent, received])) in others.iter().zip(&mut *stretches).enumerate()
            {
                let mut keys = [NOBODY; 2];
                if let Some(place) = routes.places.get(other.index()) {
                    let at = u32::from(place.at[dimension]);
                    let sides = turns.map(|turn| side::<WRAPS>(at, between, length, turn));
                    keys[0] = place.low[dimension] << 2 | sides[0];
                    keys[1] = place.high[dimension] << 2 | sides[1];
                }
                // Where ways turn around there is no stretch.
                let ends_now = |stretch: &Stretch, key| key != stretch.key || key & SIDES == EITHER;
                if ends[0] && ends_now(sent, keys[0]) {
                    let last = before.get(kind).copied().unwrap_or(NOWHERE);
                    let next = Stretch { key: keys[0], ahead: to };
                    self.end::<true>(sent, next, nodes, [last, other]);
                }
                if ends[1] && ends_now(received, keys[1]) {
                    let last = before.get(kind).copied().unwrap_or(NOWHERE);
                    let next = Stretch { key: keys[1], ahead: to };
                    self.end::<false>(received, next, nodes, [last, other]);
                }
            }
            (to, before) = (from, others);
        }
        if nobody {
            return;
        }
        let last = &path[path.len() - 1..];
        let nothing = Stretch { key: NOBODY, ahead: to };
        for ([sent, received], &other) in stretches.iter_mut().zip(before) {
            if ends[0] && sent.key != NOBODY {
                self.end::<true>(sent, nothing, last, [other, NOWHERE]);
            }
            if ends[1] && received.key != NOBODY {
                self.end::<false>(received, nothing, last, [other, NOWHERE]);
            }
        }
    }

    /// Ends a stretch and begins the next, at the first of some nodes, where the message of who was there, with the first partner,
    /// gives way to that of who comes from the second node, with the second partner.
    fn end<const SENT: bool>(
        &mut self,
        stretch: &mut Stretch,
        next: Stretch,
        nodes: &[NodeId],
        partners: [NodeId; 2],
    ) {
        let ended = std::mem::replace(stretch, next);
        if matches!(ended.key & SIDES, ABOVE | BELOW) {
            let [low, high] =
                if self.up { [next.ahead, ended.ahead] } else { [ended.ahead, next.ahead] };
            self.change::<SENT>(ended.key, low, high);
        }
        if ended.key | SIDES != next.key | SIDES {
            self.bend::<SENT>(nodes[0], partners);
        }
        if next.key & SIDES == EITHER {
            self.turn_around::<SENT>(nodes, partners[1]);
        }
    }

    /// Changes the channels of a stretch along the line.
    #[inline]
    fn change<const SENT: bool>(&mut self, key: u32, low: u32, high: u32) {
        let above = key & SIDES == ABOVE;
        let length = self.routes.lengths[self.dimension];
        let base = self.routes.bases[self.dimension][usize::from(above != SENT)];
        let line = base + self.own[usize::from(!SENT)] + (key >> 2);
        let run = Run { line, at: low, end: if high < low { high + length } else { high } };
        // A rank that goes away from its partner has a longer way.
        if above == self.up {
            self.lines.change::<false>(run, length);
        } else {
            self.lines.change::<true>(run, length);
        }
    }

    /// Moves a message along the line whose way turns around.
    #[inline(never)]
    fn turn_around<const SENT: bool>(&mut self, nodes: &[NodeId], other: NodeId) {
        let run = |own| self.routes.message::<SENT>(self.dimension, own, other);
        let (old, new) = (run(nodes[1]), run(nodes[0]));
        self.lines.reroute(old, new, self.routes.lengths[self.dimension]);
    }

    /// The messages of a node with one partner give way to those with another, in the dimensions off the line.
    #[inline]
    fn bend<const SENT: bool>(&mut self, node: NodeId, [old, new]: [NodeId; 2]) {
        let routes = self.routes;
        let dimensions = if SENT { 0..self.dimension } else { self.dimension + 1..Q };
        for dimension in dimensions {
            let length = routes.lengths[dimension];
            let run = |other| routes.message::<SENT>(dimension, node, other);
            if old == NOWHERE {
                self.lines.change::<true>(run(new), length);
            } else if new == NOWHERE {
                self.lines.change::<false>(run(old), length);
            } else {
                let (old, new) = (run(old), run(new));
                if old != new {
                    self.lines.reroute(old, new, length);
                }
            }
        }
    }
}
