//! Who sends to whom.
//!
//! In a regular pattern, partners at the same distance in ranks have the same number, so that what ranks that move together do to
//! their messages is seen number by number.

use crate::ids::Rank;
use crate::traffic::Traffic;

/// Who sends to whom, by rank.
#[derive(Clone, Debug)]
pub struct Partners {
    ranks: usize,
    pub(super) targets: Neighbours,
    /// `None`: they are the same ranks as the targets, for each rank.
    pub(super) sources: Option<Neighbours>,
}

/// Ranks, a row for each rank; the number of ranks where one has none of that number.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// Whether all rows are as long.
    pub regular: bool,
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

    /// Whether numbers of partners mean the same for all ranks.
    pub(super) fn regular(&self) -> bool {
        self.targets.regular && self.sources.as_ref().is_none_or(|sources| sources.regular)
    }

    /// Ranks that a rank sends to, in order.
    pub fn targets(&self, rank: Rank) -> impl Iterator<Item = Rank> + '_ {
        let row = self.targets.of(rank.index()).iter();
        row.filter(|&&target| (target as usize) < self.ranks).map(|&target| Rank(target))
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
        let mut lengths = first.windows(2).map(|ends| ends[1] - ends[0]);
        let regular = lengths.next().is_none_or(|one| lengths.all(|other| one == other));
        let own =
            Neighbours { regular, first, ranks: pairs.iter().map(|(_, rank)| *rank).collect() };
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
        let nobody = rows as u32;
        let mut ranks = vec![nobody; count * rows];
        for &pair in pairs {
            let slot =
                pair.0 as usize * count + distances.partition_point(|&one| one < distance(pair));
            if std::mem::replace(&mut ranks[slot], pair.1) != nobody {
                // One sends twice to another.
                return None;
            }
        }
        let first = (0..=rows).map(|row| (row * count) as u32).collect();
        Some(Neighbours { regular: true, first, ranks })
    }

    /// The partners of a rank, by number.
    #[inline]
    pub(super) fn of(&self, rank: usize) -> &[u32] {
        &self.ranks[self.first[rank] as usize..self.first[rank + 1] as usize]
    }
}
