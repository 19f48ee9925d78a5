//! One channel: what a rank that moves can add to it.

use super::Spares;
use super::layout::{Crossed, Layout};
use super::state::{Failure, State};

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
    pub fn bound_twice(&self, state: &State, steps: u32, bound: &mut Bound) -> i32 {
        let layout = self.layout;
        let free = layout.all() & !state.used;
        bound.clear(layout);
        // Ranks that do not matter where they are, and where they can go from there.
        let tokens: Vec<(u8, Spares)> = bits(state.tokens)
            .map(|spare| (spare, reach(layout, layout.place(spare), free, steps)))
            .collect();
        let holds = state.may_hold(layout);
        for &rank in &self.ranks {
            let place = state.at[rank as usize];
            let member = place as usize >= layout.ranks;
            let known = &mut bound.reach[layout.alike[place as usize]];
            let mut to = *known.get_or_insert_with(|| reach(layout, place, free, steps));
            let matters = self.matters[rank as usize];
            if !member {
                for &(spare, more) in &tokens {
                    if matters >> spare & 1 == 0 && holds(spare, rank) {
                        to |= more;
                    }
                }
            }
            let near = member || self.has_member_partner(state, rank);
            let mut most = 0;
            for spare in bits(to & matters) {
                let adds = self.adds_in_the_end(state, rank, spare, steps == 1, near);
                most = most.max(adds);
                let own = &mut bound.of_spare[usize::from(spare)];
                *own = adds.max(*own);
            }
            if member && to & !matters != 0 {
                // Where it does not matter it counts as at home.
                let adds = self.adds_twice(state, rank, rank, steps == 1);
                most = most.max(adds);
                for spare in bits(to & !matters) {
                    let own = &mut bound.of_spare[usize::from(spare)];
                    *own = adds.max(*own);
                }
            }
            bound.of_rank[rank as usize] = most;
        }
        bound.sum_up(steps)
    }

    /// Twice the most that a rank on a spare adds in the end; `near`: it or a partner is not at home.
    #[inline]
    fn adds_in_the_end(&self, state: &State, rank: u32, spare: u8, last: bool, near: bool) -> i32 {
        if near {
            return self.adds_twice(state, rank, self.layout.place(spare), last);
        }
        let spares = self.layout.nodes.len() - self.layout.ranks;
        i32::from(self.first[rank as usize * spares + usize::from(spare)][usize::from(last)])
    }

    /// Twice the most that `steps` failures add of which `failure` is the first, by a bound for all `steps`; no more than what
    /// the bound of the next state would be without looking at it.
    pub fn bound_with(&self, state: &State, steps: u32, failure: Failure, bound: &Bound) -> i32 {
        let (rank, adds) = match failure {
            Failure::Rank { rank, to } | Failure::Known { rank, to, .. } => {
                (Some(rank), self.adds_twice(state, rank, self.layout.place(to), steps == 1))
            }
            Failure::Lost { rank, .. } => {
                (Some(rank), self.adds_twice(state, rank, rank, steps == 1))
            }
            Failure::Some { .. } | Failure::Token { .. } => (None, 0),
        };
        let own = bound.of_spare[usize::from(failure.to())];
        let by_spare = adds.max(0) + bound.spares.without(own);
        let by_rank = match rank {
            Some(rank) => {
                let own = bound.of_rank[rank as usize];
                own.max(adds) + bound.ranks.without(own)
            }
            None => bound.ranks.but_one,
        };
        by_rank.min(by_spare)
    }

    #[inline]
    fn has_member_partner(&self, state: &State, rank: u32) -> bool {
        let mut messages = self.layout.messages[self.round][rank as usize].iter();
        messages.any(|message| state.at[message.partner as usize] != message.partner)
    }
}

/// A bound, and what it is the sum of.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// By rank, and by spare: twice what it can add.
    of_rank: Vec<i32>,
    of_spare: Vec<i32>,
    ranks: Largest,
    spares: Largest,
    /// By order of spares: what is reached.
    reach: Vec<Option<Spares>>,
}

impl Bound {
    fn clear(&mut self, layout: &Layout) {
        self.of_rank.clear();
        self.of_rank.resize(layout.ranks, 0);
        self.of_spare.clear();
        self.of_spare.resize(layout.nodes.len() - layout.ranks, 0);
        self.reach.clear();
        self.reach.resize(layout.nodes.len(), None);
    }

    fn sum_up(&mut self, steps: u32) -> i32 {
        self.ranks.take(&self.of_rank, steps as usize);
        self.spares.take(&self.of_spare, steps as usize);
        self.ranks.all.min(self.spares.all)
    }
}

/// The sum of the largest of some values.
#[derive(Debug, Default)]
struct Largest {
    sorted: Vec<i32>,
    all: i32,
    /// Without the smallest of them, and that one.
    but_one: i32,
    smallest: i32,
}

impl Largest {
    fn take(&mut self, values: &[i32], count: usize) {
        self.sorted.clear();
        self.sorted.extend(values.iter().filter(|&&value| value > 0));
        self.sorted.sort_unstable_by(|one, other| other.cmp(one));
        self.all = self.sorted.iter().take(count).sum();
        self.but_one = self.sorted.iter().take(count - 1).sum();
        self.smallest = self.sorted.get(count - 1).copied().unwrap_or(0);
    }

    /// The sum of one fewer, of the values without one.
    fn without(&self, value: i32) -> i32 {
        if value >= self.smallest { self.all - value } else { self.but_one }
    }
}

/// Spares on which a rank at a place can be after at most `steps` failures: it takes one when all that are nearer are taken,
/// and may go on from there.
pub(super) fn reach(layout: &Layout, place: u32, free: Spares, steps: u32) -> Spares {
    fn go(
        layout: &Layout,
        place: u32,
        free: Spares,
        taken: Spares,
        steps: u32,
        found: &mut Spares,
    ) {
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
    if steps > STEPS_SEARCHED {
        return free;
    }
    let mut found = 0;
    go(layout, place, free, 0, steps, &mut found);
    found
}

/// Failures up to which ways from spare to spare are looked at; they double with each.
const STEPS_SEARCHED: u32 = 12;

/// Numbers of the bits of a mask, lowest first.
pub(super) fn bits(mut mask: Spares) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < Spares::BITS).then_some(bit as u8)
    })
}
