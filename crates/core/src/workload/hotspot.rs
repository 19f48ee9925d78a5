//! Hotspot: every rank sends a share of its messages to one or a few hot ranks, the rest evenly to all, for ever.
//!
//! A simulator of single messages draws the receivers. As a phase: a sender divides `share` of its messages evenly among the hot ranks other than itself, and the rest among all
//! others, the hot ones included; with a share of 1 there is no rest. The hot ranks stand at equal distances: rank
//! `i n / targets` is the i-th. A rank that is the only hot one sends the rest alone. One phase, by sender, then
//! receiver; a receiver of more messages stands there as often.
//!
//! Source: Pfister, Norton, "'Hot Spot' Contention and Combining in Multistage Interconnection Networks", IEEE
//! Transactions on Computers 34(10), 1985: of `p` senders each gets at most `1 / (1 + h (p - 1))` of its rate, `h` the
//! share.
//! Departs from it: ranks send nothing to themselves.
//! Limits: whole messages round the share, by at most 0.005; every message is held.

use super::{
    Draw, MOST_MESSAGES, SIZE, Workload, WorkloadError, at_least_two, check_phase, message,
};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The hotspot workload.
pub struct Hotspot;

impl Workload for Hotspot {
    fn name(&self) -> &'static str {
        "hotspot"
    }

    fn summary(&self) -> &'static str {
        "a share of all messages to one or a few hot ranks, without end (Pfister, Norton 1985)"
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param {
                    name: "targets",
                    doc: "how many hot ranks there are",
                    kind: Kind::Int(1, u32::MAX as u64),
                    default: Some("1"),
                },
                Param {
                    name: "share",
                    doc: "`h`: part of a rank's messages that goes to hot ranks; the rest is even",
                    kind: Kind::Real(0.0, 1.0),
                    default: Some("0.5"),
                },
                SIZE,
            ]
        }
    }

    fn steady(&self) -> bool {
        true
    }

    fn random_targets(&self, args: &Args) -> Option<Draw> {
        let size = Bytes(args.int(SIZE.name));
        Some(Draw { size, hot: args.count("targets"), share: args.real("share") })
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        at_least_two("hotspot", ranks)?;
        let targets = args.count("targets");
        if targets > ranks {
            return Err(WorkloadError::Targets { targets, ranks });
        }
        let (cold, hot) = (ranks - targets, targets);
        let each = |others: u32| Mix::new(ranks - 1, others, args.real("share")).messages();
        let messages = u64::from(cold) * each(targets) + u64::from(hot) * each(targets - 1);
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
        let targets = args.count("targets");
        let mut is_hot = vec![false; ranks as usize];
        for number in 0..u64::from(targets) {
            is_hot[(number * u64::from(ranks) / u64::from(targets)) as usize] = true;
        }
        let mix = |others| Mix::new(ranks - 1, others, args.real("share"));
        let (cold, hot) = (mix(targets), mix(targets - 1));
        let mut messages = Vec::new();
        for source in 0..ranks {
            let mix = if is_hot[source as usize] { &hot } else { &cold };
            for target in (0..ranks).filter(|&target| target != source) {
                let times = mix.even + if is_hot[target as usize] { mix.extra } else { 0 };
                messages.extend((0..times).map(|_| message(source, target, size)));
            }
        }
        Ok(Traffic { ranks, messages })
    }
}

/// How often a rank sends to the others.
struct Mix {
    others: u32,
    hot: u32,
    /// To everybody.
    even: u64,
    /// To a hot rank on top of that.
    extra: u64,
}

impl Mix {
    /// The smallest whole numbers that come close to `share`, for a rank with `hot` hot ones among its `others`.
    fn new(others: u32, hot: u32, share: f64) -> Self {
        let mix = |even, extra| Mix { others, hot, even, extra };
        if hot == 0 {
            return mix(u64::from(share < 1.0 - ROUNDED), 0);
        }
        if share >= 1.0 - ROUNDED {
            return mix(0, 1);
        }
        let wanted = share / (1.0 - share) * f64::from(others) / f64::from(hot);
        let candidate = |even: u64| mix(even, (even as f64 * wanted).round() as u64);
        let close = |mix: &Mix| (mix.share() - share).abs() <= ROUNDED;
        // Ends: half a message more or less to each hot rank moves the share by less than 0.5 / even.
        (1..).map(candidate).find(close).unwrap_or_else(|| mix(1, 0))
    }

    fn messages(&self) -> u64 {
        self.even * u64::from(self.others) + self.extra * u64::from(self.hot)
    }

    fn share(&self) -> f64 {
        (self.extra * u64::from(self.hot)) as f64 / self.messages() as f64
    }
}

/// How far rounding may move the share.
const ROUNDED: f64 = 0.005;
