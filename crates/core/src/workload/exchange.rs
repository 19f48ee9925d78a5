//! Exchange: every pair of ranks, closest neighbours first.
//!
//! In a phase every rank sends to the one `s` further on (around the end); shifts go +1, -1, +2, -2, ... up to half
//! the ranks. With an even number of ranks `+n/2` and `-n/2` are the same pairs and come once, so that all phases
//! together are the `n (n - 1)` messages of the study's throughput formula, each ordered pair once. One shift alone
//! is its two directions.
//!
//! Source: Domke, Hoefler, Matsuoka, SC14: "send first to closest neighbors (w/ shift s = +-1), in-/decrements the
//! shift distance up to +-|#HCA|/2"; message size 1 or 10 MTU.
//! In the paper every rank starts its next message when it has sent the last one, and so it does in the flit simulation; the
//! congestion model departs from it: its phases follow each other.

use super::{SIZE, Workload, WorkloadError, at_least_two, check_phase, message};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The exchange workload.
pub struct Exchange;

impl Workload for Exchange {
    fn name(&self) -> &'static str {
        "exchange"
    }

    fn summary(&self) -> &'static str {
        "every pair once, in shifts from the closest neighbours on (Domke et al. 2014)"
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                SIZE,
                Param {
                    name: "shift",
                    doc: "`s`: all, or one distance, both ways",
                    kind: Kind::Text,
                    default: Some("all"),
                },
            ]
        }
    }

    fn steady(&self) -> bool {
        false
    }

    fn free_running(&self) -> bool {
        // "Every rank starts its next message when it has sent the last one."
        true
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        let (_, count) = phases(ranks, args)?;
        Ok(count)
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        let (first, count) = phases(ranks, args)?;
        check_phase(index, count)?;
        let size = Bytes(args.int(SIZE.name));
        let index = first + index;
        // Fits: there are fewer phases than ranks.
        let distance = index as u32 / 2 + 1;
        let step = if index.is_multiple_of(2) { distance } else { ranks - distance };
        let target =
            |source: u32| ((u64::from(source) + u64::from(step)) % u64::from(ranks)) as u32;
        let messages = (0..ranks).map(|source| message(source, target(source), size)).collect();
        Ok(Traffic { ranks, messages })
    }
}

/// The first phase (counted as if all were wanted) and how many are.
fn phases(ranks: u32, args: &Args) -> Result<(u64, u64), WorkloadError> {
    at_least_two("exchange", ranks)?;
    let given = args.text("shift");
    if given == "all" {
        return Ok((0, u64::from(ranks) - 1));
    }
    let most = ranks / 2;
    match given.parse::<u32>() {
        Ok(shift) if (1..=most).contains(&shift) => {
            let ways = if u64::from(shift) * 2 == u64::from(ranks) { 1 } else { 2 };
            Ok((u64::from(shift - 1) * 2, ways))
        }
        _ => Err(WorkloadError::Shift { given: given.to_owned(), most, ranks }),
    }
}
