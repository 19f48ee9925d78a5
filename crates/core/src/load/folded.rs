//! Messages of a node space that is folded onto a network of another shape.

use std::sync::Arc;

use super::{Pair, PairLoad};
use crate::ids::NodeId;

/// A load on a network, by nodes of the space that is folded onto it.
#[derive(Clone, Debug)]
pub struct FoldedLoad<L> {
    load: L,
    stands_on: Arc<[NodeId]>,
}

impl<L: PairLoad> FoldedLoad<L> {
    /// A load on the network; node `n` of the space is its node `stands_on[n]`.
    #[must_use]
    pub fn new(load: L, stands_on: Arc<[NodeId]>) -> Self {
        FoldedLoad { load, stands_on }
    }

    #[inline]
    fn on_network(&self, pair: Pair) -> Pair {
        (self.stands_on[pair.0.index()], self.stands_on[pair.1.index()])
    }
}

impl<L: PairLoad> PairLoad for FoldedLoad<L> {
    type Place = L::Place;
    const NOWHERE: L::Place = L::NOWHERE;

    fn place(&self, node: NodeId) -> L::Place {
        self.load.place(self.stands_on[node.index()])
    }

    fn add(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = self.on_network((from, to));
        self.load.add(from, to);
    }

    fn remove(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = self.on_network((from, to));
        self.load.remove(from, to);
    }

    fn move_rank(&mut self, from: L::Place, to: L::Place, partners: &[L::Place], ends: [bool; 2]) {
        self.load.move_rank(from, to, partners, ends);
    }

    fn end_moves(&mut self) {
        self.load.end_moves();
    }

    fn collision_max(&mut self) -> u32 {
        self.load.collision_max()
    }

    fn pressure(&mut self) -> u64 {
        self.load.pressure()
    }

    fn restore(&mut self, state: &Self) {
        self.load.restore(&state.load);
    }

    fn cross(&self, from: NodeId, to: NodeId, channels: &mut Vec<u32>) {
        let (from, to) = self.on_network((from, to));
        self.load.cross(from, to, channels);
    }
}
