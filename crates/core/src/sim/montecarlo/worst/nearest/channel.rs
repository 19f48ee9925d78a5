//! One channel: what a rank that moves can add to it.

use super::layout::{Crossed, Layout};
use super::state::State;
use super::{SPARES_MAX, Spares};

/// A channel in a round, with what crosses it in tables.
#[derive(Debug)]
pub(super) struct Channel<'l> {
    pub layout: &'l Layout,
    pub round: usize,
    /// Messages on it before anything fails.
    pub load: i32,
    /// By place, then place: whether a message crosses it.
    crosses: Vec<bool>,
    /// By place: spares to which a message crosses it, and from which.
    to_spares: Vec<Spares>,
    from_spares: Vec<Spares>,
    /// By rank: spares on which it matters.
    pub matters: Vec<Spares>,
    /// Ranks that matter somewhere.
    pub ranks: Vec<u32>,
    /// By such a rank, then spare: twice what it adds at most, while its partners are at home.
    first: Vec<[i16; 2]>,
}

impl<'l> Channel<'l> {
    pub fn new(layout: &'l Layout, crossed: &Crossed) -> Self {
        let places = layout.nodes.len();
        let mut channel = Channel {
            layout,
            round: crossed.round,
            load: crossed.load as i32,
            crosses: vec![false; places * places],
            to_spares: vec![0; places],
            from_spares: vec![0; places],
            matters: Vec::new(),
            ranks: Vec::new(),
            first: Vec::new(),
        };
        for &(from, to) in &crossed.pairs {
            channel.crosses[from as usize * places + to as usize] = true;
            if to as usize >= layout.ranks {
                channel.to_spares[from as usize] |= 1 << (to as usize - layout.ranks);
            }
            if from as usize >= layout.ranks {
                channel.from_spares[to as usize] |= 1 << (from as usize - layout.ranks);
            }
        }
        channel.matters = (0..layout.ranks as u32).map(|rank| channel.matters_on(rank)).collect();
        channel.ranks =
            (0..layout.ranks as u32).filter(|&rank| channel.matters[rank as usize] != 0).collect();
        let home = State::new(layout, channel.load);
        let spares = places - layout.ranks;
        let mut first = vec![[0; 2]; layout.ranks * spares];
        for &rank in &channel.ranks {
            for spare in bits(channel.matters[rank as usize]) {
                let to = layout.place(spare);
                first[rank as usize * spares + usize::from(spare)] =
                    [false, true].map(|last| channel.adds_twice(&home, rank, to, last) as i16);
            }
        }
        channel.first = first;
        channel
    }

    /// Whether a message from one place to another crosses it.
    #[inline]
    fn is_crossed(&self, from: u32, to: u32) -> i32 {
        i32::from(self.crosses[from as usize * self.layout.nodes.len() + to as usize])
    }

    #[inline]
    fn message(&self, place: u32, partner: u32, sends: bool) -> i32 {
        if sends { self.is_crossed(place, partner) } else { self.is_crossed(partner, place) }
    }

    /// Spares for a partner at which the message crosses.
    #[inline]
    fn partner_spares(&self, place: u32, sends: bool) -> Spares {
        if sends { self.to_spares[place as usize] } else { self.from_spares[place as usize] }
    }

    /// Spares on which some message of the rank crosses where it does not from its home, its partner being in the same place.
    fn matters_on(&self, rank: u32) -> Spares {
        let mut found = 0;
        for spare in bits(self.layout.all()) {
            let place = self.layout.place(spare);
            let more = self.layout.messages[self.round][rank as usize].iter().any(|message| {
                let (sends, home) = (message.sends, message.partner);
                let elsewhere =
                    self.partner_spares(place, sends) & !self.partner_spares(rank, sends);
                elsewhere & !(1 << spare) != 0
                    || self.message(place, home, sends) > self.message(rank, home, sends)
            });
            found |= Spares::from(more) << spare;
        }
        found
    }

    /// What moving a rank to a place adds to the load, all others staying where they are.
    #[inline]
    pub fn adds(&self, state: &State, rank: u32, to: u32) -> i32 {
        let now = state.at[rank as usize];
        let messages = self.layout.messages[self.round][rank as usize].iter();
        let add = |message: &super::layout::Message| {
            let partner = state.at[message.partner as usize];
            self.message(to, partner, message.sends) - self.message(now, partner, message.sends)
        };
        messages.map(add).sum()
    }

