//! Worst cases of 0D sliding: channel by channel, over the ranks that matter to it.
//!
//! A failure moves one rank to the nearest spare that is left, so after `F` failures at most `F` ranks are elsewhere, and `F`
//! spares are taken. Which spare is taken depends on the spares taken before alone, not on who took them. For one channel:
//!
//! - A rank *does not matter* on a spare if each of its messages, wherever the partner is, crosses the channel from there only
//!   if it does from its home. It counts as at home then, which never makes the load smaller; that it took a spare is kept,
//!   and that the spare may fail, but not who it is. So all failures that lead there are one.
//! - *Bound*: what is added until the end is a sum over messages of ranks that still move. A message with one such end counts
//!   in full with the rank, with the other end where it is now; one with two such ends counts half with each, with the other
//!   end wherever it crosses. Each failure moves one rank to one spare, so the sum over the best ranks, and the sum over the
//!   best spares, are both never too small. A rank reaches a spare only when those that are nearer are taken, which takes
//!   failures.
//!
//! States reached in different orders are gone through once. A state after the last failure is made a sequence by naming the
//! ranks that do not matter; where no naming gives the load (they may be fewer than spares ask for), the answer is not known.

mod channel;
mod layout;
mod state;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use self::channel::{Bound, Channel, bits};
use self::layout::{Crossed, Layout};
use self::state::{Failure, Key, State};
use super::{Answer, Effort, Search, Trial, WorstError};
use crate::ids::NodeId;
use crate::load::PairLoad;

/// Spares as a mask, by number.
type Spares = u128;

/// Most spares of a job.
pub(super) const SPARES_MAX: usize = 128;

/// A search over all channels.
#[derive(Debug)]
pub(super) struct Nearest<'j, L: PairLoad> {
    trial: Trial<'j, L>,
    layout: Layout,
    crossed: Vec<Crossed>,
    /// By channel: its bound for a number of failures.
    bounds: Vec<u32>,
}

impl<'j, L: PairLoad> Nearest<'j, L> {
    pub fn new(trial: Trial<'j, L>) -> Result<Self, WorstError> {
        let layout = Layout::new(trial)?;
        let crossed = layout.crossed(trial);
        Ok(Nearest { trial, layout, crossed, bounds: Vec::new() })
    }
}

impl<L: PairLoad> Search for Nearest<'_, L> {
    fn bound(&mut self, failures: usize) -> u32 {
        let mut sums = Bound::default();
        let bound = |crossed| {
            let channel = Channel::new(&self.layout, crossed);
            let start = State::new(&self.layout, channel.load);
            let more = channel.bound_twice(&start, failures as u32, &mut sums);
            ((2 * channel.load + more) / 2) as u32
        };
        self.bounds = self.crossed.iter().map(bound).collect();
        self.bounds.iter().copied().max().unwrap_or(0)
    }

    fn adds_most(&self) -> u32 {
        // One rank moves.
        self.layout.messages.iter().flatten().map(Vec::len).max().unwrap_or(0) as u32
    }

    fn find(&mut self, failures: usize, wanted: u32, effort: &mut Effort) -> Answer {
        let mut answer = Answer::None;
        if failures > self.layout.all().count_ones() as usize {
            return answer;
        }
        for (crossed, _) in
            self.crossed.iter().zip(&self.bounds).filter(|(_, bound)| **bound >= wanted)
        {
            let channel = Channel::new(&self.layout, crossed);
            let mut dive = Dive {
                trial: self.trial,
                channel: &channel,
                wanted: wanted as i32,
                seen: HashSet::new(),
                path: Vec::new(),
                effort,
                unknown: false,
            };
            let start = State::new(&self.layout, channel.load);
            if let Some(sequence) = dive.go(&start, failures as u32) {
                return Answer::Sequence(sequence);
            }
            if dive.unknown {
                answer = Answer::Unknown;
            }
        }
        answer
    }
}

/// A search for one channel.
struct Dive<'d, 'j, L: PairLoad> {
    trial: Trial<'j, L>,
    channel: &'d Channel<'d>,
    wanted: i32,
    seen: HashSet<Key>,
    path: Vec<Failure>,
    effort: &'d mut Effort,
    unknown: bool,
}

