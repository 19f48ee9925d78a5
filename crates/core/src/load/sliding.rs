//! Messages of ranks that move along a line of a grid, one behind the other.
//!
//! When a rank moves from node to node along dimension `d`, the channels of a message that it sends change in `d`, where its way
//! begins earlier or later, and in the dimensions before `d`, where it goes on parallel lines; of one that it receives, in `d`
//! and the dimensions behind. Along `d`, ranks that move on one behind the other change channels one behind the other,
//! so as long as their partners are on the same side and their messages on the same line, that is one run. In the
//! other dimensions, whoever comes to a node takes the channels of who was there, if their partners have the same coordinates.
//! So of a slide the irregular places cost time, not all the messages.

use super::PairLoad;
use super::channel_lines::{Around, ChannelLines};
use super::dimension_order::{GridLoad, Place, Routes, Spot};

/// Ranks that move along a line in one direction, each to where the one before comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    course: Course,
    /// Nodes passed so far.
    steps: u32,
    /// Where the last of them comes from.
    last: Place,
    /// What its place was less than the one before it, where they are neighbours on a line without an end; or 0.
    pace: Place,
    /// By kind of partner; none if no rank is moving.
    stretches: Vec<Stretch>,
}

/// How ranks move.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    dimension: usize,
    /// Whether to higher coordinates, or around the end.
    up: bool,
    /// Whether messages that they send, and that they receive, move with them.
    ends: [bool; 2],
}

/// Messages of ranks one behind the other with partners of one kind, all on the same line and with partners on the same side.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    partners: Seen,
    /// For messages sent and received, where the first rank goes to, whatever is further ahead along the line.
    ahead: [u32; 2],
}

/// Partners as seen from a rank before and after it moves along a line: their place, but for the coordinate along the line, and above
/// that the sides on which they are, for messages sent and for those received. All bits of the place of nobody are ones.
type Seen = u64;

/// At higher coordinates along the line, or to be reached around the end that way.
const ABOVE: u64 = 1;
/// At lower coordinates.
const BELOW: u64 = 2;
/// First on one side, then on the other.
const EITHER: u64 = 0;

/// The same side for messages sent and for those received.
const BOTH: u64 = 5;

#[inline(always)]
fn seen(off_line: Place, sides: u64) -> Seen {
    sides << Place::BITS | Seen::from(off_line)
}

#[inline(always)]
fn side<const SENT: bool>(seen: Seen) -> u64 {
    seen >> (Place::BITS + if SENT { 0 } else { 2 }) & 3
}

#[inline(always)]
fn turns(seen: Seen) -> bool {
    side::<true>(seen) == EITHER || side::<false>(seen) == EITHER
}

#[inline(always)]
fn is_nobody(seen: Seen) -> bool {
    seen >> (Place::BITS - 1) & 1 == 1
}

/// Both sides of a partner, as seen from the channel between a coordinate of a line without an end and the next.
#[inline(always)]
fn beside(partner: u32, low: u32) -> u64 {
    (1 + u64::from(partner <= low)) * ABOVE * BOTH
}

/// Both sides of a partner, as seen from all channels between two coordinates of a line of some length that closes around.
fn sides_on_ring(partner: u32, [low, high]: [u32; 2], length: u32) -> u64 {
    // Steps up from the lowest of the lower ends of channels to the partner: a whole turn if it is there.
    let channels = if high > low { high - low } else { high + length - low };
    let steps = if partner > low { partner - low } else { partner + length - low };
    // `turn` steps up from a channel's lower end messages go down. If one goes the other way after the move, both ways differ all
    // along.
    let side = |turn| {
        u64::from(steps < turn && steps >= channels) * ABOVE
            + u64::from(steps >= turn + channels) * BELOW
    };
    side(length / 2 + 1) | side(length - length / 2) << 2
}