    /// Twice the most that moving a rank to a place adds to the load in the end: all of a message whose other end stays, half
    /// of one whose other end moves too. `last`: nobody else moves.
    #[inline]
    fn adds_twice(&self, state: &State, rank: u32, to: u32, last: bool) -> i32 {
        if last {
            return 2 * self.adds(state, rank, to);
        }
        let now = state.at[rank as usize];
        let messages = self.layout.messages[self.round][rank as usize].iter();
        let own = if to as usize >= self.layout.ranks {
            1 << (to as usize - self.layout.ranks)
        } else {
            0
        };
        let add = |message: &super::layout::Message| {
            let sends = message.sends;
            let partner = state.at[message.partner as usize];
            let before = self.message(now, partner, sends);
            let stays = 2 * (self.message(to, partner, sends) - before);
            let some = self.partner_spares(to, sends) & !own != 0;
            let home = self.message(to, message.partner, sends) == 1;
            stays.max(i32::from(some || home) - before)
        };
        messages.map(add).sum()
    }

    /// Twice the most that `steps` more failures can add.
    pub fn bound_twice(&self, state: &State, steps: u32, scratch: &mut Scratch) -> i32 {
        let layout = self.layout;
        let spares = layout.nodes.len() - layout.ranks;
        let free = layout.all() & !state.used;
        let last = steps == 1;
        scratch.ranks.clear();
        scratch.spares[..=spares].fill(0);
        scratch.reach.clear();
        scratch.reach.resize(layout.nodes.len(), None);
        // Homes with the same order reach the same.
        let tokens: Vec<(u8, Spares)> = bits(state.tokens)
            .map(|spare| (spare, reach(layout, layout.place(spare), free, steps)))
            .collect();
        for &rank in &self.ranks {
            let place = state.at[rank as usize];
            let member = place as usize >= layout.ranks;
            let mut to = match scratch.reach[place as usize] {
                Some(known) => known,
                None => {
                    let found = reach(layout, place, free, steps);
                    scratch.reach[place as usize] = Some(found);
                    found
                }
            };
            let matters = self.matters[rank as usize];
            if !member {
                for &(spare, more) in &tokens {
                    if matters >> spare & 1 == 0 && state.may_hold(layout, spare, rank) {
                        to |= more;
                    }
                }
            }
            let near = member || self.has_member_partner(state, rank);
            let mut most = 0;
            for spare in bits(to & matters) {
                let adds = if near {
                    self.adds_twice(state, rank, layout.place(spare), last)
                } else {
                    let first = &self.first[rank as usize * spares + usize::from(spare)];
                    i32::from(first[usize::from(last)])
                };
                most = most.max(adds);
                let own = &mut scratch.spares[usize::from(spare)];
                *own = adds.max(*own);
            }
            if member && to & !matters != 0 {
                // Where it does not matter it counts as at home.
                let adds = self.adds_twice(state, rank, rank, last);
                most = most.max(adds);
                for spare in bits(to & !matters) {
                    let own = &mut scratch.spares[usize::from(spare)];
                    *own = adds.max(*own);
                }
            }
            if most > 0 {
                scratch.ranks.push(most);
            }
        }
        let by_rank = largest(&mut scratch.ranks, steps);
        scratch.ranks.clear();
        scratch.ranks.extend(scratch.spares[..spares].iter().filter(|&&adds| adds > 0));
        by_rank.min(largest(&mut scratch.ranks, steps))
    }

    #[inline]
    fn has_member_partner(&self, state: &State, rank: u32) -> bool {
        let mut messages = self.layout.messages[self.round][rank as usize].iter();
        messages.any(|message| state.at[message.partner as usize] != message.partner)
    }
}

/// Room for bounds.
#[derive(Debug)]
pub(super) struct Scratch {
    ranks: Vec<i32>,
    spares: [i32; SPARES_MAX + 1],
    reach: Vec<Option<Spares>>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch { ranks: Vec::new(), spares: [0; SPARES_MAX + 1], reach: Vec::new() }
    }
}

/// The sum of the largest.
fn largest(values: &mut [i32], count: u32) -> i32 {
    values.sort_unstable_by(|one, other| other.cmp(one));
    values.iter().take(count as usize).sum()
}

/// Spares on which a rank at a place can be after at most `steps` failures: it takes one when all that are nearer are taken,
/// and may go on from there.
pub(super) fn reach(layout: &Layout, place: u32, free: Spares, steps: u32) -> Spares {
    fn go(layout: &Layout, place: u32, free: Spares, taken: Spares, steps: u32, found: &mut Spares) {
        let mut taken = taken;
        for &spare in layout.order[place as usize].iter().filter(|&&spare| free >> spare & 1 == 1) {
            let is_own = taken >> spare & 1 == 0;
            taken |= 1 << spare;
            if taken.count_ones() > steps {
                return;
            }
            // What has been taken on the way was taken by others.
            if is_own {
                *found |= 1 << spare;
                go(layout, layout.place(spare), free, taken, steps, found);
            }
        }
    }
    let mut found = 0;
    go(layout, place, free, 0, steps, &mut found);
    found
}

/// Numbers of the bits of a mask, lowest first.
pub(super) fn bits(mut mask: Spares) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < Spares::BITS).then_some(bit as u8)
    })
}
