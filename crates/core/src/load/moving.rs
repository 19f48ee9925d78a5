//! Messages between ranks that move: only those of moved ranks are routed anew.
//!
//! Ranks move one after the other, each with its messages to and from partners where these are at that moment. Ranks that
//! slide come to where the one before has left: they are moved in that order, so that the load can handle their messages
//! together. So of a slide the edges cost time, not all the messages of ranks that moved.

use std::sync::Arc;

use super::partners::{Neighbours, Partners};
use super::{Pair, PairLoad};
use crate::ids::{NodeId, Rank};
use crate::rng::Stream;

/// Ranks on nodes, and the messages between them on the channels.
#[derive(Clone, Debug)]
pub struct MovingLoad<L: PairLoad> {
    partners: Arc<Partners>,
    load: L,
    /// By rank: where it is.
    places: Vec<L::Place>,
    /// Where ranks come from that move.
    left: Vec<L::Place>,
    /// Where the partners of a rank are.
    row: Vec<L::Place>,
}

impl<L: PairLoad> MovingLoad<L> {
    /// All messages, with ranks where they are among the nodes.
    ///
    /// # Panics
    /// If there are not as many ranks as the messages are for.
    #[must_use]
    pub fn new(partners: Arc<Partners>, mut load: L, node_of: &[NodeId]) -> Self {
        assert_eq!(partners.ranks(), node_of.len(), "ranks of messages and of nodes");
        for (rank, &node) in (0..).zip(node_of) {
            for target in partners.targets(Rank(rank)) {
                load.add(node, node_of[target.index()]);
            }
        }
        let places = node_of.iter().map(|&node| load.place(node)).collect();
        MovingLoad { partners, load, places, left: Vec::new(), row: Vec::new() }
    }

    /// Who sends to whom.
    #[must_use]
    pub fn partners(&self) -> &Partners {
        &self.partners
    }

    /// Ranks have moved, each to the node it is on now; no rank is named twice.
    pub fn relocate(&mut self, moved: &[(Rank, NodeId)]) {
        // Each is to come to where the one before has left.
        let backwards = match *moved {
            [(_, to), (next, _), ..] => self.load.place(to) == self.places[next.index()],
            _ => false,
        };
        if backwards {
            self.follow(moved.iter().rev());
        } else {
            self.follow(moved.iter());
        }
    }

    fn follow<'m>(&mut self, moved: impl Iterator<Item = &'m (Rank, NodeId)> + Clone) {
        let partners = self.partners.clone();
        let Some(sources) = &partners.sources else {
            for &(rank, to) in moved {
                let (from, to) = (self.places[rank.index()], self.load.place(to));
                self.carry(rank, from, to, &partners.targets, [true, true]);
                self.places[rank.index()] = to;
            }
            self.load.end_moves();
            return;
        };
        // First all senders move, then all receivers.
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        for &(rank, to) in moved.clone() {
            let (from, to) = (self.places[rank.index()], self.load.place(to));
            self.carry(rank, from, to, &partners.targets, [true, false]);
            left.push(from);
        }
        self.load.end_moves();
        for &(rank, to) in moved.clone() {
            self.places[rank.index()] = self.load.place(to);
        }
        for (&(rank, _), &from) in moved.zip(&left) {
            let to = self.places[rank.index()];
            self.carry(rank, from, to, sources, [false, true]);
        }
        self.load.end_moves();
        self.left = left;
    }

    /// Moves a rank with its messages to or from partners, or both.
    #[inline(always)]
    fn carry(
        &mut self,
        rank: Rank,
        from: L::Place,
        to: L::Place,
        partners: &Neighbours,
        ends: [bool; 2],
    ) {
        let MovingLoad { load, places, row, .. } = self;
        let partners = partners.of(rank.index());
        row.resize(partners.len(), L::NOWHERE);
        let places = places.as_slice();
        for (place, partner) in row.iter_mut().zip(partners) {
            *place = places.get(partner).copied().unwrap_or(L::NOWHERE);
        }
        load.move_rank(from, to, row, ends);
    }

    /// The largest collision.
    #[inline]
    pub fn collision_max(&mut self) -> u32 {
        self.load.collision_max()
    }

    /// How crowded the channels are; see [`PairLoad::pressure`].
    pub fn pressure(&mut self) -> u64 {
        self.load.pressure()
    }

    /// See [`PairLoad::hottest`].
    pub fn hottest(&mut self, stream: &mut Stream) -> Option<Pair> {
        self.load.hottest(stream)
    }

    /// The load, as it is now.
    pub fn load(&self) -> &L {
        &self.load
    }

    /// Goes back to a state kept before, of the same partners.
    pub fn restore(&mut self, state: &Self) {
        self.load.restore(&state.load);
        self.places.copy_from_slice(&state.places);
    }
}

#[cfg(test)]
mod tests;
