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
    /// By rank: where its messages are counted.
    node_of: Vec<NodeId>,
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
        MovingLoad { partners, load, node_of: node_of.to_vec() }
    }

    /// Ranks have moved, each to the node it is on now.
    pub fn relocate(&mut self, moved: impl Iterator<Item = (Rank, NodeId)>) {
        for (rank, to) in moved {
            self.relocate_one(rank.index(), to);
        }
    }

    fn relocate_one(&mut self, rank: usize, to: NodeId) {
        let from = std::mem::replace(&mut self.node_of[rank], to);
        for &target in self.partners.targets.of(rank) {
            let target = self.node_of[target as usize];
            self.load.remove(from, target);
            self.load.add(to, target);
        }
        for &source in self.partners.sources.of(rank) {
            let source = self.node_of[source as usize];
            self.load.remove(source, from);
            self.load.add(source, to);
        }
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
    }
}
