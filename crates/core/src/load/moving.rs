//! Messages between ranks that move: only those of moved ranks are routed anew.
//!
//! What a message loses and gains is worked out for pairs of an old and a new message, and any pairing gives the same sum. A
//! rank's own old message is one choice. The other is the old message of who stood before where the rank is now: when ranks
//! slide along a line, that one went the same way, but for where the line begins and ends. So of a slide the edges cost
//! time, not all the ranks that moved.

use std::sync::Arc;

use super::{Pair, PairLoad};
use crate::ids::{NodeId, Rank};
use crate::rng::Stream;
use crate::traffic::Traffic;

/// Who sends to whom, by rank.
#[derive(Clone, Debug)]
pub struct Partners {
    ranks: usize,
    targets: Neighbours,
    /// `None`: they are the same ranks as the targets, for each rank.
    sources: Option<Neighbours>,
}

/// Ranks, a row for each rank; [`NOBODY`] where a rank has none of that number.
#[derive(Clone, Debug)]
struct Neighbours {
    first: Vec<u32>,
    ranks: Vec<u32>,
}

impl Partners {
    /// Those of a traffic; sizes do not matter, every message counts as one.
    #[must_use]
    pub fn new(traffic: &Traffic) -> Self {
        let mut sent: Vec<_> =
            traffic.messages.iter().map(|one| (one.source.0, one.target.0)).collect();
        let mut received: Vec<_> = sent.iter().map(|&(source, target)| (target, source)).collect();
        sent.sort_unstable();
        received.sort_unstable();
        let sources = (sent != received).then(|| Neighbours::new(traffic.ranks, &received));
        let ranks = traffic.ranks as usize;
        Partners { ranks, targets: Neighbours::new(traffic.ranks, &sent), sources }
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Ranks that a rank sends to, in order.
    pub fn targets(&self, rank: Rank) -> impl Iterator<Item = Rank> + '_ {
        let row = self.targets.of(rank.index()).iter();
        row.filter(|&&target| target != NOBODY).map(|&target| Rank(target))
    }

    /// The most partners of a rank, as targets or sources.
    fn most(&self) -> usize {
        self.sources.iter().chain([&self.targets]).map(Neighbours::most).max().unwrap_or(0)
    }
}

impl Neighbours {
    /// Distances between partners up to which each has its own number.
    const DISTANCES_MAX: usize = 64;

    /// Rows of ordered pairs.
    fn new(ranks: u32, pairs: &[(u32, u32)]) -> Self {
        let mut first = vec![0u32; ranks as usize + 1];
        pairs.iter().for_each(|(of, _)| first[*of as usize + 1] += 1);
        for rank in 0..ranks as usize {
            first[rank + 1] += first[rank];
        }
        let own = Neighbours { first, ranks: pairs.iter().map(|(_, rank)| *rank).collect() };
        own.by_distance(pairs).unwrap_or(own)
    }

    /// In a regular pattern, partners at the same distance have the same number, also at the edges: they move alike.
    fn by_distance(&self, pairs: &[(u32, u32)]) -> Option<Self> {
        let distance = |(of, rank): (u32, u32)| i64::from(rank) - i64::from(of);
        let mut distances = std::collections::BTreeSet::new();
        for &pair in pairs {
            if distances.insert(distance(pair)) && distances.len() > Self::DISTANCES_MAX {
                return None;
            }
        }
        let distances: Vec<_> = distances.into_iter().collect();
        let (count, rows) = (distances.len(), self.first.len() - 1);
        let mut ranks = vec![NOBODY; count * rows];
        for &pair in pairs {
            let slot =
                pair.0 as usize * count + distances.partition_point(|&one| one < distance(pair));
            if std::mem::replace(&mut ranks[slot], pair.1) != NOBODY {
                // One sends twice to another.
                return None;
            }
        }
        let first = (0..=rows).map(|row| (row * count) as u32).collect();
        Some(Neighbours { first, ranks })
    }

    /// The longest row.
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
    /// By rank: who stood where it is now, [`STAYS`] if it has not moved.
    before_it: Vec<u32>,
    /// By number of a target, then by number of a source.
    kinds: [Vec<Kind>; 2],
}

/// The messages to ranks that stay, of all moved ranks to their partner of one number.
#[derive(Clone, Debug, Default)]
struct Kind {
    /// Whether they are paired by rank.
    by_rank: bool,
    /// Old and new message, to be brought from one to the other.
    rerouted: Vec<(Pair, Pair)>,
}

/// A rank that moves, and whether nobody comes where it was.
#[derive(Clone, Copy)]
struct Moved {
    from: NodeId,
    to: NodeId,
    left_for_good: bool,
}

/// A partner by number, if there is one.
#[inline]
fn at(row: &[u32], number: usize) -> u32 {
    row.get(number).copied().unwrap_or(NOBODY)
}

