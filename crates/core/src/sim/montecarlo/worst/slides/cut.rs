//! One channel of a mesh: who sends over it, and how many more may.

use super::places::{NOBODY, Nodes, Places};
use crate::grid::Grid;
use crate::ids::{NodeId, Rank};
use crate::load::Partners;

/// Who sends to whom, by rank.
#[derive(Debug)]
pub(super) struct Pattern {
    targets: Vec<Vec<u32>>,
    sources: Vec<Vec<u32>>,
    /// By ranks that come to the far side, then to the near side: the most messages between them.
    pub between: Vec<Vec<u32>>,
}

impl Pattern {
    pub fn new(partners: &Partners, failures: usize) -> Self {
        let ranks = partners.ranks();
        let (mut targets, mut sources) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for rank in 0..ranks as u32 {
            for target in partners.targets(Rank(rank)).filter(|target| target.0 != rank) {
                targets[rank as usize].push(target.0);
                sources[target.index()].push(rank);
            }
        }
        let degree = targets.iter().chain(&sources).map(Vec::len).max().unwrap_or(0);
        let shared = shared(&targets, &sources).max(shared(&sources, &targets));
        let row = |i| (0..=failures).map(|j| most_between(i, j, degree, shared)).collect();
        Pattern { between: (0..=failures).map(row).collect(), targets, sources }
    }
}

/// The most partners that two ranks share.
fn shared(targets: &[Vec<u32>], sources: &[Vec<u32>]) -> usize {
    let mut most = 0;
    let mut count = vec![0; targets.len()];
    for rank in 0..targets.len() {
        count.fill(0);
        for other in targets[rank].iter().flat_map(|&target| &sources[target as usize]) {
            if *other as usize != rank {
                count[*other as usize] += 1;
                most = most.max(count[*other as usize]);
            }
        }
    }
    most
}

/// The most messages between `i` and `j` ranks that have at most `degree` partners, any two at most `shared` in common.
///
/// Pairs of partners on the other side: a rank with `d` of them has `d (d - 1) / 2`, and each pair is counted at most
/// `shared` times.
fn most_between(i: usize, j: usize, degree: usize, shared: usize) -> u32 {
    let one_way = |many: usize, few: usize| {
        let mut pairs = shared * few * few.saturating_sub(1) / 2;
        let mut messages = 0;
        // Each gets its first, then its second partner, which costs one pair, and so on.
        for cost in 0..degree.min(few) {
            let more = if cost == 0 { many } else { many.min(pairs / cost) };
            pairs -= more * cost;
            messages += more;
        }
        messages
    };
    one_way(i, j).min(one_way(j, i)) as u32
}

/// A channel in a round. A message crosses it if its sender is in one set of nodes and its receiver in another.
#[derive(Debug)]
pub(super) struct Cut {
    pub round: usize,
    /// The smaller and the larger of the two sets.
    near: Nodes,
    far: Nodes,
    near_nodes: Vec<usize>,
    /// Whether the near ones send.
    near_sends: bool,
}

impl Cut {
    /// All channels of a mesh under dimension-order routing.
    ///
    /// A message turns from one dimension to the next where its receiver is. So on a channel along a dimension it comes from a
    /// sender with the same higher coordinates, before the channel, and goes to a receiver with the same lower ones, behind it.
    pub fn all(grid: &Grid, rounds: usize) -> Vec<Cut> {
        let count = grid.node_count();
        let mut found = Vec::new();
        for node in (0..count).map(NodeId::from_index) {
            for dimension in 0..grid.dimensions() {
                let own: Vec<u32> = grid.coordinates(node).collect();
                if own[dimension] + 1 == grid.lengths()[dimension] {
                    continue;
                }
                for up in [true, false] {
                    let (mut senders, mut receivers) = (Nodes::none(count), Nodes::none(count));
                    for other in (0..count).map(NodeId::from_index) {
                        let same = |dimension| grid.coordinate(other, dimension) == own[dimension];
                        let before = (grid.coordinate(other, dimension) <= own[dimension]) == up;
                        if before && (dimension + 1..own.len()).all(same) {
                            senders.insert(other.index());
                        }
                        if !before && (0..dimension).all(same) {
                            receivers.insert(other.index());
                        }
                    }
                    found.extend((0..rounds).map(|round| Cut::new(round, &senders, &receivers)));
                }
            }
        }
        found
    }

