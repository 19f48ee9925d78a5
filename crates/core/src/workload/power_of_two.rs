//! Folding any number of ranks onto a power of two, which recursive doubling and halving need.
//!
//! Of `n` ranks, `2^k` the largest power of two within, the first `2 (n - 2^k)` make pairs; in a round before the others the
//! even one of a pair hands what it has to the odd one, its stand-in, and in a round after them gets the result back.
//! Stand-ins and ranks without a pair are the *core*, numbered in order.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
//! 2005, for the pairs; whole vectors are handed over, as MPICH does.

/// Ranks folded onto a power of two.
#[derive(Clone, Copy)]
pub(super) struct Folded {
    ranks: u32,
    /// How often the core can be halved.
    pub halvings: u32,
}

/// One round of an algorithm on folded ranks.
pub(super) enum Round {
    /// Even ones of pairs hand over.
    FoldIn,
    /// A round of the core.
    Core(u32),
    /// Even ones of pairs get the result.
    FoldOut,
}

impl Folded {
    /// Folds `ranks`, at least 1.
    pub fn new(ranks: u32) -> Self {
        Folded { ranks, halvings: ranks.ilog2() }
    }

    /// Number of ranks of the core.
    pub fn core_count(self) -> u32 {
        1 << self.halvings
    }

    /// The rank that is number `core` of the core.
    pub fn rank(self, core: u32) -> u32 {
        let pairs = self.pair_count();
        if core < pairs { 2 * core + 1 } else { core + pairs }
    }

    /// Pairs of a rank outside the core and its stand-in.
    pub fn pairs(self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.pair_count()).map(|pair| (2 * pair, 2 * pair + 1))
    }

    /// Rounds in all, if the core has `core_rounds`.
    pub fn round_count(self, core_rounds: u32) -> u64 {
        u64::from(core_rounds) + if self.pair_count() > 0 { 2 } else { 0 }
    }

    /// What round `index` of them is.
    pub fn round(self, index: u64, core_rounds: u32) -> Round {
        let before = u64::from(self.pair_count() > 0);
        match index.checked_sub(before) {
            None => Round::FoldIn,
            Some(core) if core < u64::from(core_rounds) => Round::Core(core as u32),
            Some(_) => Round::FoldOut,
        }
    }

    /// Every rank of the core and the partner that differs in bit `bit` of the core's number.
    pub fn partners(self, bit: u32) -> impl Iterator<Item = (u32, u32)> {
        (0..self.core_count()).map(move |core| (self.rank(core), self.rank(core ^ (1 << bit))))
    }

    fn pair_count(self) -> u32 {
        self.ranks - self.core_count()
    }
}
