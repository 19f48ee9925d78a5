//! All-reduce: the sum of everybody's vector of `size` bytes to everybody, a round a phase.
//!
//! - *ring*: the vector in `n` blocks. In round `s` of the first `n - 1` rank `r` sends its partial sum of block `r - s` to
//!   `r + 1`, which adds it; then the finished blocks go around the same way. `2 (n - 1)` rounds, `2 (n - 1) size` bytes.
//! - *recursive-doubling*: in round `k` ranks that differ in bit `k` exchange their whole vectors. Among `p` ranks, a power
//!   of two, `log2 p` rounds and `p log2(p) size` bytes.
//! - *halving-doubling* (Rabenseifner): a reduce-scatter in which partners at distance 1, 2, 4, ... exchange half of what
//!   they still hold, then an all-gather back through the same partners, doubling. Among `p` ranks, a power of two,
//!   `2 log2 p` rounds and `2 (p - 1) size` bytes.
//!
//! The last two fold other numbers of ranks onto the largest power of two `p` within, in a round before and one after: each
//! of the `n - p` pairs adds `2 size` bytes. A vector that blocks do not divide has longer ones first; blocks may be empty,
//! and are sent nevertheless.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
//! 2005; for the ring also Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC
//! 69(2), 2009.
//! Departs from it: halving-doubling folds whole vectors, not halves; adding takes no time.

use std::ops::Range;

use super::power_of_two::{Folded, Round};
use super::{Workload, WorkloadError, at_least_two, check_phase, message};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The all-reduce workload.
pub struct Allreduce;

impl Workload for Allreduce {
    fn name(&self) -> &'static str {
        "allreduce"
    }

    fn summary(&self) -> &'static str {
        "the sum of all vectors to all: ring, recursive doubling, halving-doubling (Thakur et al. \
         2005)"
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param {
                    name: "algorithm",
                    doc: "who sends which blocks",
                    kind: Kind::Choice(&["ring", "recursive-doubling", "halving-doubling"]),
                    default: Some("ring"),
                },
                Param {
                    name: "size",
                    doc: "bytes of the vector of each rank",
                    kind: Kind::Int(1, 1 << 40),
                    default: Some("1048576"),
                },
            ]
        }
    }

    fn steady(&self) -> bool {
        false
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("allreduce", ranks)?;
        Ok(Plan::new(ranks, args).round_count())
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        check_phase(index, self.phase_count(ranks, args)?)?;
        let plan = Plan::new(ranks, args);
        let size = args.int("size");
        let count = u64::from(plan.block_count());
        let start = |block: u32| block as u64 * (size / count) + (block as u64).min(size % count);
        let (_, steps) = plan.round(index);
        let messages = steps.into_iter().map(|step| {
            let bytes = start(step.blocks.end) - start(step.blocks.start);
            message(step.source, step.target, Bytes(bytes))
        });
        Ok(Traffic { ranks, messages: messages.collect() })
    }
}

/// One message, and the blocks of the vector that it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub source: u32,
    pub target: u32,
    pub blocks: Range<u32>,
}

/// What the receiver does with blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Adds them to its own.
    Add,
    /// Puts them in place of its own.
    Keep,
}

/// An algorithm among so many ranks.
pub(super) enum Plan {
    Ring(u32),
    RecursiveDoubling(Folded),
    HalvingDoubling(Folded),
}

impl Plan {
    pub fn new(ranks: u32, args: &Args) -> Self {
        match args.text("algorithm") {
            "ring" => Plan::Ring(ranks),
            "recursive-doubling" => Plan::RecursiveDoubling(Folded::new(ranks)),
            _ => Plan::HalvingDoubling(Folded::new(ranks)),
        }
    }

    /// Blocks that the vector is cut into.
    pub fn block_count(&self) -> u32 {
        match self {
            Plan::Ring(ranks) => *ranks,
            Plan::RecursiveDoubling(_) => 1,
            Plan::HalvingDoubling(folded) => folded.core_count(),
        }
    }

    pub fn round_count(&self) -> u64 {
        match self {
            Plan::Ring(ranks) => 2 * (u64::from(*ranks) - 1),
            Plan::RecursiveDoubling(folded) => folded.round_count(folded.halvings),
            Plan::HalvingDoubling(folded) => folded.round_count(2 * folded.halvings),
        }
    }

    /// The messages of round `index`, and what becomes of them.
    pub fn round(&self, index: u64) -> (Use, Vec<Step>) {
        let step = |source, target, blocks| Step { source, target, blocks };
        let whole = 0..self.block_count();
        let folding = |folded: &Folded, is_in: bool| {
            let steps = folded.pairs().map(|(outer, inner)| match is_in {
                true => step(outer, inner, whole.clone()),
                false => step(inner, outer, whole.clone()),
            });
            (if is_in { Use::Add } else { Use::Keep }, steps.collect())
        };
        match self {
            Plan::Ring(ranks) => ring_round(*ranks, index),
            Plan::RecursiveDoubling(folded) => match folded.round(index, folded.halvings) {
                Round::FoldIn => folding(folded, true),
                Round::FoldOut => folding(folded, false),
                Round::Core(round) => {
                    let exchange = |(source, target)| step(source, target, whole.clone());
                    (Use::Add, folded.partners(round).map(exchange).collect())
                }
            },
            Plan::HalvingDoubling(folded) => match folded.round(index, 2 * folded.halvings) {
                Round::FoldIn => folding(folded, true),
                Round::FoldOut => folding(folded, false),
                Round::Core(round) => halving_doubling_round(*folded, round),
            },
        }
    }
}

fn ring_round(ranks: u32, index: u64) -> (Use, Vec<Step>) {
    let (n, rounds) = (u64::from(ranks), u64::from(ranks) - 1);
    // In the second half the block that a rank finished, the one after its own number, starts.
    let (then, ahead) =
        if index < rounds { (Use::Add, n - index) } else { (Use::Keep, 2 * n - index) };
    let steps = (0..n).map(|source| {
        let block = ((source + ahead) % n) as u32;
        let target = ((source + 1) % n) as u32;
        Step { source: source as u32, target, blocks: block..block + 1 }
    });
    (then, steps.collect())
}

fn halving_doubling_round(folded: Folded, round: u32) -> (Use, Vec<Step>) {
    let scatters = round < folded.halvings;
    let bit = if scatters { round } else { 2 * folded.halvings - 1 - round };
    // Blocks that a rank answers for once it has halved `times` times.
    let held = |core: u32, times: u32| {
        let (mut low, mut count) = (0, folded.core_count());
        for bit in 0..times {
            count /= 2;
            low += if core >> bit & 1 == 1 { count } else { 0 };
        }
        low..low + count
    };
    let steps = (0..folded.core_count()).map(|core| {
        let partner = core ^ (1 << bit);
        let blocks = held(if scatters { partner } else { core }, bit + 1);
        Step { source: folded.rank(core), target: folded.rank(partner), blocks }
    });
    (if scatters { Use::Add } else { Use::Keep }, steps.collect())
}