impl<const Q: usize> GridLoad<Q> {
    /// See [`PairLoad::move_rank`](super::PairLoad::move_rank).
    #[inline]
    pub(super) fn slide(&mut self, from: Place, to: Place, partners: &[Place], ends: [bool; 2]) {
        let chain = &self.chain;
        let off_line = !self.routes.lanes[chain.course.dimension];
        // Most ranks move on by one, as the one before. From the end of one line to the begin of another can be the same pace.
        if to == chain.last
            && to.wrapping_sub(from) == chain.pace
            && from != to
            && (from ^ to) & off_line == 0
            && (partners.len(), ends) == (chain.stretches.len(), chain.course.ends)
        {
            self.go_on(from, to, partners);
        } else {
            self.slide_anyhow(from, to, partners, ends);
        }
    }

    /// Moves a rank on to the next node of a line without an end.
    #[inline(always)]
    fn go_on(&mut self, from: Place, to: Place, partners: &[Place]) {
        self.chain.last = from;
        let lane = self.routes.lanes[self.chain.course.dimension];
        let low = from.min(to) & lane;
        self.follow::<false>(from, to, partners, move |partner| beside(partner & lane, low));
    }

    #[inline(never)]
    fn slide_anyhow(&mut self, from: Place, to: Place, partners: &[Place], ends: [bool; 2]) {
        let Some((dimension, up, steps)) = self.routes.straight(from, to) else {
            self.end_slide();
            self.move_anywhere(from, to, partners, ends);
            return;
        };
        let (length, wraps) = (self.routes.lengths[dimension], self.routes.wraps[dimension]);
        let chain = &self.chain;
        let goes_on = to == chain.last
            && (dimension, up) == (chain.course.dimension, chain.course.up)
            && (partners.len(), ends) == (chain.stretches.len(), chain.course.ends)
            // Not all around, which the other way can be where nodes are passed over.
            && (!wraps || chain.steps + steps < length);
        if !goes_on {
            self.end_slide();
            let chain = &mut self.chain;
            chain.course = Course { dimension, up, ends };
            (chain.steps, chain.pace) = (0, 0);
        }
        let chain = &mut self.chain;
        chain.steps += steps;
        chain.last = from;
        let (lane, shift) = (self.routes.lanes[dimension], self.routes.shifts[dimension]);
        if wraps {
            let at = |place| (place & lane) >> shift;
            let between = if up { [at(from), at(to)] } else { [at(to), at(from)] };
            self.follow::<true>(from, to, partners, move |partner| match partner {
                Self::NOWHERE => ABOVE * BOTH,
                partner => sides_on_ring(at(partner), between, length),
            });
            return;
        }
        if steps == 1 {
            chain.pace = to.wrapping_sub(from);
        }
        // Without an end, coordinates compare as they stand.
        let (low, high) = (from.min(to) & lane, from.max(to) & lane);
        self.follow::<true>(from, to, partners, move |partner| match partner & lane {
            at if at >= high => ABOVE * BOTH,
            at if at <= low => BELOW * BOTH,
            _ => EITHER * BOTH,
        });
    }

    /// Moves a rank to some other line.
    #[inline(never)]
    fn move_anywhere(
        &mut self,
        from: Place,
        to: Place,
        partners: &[Place],
        [sent, received]: [bool; 2],
    ) {
        let GridLoad { routes, lines, .. } = self;
        let differ = |dimension: &usize| (from ^ to) & routes.lanes[*dimension] != 0;
        let first = (0..Q).find(differ).unwrap_or(Q);
        let end = (0..Q).rev().find(differ).map_or(0, |last| last + 1);
        let (from, to) = (routes.spot(from), routes.spot(to));
        for &partner in partners.iter().filter(|partner| **partner != Self::NOWHERE) {
            for dimension in 0..Q {
                if sent && dimension < end {
                    let run = |own| routes.run::<true>(dimension, own, partner);
                    lines.replace(run(&from), run(&to));
                }
                if received && dimension >= first {
                    let run = |own| routes.run::<false>(dimension, own, partner);
                    lines.replace(run(&from), run(&to));
                }
            }
        }
    }