/// Who is where.
#[derive(Clone, Debug)]
struct Places {
    node_of: Vec<NodeId>,
    /// By node; [`NOBODY`]: no rank.
    rank_on: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;
const STAYS: u32 = u32::MAX - 1;

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
        let kinds = [(), ()].map(|()| vec![Kind::default(); partners.most()]);
        let before_it = vec![STAYS; node_of.len()];
        let before = places.clone();
        let mut made = MovingLoad { partners, load, before, after: places, before_it, kinds };
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
            let from = std::mem::replace(&mut self.after.node_of[rank.index()], to);
            self.after.rank_on[from.index()] = NOBODY;
            self.before_it[rank.index()] = self.before.rank_on[to.index()];
        }
        moved.iter().for_each(|(rank, to)| self.after.rank_on[to.index()] = rank.0);
        let partners = self.partners.clone();
        self.choose_pairing(&partners, moved);
        for &(rank, _) in moved {
            self.reroute(&partners, rank.0);
        }
        for kind in self.kinds.iter_mut().flatten() {
            self.load.reroute_all(&kind.rerouted);
            kind.rerouted.clear();
        }
        for &(rank, to) in moved {
            self.before_it[rank.index()] = STAYS;
            let from = std::mem::replace(&mut self.before.node_of[rank.index()], to);
            for node in [from, to] {
                self.before.rank_on[node.index()] = self.after.rank_on[node.index()];
            }
        }
    }

    /// Finds out, by the one in the middle, how messages to ranks that stay are paired best.
    fn choose_pairing(&mut self, partners: &Partners, moved: &[(Rank, NodeId)]) {
        let middle = moved.get(moved.len() / 2).filter(|_| moved.len() > 1);
        for (sends, kinds) in [true, false].into_iter().zip(&mut self.kinds) {
            kinds.iter_mut().for_each(|kind| kind.by_rank = true);
            let Some(&(rank, to)) = middle else { continue };
            let from = self.before.node_of[rank.index()];
            let sources = partners.sources.as_ref().filter(|_| !sends);
            let row = sources.unwrap_or(&partners.targets).of(rank.index());
            for (kind, &partner) in
                kinds.iter_mut().zip(row).filter(|(_, partner)| **partner != NOBODY)
            {
                let other = self.before.node_of[partner as usize];
                kind.by_rank = self.load.moves_cheaply(from, to, other, sends);
            }
        }
    }

    /// Brings the messages that a moved rank sends, or that ranks which stay send to it, to where they are now.
    fn reroute(&mut self, partners: &Partners, rank: u32) {
        let (to, other) = (self.after.node_of[rank as usize], self.before_it[rank as usize]);
        let from = self.before.node_of[rank as usize];
        let own = Moved { from, to, left_for_good: self.after.rank_on[from.index()] == NOBODY };
        let row = partners.targets.of(rank as usize);
        let before: &[u32] =
            if other == NOBODY { &[] } else { partners.targets.of(other as usize) };
        for number in 0..row.len().max(before.len()) {
            let (new, old) = (at(row, number), at(before, number));
            if new == NOBODY && old == NOBODY {
                continue;
            }
            // Where both ends went the same way, what was there before is there again.
            let same = new != NOBODY && self.before_it[new as usize] == old && old < STAYS;
            if same && !own.left_for_good {
                continue;
            }
            self.reroute_one::<true>(
                own,
                number,
                if same { (NOBODY, NOBODY) } else { (new, old) },
                new,
            );
            if partners.sources.is_none() {
                self.reroute_one::<false>(own, number, (new, old), new);
            }
        }
        let Some(sources) = &partners.sources else { return };
        let row = sources.of(rank as usize);
        let before: &[u32] = if other == NOBODY { &[] } else { sources.of(other as usize) };
        for number in 0..row.len().max(before.len()) {
            let (new, old) = (at(row, number), at(before, number));
            self.reroute_one::<false>(own, number, (new, old), new);
        }
    }

    /// Brings one kind of messages of a moved rank to where they are: `pair.0` is its partner, `pair.1` the partner of who
    /// was there before, if they are to be paired; `partner` is its own.
    #[inline]
    fn reroute_one<const SENDS: bool>(
        &mut self,
        own: Moved,
        number: usize,
        pair: (u32, u32),
        partner: u32,
    ) {
        let MovingLoad { load, before, after, before_it, kinds, .. } = self;
        let kind = &mut kinds[usize::from(!SENDS)][number];
        let message = |own: NodeId, other: NodeId| if SENDS { (own, other) } else { (other, own) };
        let stays = |rank: u32| before_it[rank as usize] == STAYS;
        // Messages between two that move are among those that are sent.
        let by_place =
            |rank: u32| rank != NOBODY && if stays(rank) { !kind.by_rank } else { SENDS };
        let new = by_place(pair.0).then(|| message(own.to, after.node_of[pair.0 as usize]));
        let old = by_place(pair.1).then(|| message(own.to, before.node_of[pair.1 as usize]));
        match (old, new) {
            (Some(old), Some(new)) => kind.rerouted.push((old, new)),
            (Some(old), None) => load.remove(old.0, old.1),
            (None, Some(new)) => load.add(new.0, new.1),
            (None, None) => {}
        }
        if partner == NOBODY {
            return;
        }
        let at = before.node_of[partner as usize];
        if stays(partner) && kind.by_rank {
            kind.rerouted.push((message(own.from, at), message(own.to, at)));
        } else if own.left_for_good && (SENDS || stays(partner)) {
            let (source, target) = message(own.from, at);
            load.remove(source, target);
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
        self.before.copy_from(&state.before);
        self.after.copy_from(&state.before);
    }
}
