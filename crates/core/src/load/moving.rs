//! Messages between ranks that move: only those of moved ranks are routed anew.
//!
//! What a message loses and gains is worked out for pairs of an old and a new message, and any pairing gives the same sum. A
//! rank's own old message is one choice. The other is the old message of who stood before where the rank is now: when ranks
//! slide along a line, that one went the same way, but for where the line begins and ends. So of a slide the edges cost
//! time, not all the ranks that moved.

use std::sync::Arc;

use super::PairLoad;
use crate::ids::{NodeId, Rank};
use crate::traffic::Traffic;

/// Who sends to whom, by rank.
#[derive(Clone, Debug)]
pub struct Partners {
    targets: Neighbours,
    sources: Neighbours,
}

/// Ranks, a row for each rank, in order.
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
        let reverse = pairs().map(|(source, target)| (target, source));
        Partners {
            targets: Neighbours::new(traffic.ranks, pairs()),
            sources: Neighbours::new(traffic.ranks, reverse),
        }
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.targets.first.len() - 1
    }

    /// Ranks that a rank sends to, in order.
    #[must_use]
    pub fn targets(&self, rank: Rank) -> &[u32] {
        self.targets.of(rank.index())
    }

    /// Ranks that send to a rank, in order.
    #[must_use]
    pub fn sources(&self, rank: Rank) -> &[u32] {
        self.sources.of(rank.index())
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
        for rank in 0..ranks as usize {
            found[first[rank] as usize..first[rank + 1] as usize].sort_unstable();
        }
        Neighbours { first, ranks: found }
    }

    /// The most that a rank has.
    fn most(&self) -> usize {
        let rows = self.first.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        rows.max().unwrap_or(0)
    }

    #[inline]
    fn of(&self, rank: usize) -> &[u32] {
        &self.ranks[self.first[rank] as usize..self.first[rank + 1] as usize]
    }
}

/// Ranks on nodes, and the messages between them on the channels.
#[derive(Clone, Debug)]
pub struct MovingLoad<L> {
    partners: Arc<Partners>,
    load: L,
    /// Where messages are counted, and where they are to be.
    before: Places,
    after: Places,
    /// By number of a target, and of a source: whether its messages are paired by rank.
    by_rank: [Vec<bool>; 2],
}

/// Who is where.
#[derive(Clone, Debug)]
struct Places {
    node_of: Vec<NodeId>,
    /// By node; [`NOBODY`]: no rank.
    rank_on: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

impl Places {
    fn copy_from(&mut self, other: &Self) {
        self.node_of.copy_from_slice(&other.node_of);
        self.rank_on.copy_from_slice(&other.rank_on);
    }
}

impl<L: PairLoad> MovingLoad<L> {
    /// All messages, with ranks where they are among `nodes` nodes.
    ///
    /// # Panics
    /// If there are not as many ranks as the messages are for.
    #[must_use]
    pub fn new(partners: Arc<Partners>, load: L, node_of: &[NodeId], nodes: usize) -> Self {
        assert_eq!(partners.ranks(), node_of.len(), "ranks of messages and of nodes");
        let mut rank_on = vec![NOBODY; nodes];
        for (rank, node) in node_of.iter().enumerate() {
            rank_on[node.index()] = rank as u32;
        }
        let places = Places { node_of: node_of.to_vec(), rank_on };
        let by_rank = [&partners.targets, &partners.sources].map(|of| vec![true; of.most()]);
        let mut made =
            MovingLoad { partners, load, before: places.clone(), after: places, by_rank };
        for rank in 0..node_of.len() {
            for &target in made.partners.targets.of(rank) {
                made.load.add(node_of[rank], node_of[target as usize]);
            }
        }
        made
    }