    fn new(round: usize, senders: &Nodes, receivers: &Nodes) -> Self {
        let near_sends = senders.count() <= receivers.count();
        let (near, far) = if near_sends { (senders, receivers) } else { (receivers, senders) };
        let near_nodes = near.without(far).collect();
        Cut { round, near: near.clone(), far: far.clone(), near_nodes, near_sends }
    }

    /// Messages that cross it.
    pub fn load(&self, pattern: &Pattern, places: &Places) -> u32 {
        let out = if self.near_sends { &pattern.targets } else { &pattern.sources };
        let ranks = self.near_nodes.iter().map(|&node| places.rank_on[node]);
        let crosses = |rank: u32| {
            let row = out[rank as usize].iter();
            row.filter(|&&other| self.far.holds(places.node_of[other as usize] as usize)).count()
        };
        ranks.filter(|&rank| rank != NOBODY).map(crosses).sum::<usize>() as u32
    }

    /// Messages that may cross it after so many slides, at most; `None` if they are fewer than `wanted` for sure.
    pub fn bound(
        &self,
        pattern: &Pattern,
        places: &Places,
        slides: usize,
        wanted: u32,
        scratch: &mut Scratch,
    ) -> Option<u32> {
        let load = self.load(pattern, places);
        if slides == 0 {
            return (load >= wanted).then_some(load);
        }
        let (out, back) = if self.near_sends {
            (&pattern.targets, &pattern.sources)
        } else {
            (&pattern.sources, &pattern.targets)
        };
        // Who may come to the near side: all partners on the far side count.
        scratch.near.clear();
        places.from_where(&self.near, slides, &mut scratch.nodes);
        for node in scratch.nodes.without(&self.near) {
            let rank = places.rank_on[node];
            if rank == NOBODY {
                continue;
            }
            let row = out[rank as usize].iter();
            let held = |other: &&u32| self.far.holds(places.node_of[**other as usize] as usize);
            let count = row.filter(held).count() as u32;
            if count > 0 {
                scratch.near.push(count);
            }
        }
        // Who may come to the far side, of the partners of those on the near side.
        scratch.far.clear();
        scratch.asked.clear();
        places.from_where(&self.far, slides, &mut scratch.nodes);
        for &node in &self.near_nodes {
            let rank = places.rank_on[node];
            if rank != NOBODY {
                scratch.asked.extend_from_slice(&out[rank as usize]);
            }
        }
        scratch.asked.sort_unstable();
        scratch.asked.dedup();
        for &rank in &scratch.asked {
            let node = places.node_of[rank as usize] as usize;
            if !self.far.holds(node) && scratch.nodes.holds(node) {
                let row = back[rank as usize].iter();
                let held = |other: &&u32| self.near.holds(places.node_of[**other as usize] as usize);
                scratch.far.push(row.filter(held).count() as u32);
            }
        }
        scratch.near.sort_unstable_by(|one, other| other.cmp(one));
        scratch.far.sort_unstable_by(|one, other| other.cmp(one));
        let sum = |values: &[u32], count: usize| values.iter().take(count).sum::<u32>();
        let with = |far: usize| {
            let near = slides - far;
            sum(&scratch.far, far) + sum(&scratch.near, near) + pattern.between[far][near]
        };
        let more = (0..=slides).map(with).max().unwrap_or(0);
        (load + more >= wanted).then_some(load + more)
    }
}

/// Room for bounds.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    nodes: Nodes,
    near: Vec<u32>,
    far: Vec<u32>,
    asked: Vec<u32>,
}
