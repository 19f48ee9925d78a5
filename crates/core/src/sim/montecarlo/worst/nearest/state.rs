//! Where ranks are, as far as it matters to one channel.

use super::Spares;
use super::layout::Layout;

/// Ranks that matter to a channel, and spares that are taken.
///
/// Each failure takes one more spare, so that `used` counts them.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// By rank: its place. Ranks that do not matter where they are count as at home.
    pub at: Vec<u32>,
    /// Ranks elsewhere, in order, and their spares.
    pub members: Vec<(u32, u8)>,
    /// Spares that are taken or dead.
    pub used: Spares,
    /// Of these, those with a rank that does not matter there.
    pub tokens: Spares,
    /// Messages on the channel.
    pub load: i32,
}

/// A state as searches remember it.
pub(super) type Key = (Box<[(u32, u8)]>, Spares, Spares);

/// A failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Of the node of a rank that matters where it goes, or is.
    Rank { rank: u32, to: u8 },
    /// Of the home of some rank that does not matter where it goes.
    Some { to: u8 },
    /// Of a spare with some rank that does not matter there, nor where it goes.
    Token { from: u8, to: u8 },
    /// Of a spare with a rank that does not matter there, but where it goes.
    Known { rank: u32, from: u8, to: u8 },
    /// Of the spare of a rank that matters there, but not where it goes.
    Lost { rank: u32, to: u8 },
}

impl State {
    /// Nothing has failed.
    pub fn new(layout: &Layout, load: i32) -> Self {
        let at = (0..layout.ranks as u32).collect();
        State { at, members: Vec::new(), used: 0, tokens: 0, load }
    }

    /// A state as searches remember it.
    pub fn key(&self) -> Key {
        (self.members.clone().into(), self.used, self.tokens)
    }

    /// Whether a rank at home may be the one that does not matter on a spare.
    pub fn may_hold<'s>(&'s self, layout: &'s Layout) -> impl Fn(u8, u32) -> bool + 's {
        let members: Spares = self.members.iter().map(|(_, spare)| 1 << spare).sum();
        // It may have come from a spare that failed.
        let dead = self.used & !self.tokens & !members != 0;
        move |spare, rank| {
            let mut nearer = layout.order[rank as usize].iter().take_while(|&&one| one != spare);
            dead || nearer.all(|&one| self.used >> one & 1 == 1)
        }
    }

    /// Does what a failure does, which adds `adds` messages to the channel.
    pub fn fail(&mut self, layout: &Layout, failure: Failure, adds: i32) {
        self.load += adds;
        match failure {
            Failure::Rank { rank, to } => self.put(layout, rank, to),
            Failure::Some { to } => self.tokens |= 1 << to,
            Failure::Token { from, to } => self.tokens = self.tokens & !(1 << from) | 1 << to,
            Failure::Known { rank, from, to } => {
                self.tokens &= !(1 << from);
                self.put(layout, rank, to);
            }
            Failure::Lost { rank, to } => {
                self.members.retain(|&(one, _)| one != rank);
                self.at[rank as usize] = rank;
                self.tokens |= 1 << to;
            }
        }
        self.used |= 1 << failure.to();
    }

    fn put(&mut self, layout: &Layout, rank: u32, to: u8) {
        self.at[rank as usize] = layout.place(to);
        match self.members.binary_search_by_key(&rank, |&(one, _)| one) {
            Ok(at) => self.members[at].1 = to,
            Err(at) => self.members.insert(at, (rank, to)),
        }
    }
}

impl Failure {
    /// The spare that is taken.
    #[inline]
    pub fn to(self) -> u8 {
        match self {
            Failure::Rank { to, .. }
            | Failure::Some { to }
            | Failure::Token { to, .. }
            | Failure::Known { to, .. }
            | Failure::Lost { to, .. } => to,
        }
    }
}