    /// Ranks have moved, each to the node it is on now; no rank is named twice.
    pub fn relocate(&mut self, moved: &[(Rank, NodeId)]) {
        for &(rank, to) in moved {
            let from = std::mem::replace(&mut self.after.node_of[rank.index()], to);
            self.after.rank_on[from.index()] = NOBODY;
        }
        moved.iter().for_each(|(rank, to)| self.after.rank_on[to.index()] = rank.0);
        self.choose_pairing(moved);
        for &(rank, _) in moved {
            self.reroute::<true>(rank.0);
            self.reroute::<false>(rank.0);
        }
        for &(rank, to) in moved {
            let from = std::mem::replace(&mut self.before.node_of[rank.index()], to);
            for node in [from, to] {
                self.before.rank_on[node.index()] = self.after.rank_on[node.index()];
            }
        }
    }

    /// Finds out, by the one in the middle, how messages to ranks that stay are paired best.
    fn choose_pairing(&mut self, moved: &[(Rank, NodeId)]) {
        let middle = moved.get(moved.len() / 2).filter(|_| moved.len() > 1);
        for (sends, by_rank) in [true, false].into_iter().zip(&mut self.by_rank) {
            by_rank.fill(true);
            let Some(&(rank, to)) = middle else { continue };
            let from = self.before.node_of[rank.index()];
            let partners = if sends { &self.partners.targets } else { &self.partners.sources };
            for (by_rank, &partner) in by_rank.iter_mut().zip(partners.of(rank.index())) {
                let other = self.before.node_of[partner as usize];
                *by_rank = self.load.moves_cheaply(from, to, other, sends);
            }
        }
    }

    /// Brings the messages that a moved rank sends, or that ranks which stay send to it, to where they are now.
    #[inline]
    fn reroute<const SENDS: bool>(&mut self, rank: u32) {
        let MovingLoad { partners, load, before, after, by_rank } = self;
        let partners = if SENDS { &partners.targets } else { &partners.sources };
        let by_rank = &by_rank[usize::from(!SENDS)];
        let pair = |own: NodeId, other: NodeId| if SENDS { (own, other) } else { (other, own) };
        let stays = |rank: u32| before.node_of[rank as usize] == after.node_of[rank as usize];
        // Messages between two that move are among those that are sent.
        let counts = |other: u32| SENDS || stays(other);
        let by_place =
            |number: usize, other: u32| counts(other) && !(by_rank[number] && stays(other));
        let (from, to) = (before.node_of[rank as usize], after.node_of[rank as usize]);
        let own = partners.of(rank as usize);
        // Who stood before where it is now.
        let before_it = before.rank_on[to.index()];
        let of_before: &[u32] =
            if before_it == NOBODY { &[] } else { partners.of(before_it as usize) };
        let left_for_good = after.rank_on[from.index()] == NOBODY;
        for number in 0..own.len().max(of_before.len()) {
            let new = own.get(number).filter(|&&other| by_place(number, other));
            let old = of_before.get(number).filter(|&&other| by_place(number, other));
            let new = new.map(|&other| pair(to, after.node_of[other as usize]));
            let old = old.map(|&other| pair(to, before.node_of[other as usize]));
            match (old, new) {
                (Some(old), Some(new)) if old == new => {}
                (Some(old), Some(new)) => load.reroute(old, new),
                (Some(old), None) => load.remove(old.0, old.1),
                (None, Some(new)) => load.add(new.0, new.1),
                (None, None) => {}
            }
        }
        for (number, &other) in own.iter().enumerate() {
            let at = before.node_of[other as usize];
            if stays(other) && by_rank[number] {
                load.reroute(pair(from, at), pair(to, at));
            } else if left_for_good && counts(other) {
                load.remove(pair(from, at).0, pair(from, at).1);
            }
        }
    }

    /// The largest collision.
    #[inline]
    pub fn collision_max(&mut self) -> u32 {
        self.load.collision_max()
    }

    /// The load, as it is now.
    pub fn load(&self) -> &L {
        &self.load
    }

    /// Goes back to a state kept before, of the same partners.
    pub fn restore(&mut self, state: &Self) {
        self.load.restore(&state.load);
        self.before.copy_from(&state.before);
        self.after.copy_from(&state.before);
    }
}
