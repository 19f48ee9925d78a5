//! Barrier: nobody leaves before everybody has come; small messages, a round a phase.
//!
//! - *dissemination*: in round `k` rank `r` sends to `(r + 2^k) mod n`; `ceil(log2 n)` rounds, `n` messages each.
//! - *recursive-doubling*: in round `k` ranks whose numbers differ in bit `k` send to each other; `log2 n` rounds among a
//!   power of two, others are folded in by a round before and one after.
//!
//! Source: Hensgen, Finkel, Manber, "Two Algorithms for Barrier Synchronization", International Journal of Parallel
//! Programming 17(1), 1988, for dissemination; the butterfly of Brooks (same journal, 15(4), 1986) for recursive doubling.

use super::power_of_two::{Folded, Round};
use super::{Workload, WorkloadError, at_least_two, check_phase, message};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The barrier workload.
pub struct Barrier;

impl Workload for Barrier {
    fn name(&self) -> &'static str {
        "barrier"
    }

    fn summary(&self) -> &'static str {
        "a barrier by dissemination (Hensgen et al. 1988) or recursive doubling"
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param {
                    name: "algorithm",
                    doc: "how ranks learn of each other",
                    kind: Kind::Choice(&["dissemination", "recursive-doubling"]),
                    default: Some("dissemination"),
                },
                Param {
                    name: "size",
                    doc: "payload of a message in bytes",
                    kind: Kind::Int(1, 1 << 40),
                    default: Some("1"),
                },
            ]
        }
    }

    fn steady(&self) -> bool {
        false
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("barrier", ranks)?;
        let folded = Folded::new(ranks);
        Ok(match args.text("algorithm") {
            "dissemination" => u64::from((ranks - 1).ilog2() + 1),
            _ => folded.round_count(folded.halvings),
        })
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        check_phase(index, self.phase_count(ranks, args)?)?;
        let size = Bytes(args.int("size"));
        let send = |(source, target)| message(source, target, size);
        if args.text("algorithm") == "dissemination" {
            let further = |source| ((u64::from(source) + (1 << index)) % u64::from(ranks)) as u32;
            let messages = (0..ranks).map(|source| send((source, further(source)))).collect();
            return Ok(Traffic { ranks, messages });
        }
        let folded = Folded::new(ranks);
        let messages = match folded.round(index, folded.halvings) {
            Round::FoldIn => folded.pairs().map(send).collect(),
            Round::Core(round) => folded.partners(round).map(send).collect(),
            Round::FoldOut => folded.pairs().map(|(outer, inner)| send((inner, outer))).collect(),
        };
        Ok(Traffic { ranks, messages })
    }
}
