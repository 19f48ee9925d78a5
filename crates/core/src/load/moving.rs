//! Messages between ranks that move: only those of moved ranks are routed anew.

use super::dimension_order::GridLoad;
use crate::ids::{NodeId, Rank};
use crate::traffic::Traffic;

/// Who sends to whom, by rank.
#[derive(Clone, Debug)]
pub struct Partners {
    targets: Neighbours,
    sources: Neighbours,
}

/// Ranks, a row for each rank.
#[derive(Clone, Debug)]
struct Neighbours {
    first: Vec<u32>,
    ranks: Vec<u32>,
}

impl Partners {
    /// Those of a traffic; sizes do not matter, every message counts as one.
    #[must_use]
    pub fn new(traffic: &Traffic) -> Self {
        let pairs = || traffic.messages.iter().map(|one| (one.source.0, one.target.0));
        Partners {
            targets: Neighbours::new(traffic.ranks, pairs()),
            sources: Neighbours::new(traffic.ranks, pairs().map(|(source, target)| (target, source))),
        }
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.targets.first.len() - 1
    }

    /// Ranks that a rank sends to.
    #[must_use]
    pub fn targets(&self, rank: Rank) -> &[u32] {
        self.targets.of(rank.index())
    }
}

impl Neighbours {
    fn new(ranks: u32, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0u32; ranks as usize + 1];
        pairs.clone().for_each(|(of, _)| first[of as usize + 1] += 1);
        for rank in 0..ranks as usize {
            first[rank + 1] += first[rank];
        }
        let mut at = first.clone();
        let mut found = vec![0; first[ranks as usize] as usize];
        for (of, rank) in pairs {
            found[at[of as usize] as usize] = rank;
            at[of as usize] += 1;
        }
        Neighbours { first, ranks: found }
    }

    #[inline]
    fn of(&self, rank: usize) -> &[u32] {
        &self.ranks[self.first[rank] as usize..self.first[rank + 1] as usize]
    }
}

/// Ranks on nodes, and the messages between them on the channels.
#[derive(Clone, Debug)]
pub struct MovingLoad<'p, const Q: usize> {
    partners: &'p Partners,
    load: GridLoad<Q>,
    /// By rank: where its messages are counted, and where they are to be.
    node_of: Vec<NodeId>,
    next_of: Vec<NodeId>,
}

impl<'p, const Q: usize> MovingLoad<'p, Q> {
    /// All messages, with ranks where they are.
    #[must_use]
    pub fn new(partners: &'p Partners, mut load: GridLoad<Q>, node_of: &[NodeId]) -> Self {
        for rank in 0..partners.ranks() {
            for &target in partners.targets.of(rank) {
                load.add(node_of[rank], node_of[target as usize]);
            }
        }
        MovingLoad { partners, load, node_of: node_of.to_vec(), next_of: node_of.to_vec() }
    }

    /// Ranks have moved, each to the node it is on now.
    pub fn relocate(&mut self, moved: impl Iterator<Item = (Rank, NodeId)> + Clone) {
        moved.clone().for_each(|(rank, to)| self.next_of[rank.index()] = to);
        for (rank, to) in moved.clone() {
            let from = self.node_of[rank.index()];
            for &target in self.partners.targets.of(rank.index()) {
                let target = target as usize;
                self.load.reroute((from, self.node_of[target]), (to, self.next_of[target]));
            }
            for &source in self.partners.sources.of(rank.index()) {
                // What a rank that moves too sends is among its own.
                let (old, new) = (self.node_of[source as usize], self.next_of[source as usize]);
                if old == new {
                    self.load.reroute((old, from), (new, to));
                }
            }
        }
        moved.for_each(|(rank, to)| self.node_of[rank.index()] = to);
    }

    /// The largest collision.
    #[inline]
    pub fn collision_max(&mut self) -> u32 {
        self.load.collision_max()
    }

    /// Goes back to a state kept before, of the same partners.
    pub fn restore(&mut self, state: &Self) {
        self.load.restore(&state.load);
        self.node_of.copy_from_slice(&state.node_of);
        self.next_of.copy_from_slice(&state.node_of);
    }
}
