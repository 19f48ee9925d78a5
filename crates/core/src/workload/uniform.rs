//! Uniform random injection: every rank sends to every other one at equal shares, for ever.
//!
//! One phase with all `n (n - 1)` ordered pairs, by sender, then receiver. A simulator that injects packet by packet
//! draws its receivers from them; one that works with rates gives every pair the same share.
//!
//! Source: Domke, Hoefler, Matsuoka, SC14: "infinite traffic generation (message size: 1 MTU)".
//! Limits: every pair is held, with its path, so up to 8,192 ranks.

use super::{
    Draw, MOST_MESSAGES, SIZE, Workload, WorkloadError, at_least_two, check_phase, message,
};
use crate::params::{Args, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The uniform workload.
pub struct Uniform;

impl Workload for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn summary(&self) -> &'static str {
        "every rank to every other at equal shares, without end (Domke et al. 2014)"
    }

    fn params(&self) -> &'static [Param] {
        const { &[SIZE] }
    }

    fn steady(&self) -> bool {
        true
    }

    fn random_targets(&self, args: &Args) -> Option<Draw> {
        Some(Draw { size: Bytes(args.int(SIZE.name)), hot: 0, share: 0.0 })
    }

    fn phase_count(&self, ranks: u32, _args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("uniform", ranks)?;
        let messages = u64::from(ranks) * u64::from(ranks - 1);
        if messages > MOST_MESSAGES {
            return Err(WorkloadError::TooManyMessages { ranks, messages, most: MOST_MESSAGES });
        }
        Ok(1)
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
        let mut messages = Vec::with_capacity(ranks as usize * (ranks as usize - 1));
        for source in 0..ranks {
            let targets = (0..ranks).filter(|&target| target != source);
            messages.extend(targets.map(|target| message(source, target, size)));
        }
        Ok(Traffic { ranks, messages })
    }
}