    /// Moves a rank on along the line; `sides` tells on which sides partners are, which may be first one and then the other if `TURNS`.
    #[inline(always)]
    fn follow<const TURNS: bool>(
        &mut self,
        from: Place,
        to: Place,
        partners: &[Place],
        sides: impl Fn(Place) -> u64,
    ) {
        let GridLoad { routes, lines, chain: Chain { course, stretches, .. } } = self;
        let lane = routes.lanes[course.dimension];
        let off_line = !lane;
        if stretches.is_empty() {
            let own = routes.spot(to);
            let mut turn = Turn { routes, lines, course: *course };
            stretches.extend(partners.iter().map(|&partner| {
                let now = seen(partner & off_line, sides(partner));
                turn.begin(&own, from, now, partner)
            }));
            return;
        }
        for (stretch, &partner) in stretches.iter_mut().zip(partners) {
            let now = seen(partner & off_line, sides(partner));
            // Where ways turn around there is no stretch.
            if now != stretch.partners || TURNS && turns(now) {
                Turn { routes, lines, course: *course }.meet(to, from, stretch, now, partner);
            }
        }
    }

    /// No other rank follows.
    #[inline]
    pub(super) fn end_slide(&mut self) {
        let GridLoad { routes, lines, chain: Chain { course, stretches, last, .. } } = self;
        if stretches.is_empty() {
            return;
        }
        let own = routes.spot(*last);
        let mut turn = Turn { routes, lines, course: *course };
        for stretch in stretches.iter().filter(|stretch| !is_nobody(stretch.partners)) {
            turn.end(&own, stretch);
        }
        stretches.clear();
    }
}

/// Where messages of ranks on a line begin and end to change alike.
struct Turn<'l, const Q: usize> {
    routes: &'l Routes<Q>,
    lines: &'l mut ChannelLines,
    course: Course,
}

