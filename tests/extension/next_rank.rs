//! Next rank: every rank sends to the next, without end.

use super::{SIZE, Workload, WorkloadError, at_least_two, message};
use crate::params::{Args, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The next-rank workload.
pub struct NextRank;

impl Workload for NextRank {
    fn name(&self) -> &'static str {
        "next-rank"
    }

    fn summary(&self) -> &'static str {
        "every rank to the next"
    }

    fn params(&self) -> &'static [Param] {
        const { &[SIZE] }
    }

    fn steady(&self) -> bool {
        true
    }

    fn phase_count(&self, ranks: u32, _args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("next-rank", ranks)?;
        Ok(1)
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        _index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        let size = Bytes(args.int(SIZE.name));
        let messages = (0..ranks).map(|rank| message(rank, (rank + 1) % ranks, size)).collect();
        Ok(Traffic { ranks, messages })
    }
}
