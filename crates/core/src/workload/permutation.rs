//! Permutation: every rank sends to one other, and receives from one other, for ever.
//!
//! Permutations are uniformly random among those without fixed points: random orders are drawn until one has none,
//! which is nearly every third. Phase `i` is the i-th sample.

use super::{SAMPLES, SIZE, Workload, WorkloadError, at_least_two, check_phase, message};
use crate::params::{Args, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The permutation workload.
pub struct Permutation;

impl Workload for Permutation {
    fn name(&self) -> &'static str {
        "permutation"
    }

    fn summary(&self) -> &'static str {
        "every rank to one other and from one other, at random, without end"
    }

    fn params(&self) -> &'static [Param] {
        const { &[SAMPLES, SIZE] }
    }

    fn steady(&self) -> bool {
        true
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("permutation", ranks)?;
        Ok(args.int(SAMPLES.name))
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        check_phase(index, self.phase_count(ranks, args)?)?;
        let size = Bytes(args.int(SIZE.name));
        let mut stream = seed.stream("workload.permutation", index);
        let mut targets: Vec<u32> = (0..ranks).collect();
        loop {
            stream.shuffle(&mut targets);
            if (0..ranks).zip(&targets).all(|(source, &target)| source != target) {
                break;
            }
        }
        let pairs = (0..ranks).zip(targets);
        let messages = pairs.map(|(source, target)| message(source, target, size)).collect();
        Ok(Traffic { ranks, messages })
    }
}