impl<L: PairLoad> Dive<'_, '_, L> {
    /// A sequence that goes on from a state with so many failures and has the load wanted.
    fn go(&mut self, state: &State, steps: u32) -> Option<Vec<NodeId>> {
        if steps == 0 {
            if state.load < self.wanted {
                return None;
            }
            let found = self.sequence();
            self.unknown |= found.is_none();
            return found;
        }
        let mut bound = Bound::default();
        let more = self.channel.bound_twice(state, steps, &mut bound);
        if 2 * state.load + more < 2 * self.wanted || !self.seen.insert(state.key()) {
            return None;
        }
        if self.effort.is_spent() {
            self.unknown = true;
            return None;
        }
        self.effort.states += 1;
        for (adds, failure) in self.failures(state) {
            let more = self.channel.bound_with(state, steps, failure, &bound);
            if 2 * state.load + more < 2 * self.wanted {
                continue;
            }
            let mut next = state.clone();
            next.fail(self.channel.layout, failure, adds);
            if steps == 1 && next.load < self.wanted {
                break;
            }
            self.path.push(failure);
            let found = self.go(&next, steps - 1);
            self.path.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// All failures that differ for the channel, and what they add to its load: the most first.
    fn failures(&self, state: &State) -> Vec<(i32, Failure)> {
        let (channel, layout) = (self.channel, self.channel.layout);
        let free = layout.all() & !state.used;
        let mut found = Vec::new();
        let mut idle = 0;
        for rank in 0..layout.ranks as u32 {
            let place = state.at[rank as usize];
            let Some(to) = layout.next(place, free) else { return found };
            let matters = channel.matters[rank as usize] >> to & 1 == 1;
            if matters {
                let adds = channel.adds(state, rank, layout.place(to));
                found.push((adds, Failure::Rank { rank, to }));
            } else if place as usize >= layout.ranks {
                found.push((channel.adds(state, rank, rank), Failure::Lost { rank, to }));
            } else {
                idle |= 1 << to;
            }
        }
        let holds = state.may_hold(layout);
        found.extend(bits(idle).map(|to| (0, Failure::Some { to })));
        for from in bits(state.tokens) {
            let Some(to) = layout.next(layout.place(from), free) else { continue };
            found.push((0, Failure::Token { from, to }));
            for &rank in &channel.ranks {
                let matters = channel.matters[rank as usize];
                if matters >> to & 1 == 1
                    && matters >> from & 1 == 0
                    && (state.at[rank as usize] as usize) < layout.ranks
                    && holds(from, rank)
                {
                    let adds = channel.adds(state, rank, layout.place(to));
                    found.push((adds, Failure::Known { rank, from, to }));
                }
            }
        }
        found.sort_by_key(|&(adds, _)| -adds);
        found
    }

    /// The path as a sequence, with names for the ranks that do not matter, if it has the load wanted.
    fn sequence(&self) -> Option<Vec<NodeId>> {
        let layout = self.channel.layout;
        let named = self.names()?;
        let mut at = BTreeMap::new();
        let mut sequence = Vec::new();
        for &failure in &self.path {
            let failed = match failure {
                Failure::Rank { rank, to } | Failure::Lost { rank, to } => {
                    at.insert(rank, layout.place(to)).unwrap_or(rank)
                }
                Failure::Some { to } => named[&to],
                Failure::Token { from, .. } => layout.place(from),
                Failure::Known { rank, from, to } => {
                    at.insert(rank, layout.place(to));
                    layout.place(from)
                }
            };
            sequence.push(layout.nodes[failed as usize]);
        }
        let collision = self.trial.collision(&sequence)?;
        (collision as i32 >= self.wanted).then_some(sequence)
    }

    /// Ranks that do not matter, by the spare they take first: those whose absence costs the fewest messages.
    fn names(&self) -> Option<BTreeMap<u8, u32>> {
        let (channel, layout) = (self.channel, self.channel.layout);
        // Who has to be the one that went to a spare.
        let mut known = BTreeMap::new();
        for failure in self.path.iter().rev() {
            match *failure {
                Failure::Known { rank, from, .. } => {
                    known.insert(from, rank);
                }
                Failure::Token { from, to } => {
                    if let Some(rank) = known.remove(&to) {
                        known.insert(from, rank);
                    }
                }
                _ => {}
            }
        }
        let mut taken: BTreeSet<u32> = known.values().copied().collect();
        let mut end = State::new(layout, channel.load);
        for &failure in &self.path {
            if let Failure::Rank { rank, .. } | Failure::Known { rank, .. } = failure {
                taken.insert(rank);
            }
            end.fail(layout, failure, 0);
        }
        let mut named = BTreeMap::new();
        let mut free = layout.all();
        for &failure in &self.path {
            if let Failure::Some { to } = failure {
                let rank = known.remove(&to).or_else(|| {
                    let fits = (0..layout.ranks as u32).filter(|rank| {
                        !taken.contains(rank)
                            && layout.next(*rank, free) == Some(to)
                            && channel.matters[*rank as usize] >> to & 1 == 0
                    });
                    fits.max_by_key(|&rank| {
                        (channel.adds(&end, rank, layout.place(to)), std::cmp::Reverse(rank))
                    })
                })?;
                taken.insert(rank);
                end.at[rank as usize] = layout.place(to);
                named.insert(to, rank);
            }
            free &= !(1 << failure.to());
        }
        Some(named)
    }
}
