//! Bisection: two random halves of the ranks, matched at random, each pair sending both ways, for ever.
//!
//! The rate that arrives estimates the effective bisection bandwidth. With an odd number of ranks one stays idle.
//! Phase `i` is the i-th sample.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage Switches are not Crossbars", Cluster 2008.

use super::{SAMPLES, SIZE, Workload, WorkloadError, at_least_two, check_phase, message};
use crate::params::{Args, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The bisection workload.
pub struct Bisection;

impl Workload for Bisection {
    fn name(&self) -> &'static str {
        "bisection"
    }

    fn summary(&self) -> &'static str {
        "random pairs between two random halves, both ways, without end (Hoefler et al. 2008)"
    }

    fn params(&self) -> &'static [Param] {
        const { &[SAMPLES, SIZE] }
    }

    fn steady(&self) -> bool {
        true
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("bisection", ranks)?;
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
        let mut order: Vec<u32> = (0..ranks).collect();
        seed.stream("workload.bisection", index).shuffle(&mut order);
        let (left, right) = order.split_at(ranks as usize / 2);
        let pairs = left.iter().zip(right);
        let messages = pairs.flat_map(|(&a, &b)| [message(a, b, size), message(b, a, size)]);
        Ok(Traffic { ranks, messages: messages.collect() })
    }
}
