//! Broadcast: one rank's message to all, down a binomial tree, a round a phase.
//!
//! Ranks count from the root. With `2^k` the smallest power of two that holds all, the root sends to `2^(k-1)`; in every
//! round after that, each rank that has the message sends it half as far. `ceil(log2 n)` rounds, `(n - 1) size` bytes.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
//! 2005: the binomial tree, for short messages.

use super::{Workload, WorkloadError, at_least_two, check_phase, message};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The broadcast workload.
pub struct Bcast;

impl Workload for Bcast {
    fn name(&self) -> &'static str {
        "bcast"
    }

    fn summary(&self) -> &'static str {
        "one rank's message to all down a binomial tree (Thakur et al. 2005)"
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param {
                    name: "size",
                    doc: "bytes of the message",
                    kind: Kind::Int(1, 1 << 40),
                    default: Some("2048"),
                },
                Param {
                    name: "root",
                    doc: "the rank that has it first",
                    kind: Kind::Int(0, u32::MAX as u64),
                    default: Some("0"),
                },
            ]
        }
    }

    fn steady(&self) -> bool {
        false
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("bcast", ranks)?;
        let root = args.count("root");
        if root >= ranks {
            return Err(WorkloadError::Root { root, most: ranks - 1, ranks });
        }
        Ok(u64::from((ranks - 1).ilog2() + 1))
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        let rounds = self.phase_count(ranks, args)?;
        check_phase(index, rounds)?;
        let (size, root) = (Bytes(args.int("size")), args.int("root"));
        let ranks_wide = u64::from(ranks);
        let rank = |from_root: u64| ((from_root + root) % ranks_wide) as u32;
        let distance = 1u64 << (rounds - 1 - index);
        let holders = (0..ranks_wide).step_by(2 * distance as usize);
        let messages = holders
            .filter(|holder| holder + distance < ranks_wide)
            .map(|holder| message(rank(holder), rank(holder + distance), size))
            .collect();
        Ok(Traffic { ranks, messages })
    }
}
