//! All-to-all: every rank sends a block of its own to every other, by pairwise exchange, a round a phase.
//!
//! In round `k` of `n - 1` rank `r` exchanges with `r xor k` if `n` is a power of two, else it sends to `(r + k) mod n` and
//! receives from `(r - k) mod n`. Every message is one block: `n (n - 1) size` bytes in all.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
//! 2005: pairwise exchange, for long messages.

use super::{SIZE, Workload, WorkloadError, at_least_two, check_phase, message};
use crate::params::{Args, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The all-to-all workload.
pub struct Alltoall;

impl Workload for Alltoall {
    fn name(&self) -> &'static str {
        "alltoall"
    }

    fn summary(&self) -> &'static str {
        "a block to every other rank by pairwise exchange (Thakur et al. 2005)"
    }

    fn params(&self) -> &'static [Param] {
        const { &[SIZE] }
    }

    fn steady(&self) -> bool {
        false
    }

    fn phase_count(&self, ranks: u32, _args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("alltoall", ranks)?;
        Ok(u64::from(ranks) - 1)
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        check_phase(index, self.phase_count(ranks, args)?)?;
        let size = Bytes(args.int(SIZE.name));
        // Fits: there are fewer rounds than ranks.
        let round = index as u32 + 1;
        let target = |source: u32| {
            if ranks.is_power_of_two() {
                source ^ round
            } else {
                ((u64::from(source) + u64::from(round)) % u64::from(ranks)) as u32
            }
        };
        let messages = (0..ranks).map(|source| message(source, target(source), size)).collect();
        Ok(Traffic { ranks, messages })
    }
}
