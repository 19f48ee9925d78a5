//! Messages between ranks that move: only those of moved ranks are routed anew.
//!
//! What a message loses and gains is worked out for pairs of an old and a new message, and any pairing gives the same sum.
//! Ranks that slide come to where the one before has left: a chain. Their messages to partners that stay are handled together, by
//! the load; a message between two that move is paired with that of who stood there before, which went the same way unless
//! something is in the way. So of a slide the edges cost time, not all the ranks that moved.

use std::sync::Arc;

use super::partners::{Neighbours, Partners};
use super::{NOWHERE, Pair, PairLoad};
use crate::ids::{NodeId, Rank};
use crate::rng::Stream;

/// Ranks on nodes, and the messages between them on the channels.
#[derive(Clone, Debug)]
pub struct MovingLoad<L> {
    partners: Arc<Partners>,
    load: L,
    /// By rank, and one more for none: its node where messages are counted, and where they are to be.
    nodes: Vec<Ends>,
    chain: Chain,
}

/// Where a rank was, and where it is.
type Ends = [NodeId; 2];

/// Ranks that move on behind each other, and what is needed to move their messages.
#[derive(Clone, Debug, Default)]
struct Chain {
    ranks: Vec<u32>,
    /// Where the first rank moves to, then the node that each of them leaves.
    path: Vec<NodeId>,
    /// By rank of the chain, then by number of a partner: where a partner is that stays.
    staying: Vec<NodeId>,
    /// By number: where a partner was that moves, too, of the rank that was on a node of the path.
    left: Vec<NodeId>,
}

impl<L: PairLoad> MovingLoad<L> {
    /// All messages, with ranks where they are among the nodes.
    ///
    /// # Panics
    /// If there are not as many ranks as the messages are for.
    #[must_use]
    pub fn new(partners: Arc<Partners>, load: L, node_of: &[NodeId]) -> Self {
        assert_eq!(partners.ranks(), node_of.len(), "ranks of messages and of nodes");
        let nodes = node_of.iter().chain(&[NOWHERE]).map(|&node| [node; 2]).collect();
        let mut made = MovingLoad { partners, load, nodes, chain: Chain::default() };
        for rank in 0..node_of.len() {
            for target in made.partners.targets(Rank(rank as u32)) {
                made.load.add(node_of[rank], node_of[target.index()]);
            }
        }
        made
    }

    /// Who sends to whom.
    #[must_use]
    pub fn partners(&self) -> &Partners {
        &self.partners
    }

    /// Ranks have moved, each to the node it is on now; no rank is named twice.
    pub fn relocate(&mut self, moved: &[(Rank, NodeId)]) {
        for &(rank, to) in moved {
            self.nodes[rank.index()][1] = to;
        }
        let partners = self.partners.clone();
        let mut rest = moved;
        while !rest.is_empty() {
            let length = self.chain.begin(rest, &self.nodes, &partners);
            rest = &rest[length..];
            self.follow(&partners);
        }
        for &(rank, to) in moved {
            self.nodes[rank.index()][0] = to;
        }
    }

    /// Brings the messages of the ranks of the chain to where they are; those between two that move with the sender.
    fn follow(&mut self, partners: &Partners) {
        let MovingLoad { load, nodes, chain, .. } = self;
        chain.part(&partners.targets, nodes, load);
        match &partners.sources {
            None => load.move_along(&chain.path, &chain.staying, [true, true]),
            Some(sources) => {
                load.move_along(&chain.path, &chain.staying, [true, false]);
                chain.stay(sources, nodes);
                load.move_along(&chain.path, &chain.staying, [false, true]);
            }
        }
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
        self.nodes.copy_from_slice(&state.nodes);
    }
}

impl Chain {
    /// The longest chain that moves begin with: each rank to where the one before was, or all the other way around. Returns its
    /// length.
    fn begin(&mut self, moved: &[(Rank, NodeId)], nodes: &[Ends], partners: &Partners) -> usize {
        let from = |moved: (Rank, NodeId)| nodes[moved.0.index()][0];
        let (mut count, mut follows) = (1, false);
        if partners.regular() {
            let pairs = moved.windows(2);
            count += pairs.clone().take_while(|pair| pair[1].1 == from(pair[0])).count();
            follows = count > 1;
            if !follows {
                count += pairs.take_while(|pair| from(pair[1]) == pair[0].1).count();
            }
        }
        self.ranks.clear();
        self.ranks.extend(moved[..count].iter().map(|(rank, _)| rank.0));
        if !follows {
            self.ranks.reverse();
        }
        self.path.clear();
        self.path.push(moved[if follows { 0 } else { count - 1 }].1);
        self.path.extend(self.ranks.iter().map(|&rank| nodes[rank as usize][0]));
        count
    }

    /// Notes partners that stay, and reroutes the messages to targets that move.
    fn part(&mut self, targets: &Neighbours, nodes: &[Ends], load: &mut impl PairLoad) {
        let Chain { ranks, path, staying, left } = self;
        let (count, width) = (ranks.len(), targets.of(ranks[0] as usize).len());
        staying.clear();
        staying.resize(count * width, NOWHERE);
        left.clear();
        left.resize(width, NOWHERE);
        for (number, (&rank, &to)) in ranks.iter().zip(&*path).enumerate() {
            let staying = &mut staying[number * width..(number + 1) * width];
            let row = targets.of(rank as usize).iter().zip(&mut *left);
            for ((&target, left), staying) in row.zip(staying) {
                let [was, is] = nodes[target as usize];
                let (mut old, mut new) = (was, is);
                if was == is {
                    *staying = is;
                    (old, new) = (NOWHERE, NOWHERE);
                }
                let old = std::mem::replace(left, old);
                if old != new {
                    replace(load, to, old, new);
                }
            }
        }
        for &left in left.iter().filter(|left| **left != NOWHERE) {
            load.remove(path[count], left);
        }
    }

    /// Notes partners that stay.
    fn stay(&mut self, partners: &Neighbours, nodes: &[Ends]) {
        self.staying.clear();
        for &rank in &self.ranks {
            let own = partners.of(rank as usize).iter().map(|&partner| {
                let [was, is] = nodes[partner as usize];
                if was == is { is } else { NOWHERE }
            });
            self.staying.extend(own);
        }
    }
}

/// A node sends to another one than before, if any.
#[inline(never)]
fn replace(load: &mut impl PairLoad, from: NodeId, old: NodeId, new: NodeId) {
    match (old, new) {
        (NOWHERE, to) => load.add(from, to),
        (to, NOWHERE) => load.remove(from, to),
        _ => load.reroute((from, old), (from, new)),
    }
}

#[cfg(test)]
mod tests;