impl<const Q: usize> Turn<'_, Q> {
    /// The first rank comes to its own place.
    #[inline]
    fn begin(&mut self, own: &Spot<Q>, from: Place, now: Seen, partner: Place) -> Stretch {
        if !is_nobody(now) {
            self.join::<true>(own, now as Place);
            if turns(now) {
                self.turn_around(own, from, now, partner);
            }
        }
        Stretch { partners: now, ahead: [own.at[self.course.dimension]; 2] }
    }

    /// The last rank has left its own place.
    #[inline]
    fn end(&mut self, own: &Spot<Q>, stretch: &Stretch) {
        let [sent, received] = self.course.ends;
        if sent {
            self.change::<true>(own, stretch);
        }
        if received {
            self.change::<false>(own, stretch);
        }
        self.join::<false>(own, stretch.partners as Place);
    }

    /// A rank comes to its own place whose partner is seen otherwise than that of the one before, who has left it.
    #[inline(never)]
    fn meet(mut self, own: Place, from: Place, stretch: &mut Stretch, now: Seen, partner: Place) {
        let own = &self.routes.spot(own);
        let before = stretch.partners;
        if is_nobody(before) {
            *stretch = self.begin(own, from, now, partner);
            return;
        }
        let [sent, received] = self.course.ends;
        if is_nobody(now) {
            self.end(own, stretch);
        } else {
            if sent {
                self.turn_one::<true>(own, stretch, now);
            }
            if received {
                self.turn_one::<false>(own, stretch, now);
            }
            if turns(now) {
                self.turn_around(own, from, now, partner);
            }
        }
        stretch.partners = now;
    }

    /// Messages sent, or those received, with one partner give way to those with another.
    #[inline(always)]
    fn turn_one<const SENT: bool>(&mut self, own: &Spot<Q>, stretch: &mut Stretch, now: Seen) {
        let (dimension, before) = (self.course.dimension, stretch.partners);
        let routes = &self.routes;
        let parts = if SENT { routes.below[dimension] } else { routes.above[dimension] };
        let bends = (before ^ now) as Place & parts != 0;
        if bends || side::<SENT>(before) != side::<SENT>(now) {
            self.change::<SENT>(own, stretch);
            stretch.ahead[usize::from(!SENT)] = own.at[dimension];
        }
        if bends {
            for dimension in off_line::<SENT, Q>(dimension) {
                let routes = &self.routes;
                let lane = routes.lanes[dimension];
                let others = if SENT { routes.below[dimension] } else { routes.above[dimension] };
                if (before ^ now) as Place & (lane | others) != 0 {
                    let run = |seen| routes.run::<SENT>(dimension, own, seen as Place);
                    self.lines.replace(run(before), run(now));
                }
            }
        }
    }

    /// Moves a message along the line whose way turns around.
    #[inline(never)]
    fn turn_around(&mut self, own: &Spot<Q>, from: Place, now: Seen, partner: Place) {
        let Turn { routes, lines, course } = self;
        let (from, dimension) = (&routes.spot(from), course.dimension);
        if course.ends[0] && side::<true>(now) == EITHER {
            let run = |own| routes.run::<true>(dimension, own, partner);
            lines.replace(run(from), run(own));
        }
        if course.ends[1] && side::<false>(now) == EITHER {
            let run = |own| routes.run::<false>(dimension, own, partner);
            lines.replace(run(from), run(own));
        }
    }

    /// Puts the messages of a node with a partner on the channels off the line, or takes them off.
    #[inline(always)]
    fn join<const ADDS: bool>(&mut self, own: &Spot<Q>, partner: Place) {
        let Turn { routes, lines, course } = self;
        let away = |dimension: &usize| (own.place ^ partner) & routes.lanes[*dimension] != 0;
        if course.ends[0] {
            for dimension in off_line::<true, Q>(course.dimension).filter(away) {
                lines.put::<ADDS>(routes.run::<true>(dimension, own, partner));
            }
        }
        if course.ends[1] {
            for dimension in off_line::<false, Q>(course.dimension).filter(away) {
                lines.put::<ADDS>(routes.run::<false>(dimension, own, partner));
            }
        }
    }

    /// Changes the channels of a stretch along the line, up to its own place.
    #[inline(always)]
    fn change<const SENT: bool>(&mut self, own: &Spot<Q>, stretch: &Stretch) {
        let Turn { routes, lines, course } = self;
        let (dimension, up) = (course.dimension, course.up);
        let side = side::<SENT>(stretch.partners);
        if side == EITHER {
            return;
        }
        let (above, partners) = (side == ABOVE, stretch.partners as Place);
        let others = match SENT {
            true => routes.low(partners, dimension) + own.high[dimension],
            false => own.low[dimension] + routes.high(partners, dimension),
        };
        let down = above != SENT;
        let line = routes.bases[dimension][usize::from(down)] + others;
        let (first, end) = (stretch.ahead[usize::from(!SENT)], own.at[dimension]);
        // A rank that goes away from its partner has a longer way.
        let grows = above != up;
        if routes.wraps[dimension] && (first < end) == up {
            let around = if down { Around::Down } else { Around::Up };
            lines.go_around(line, around, grows);
        }
        if SENT {
            lines.shift(line, first, end, grows);
        } else {
            lines.shift(line, end, first, grows);
        }
    }
}

impl<const Q: usize> Routes<Q> {
    /// The dimension, the direction and the nodes of the way between two nodes, if it is straight.
    #[inline]
    fn straight(&self, from: Place, to: Place) -> Option<(usize, bool, u32)> {
        let differ = from ^ to;
        let dimension = (0..Q).find(|&dimension| differ & self.lanes[dimension] != 0)?;
        if differ & !self.lanes[dimension] != 0 {
            return None;
        }
        let [from, to] = [from, to].map(|place| self.at(place, dimension));
        let (length, steps) = (self.lengths[dimension], from.abs_diff(to));
        let around = self.wraps[dimension] && 2 * steps > length;
        Some((dimension, (to > from) != around, if around { length - steps } else { steps }))
    }
}

/// The dimensions in which the rest of a message's way changes as its sender, or its receiver, moves along one.
#[inline(always)]
fn off_line<const SENT: bool, const Q: usize>(dimension: usize) -> std::ops::Range<usize> {
    if SENT { 0..dimension } else { dimension + 1..Q }
}
