//! A simulation from the beginning to a verdict.

use super::deadlock::{self, Buffer};
use super::fast::{self, Counts, Fast};
use super::latency::Latencies;
use super::network::Network;
use super::options::FlitOptions;
use super::source::{Delivery, Demand, Next, Send, Source};
use super::stop::{Batches, Looks};
use super::watch::Watch;
use crate::units::Picos;
use crate::workload::schedule::Stuck;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// Whether messages come without end, so that their rate is the answer, or the time of the last one is.
    pub steady: bool,
    /// Half the width that the 99 % interval of a sink's bandwidth may have, relative to the mean over all sinks.
    pub precision: f64,
    /// Length of a batch, after which one looks whether to stop.
    pub batch: Picos,
    /// Simulated time at the most.
    pub most: Picos,
}

impl Default for StopRule {
    fn default() -> Self {
        let (batch, most) = (Picos(5_000_000), Picos(100_000_000_000));
        StopRule { steady: true, precision: 0.05, batch, most }
    }
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlitOutcome {
    /// The rates are known as closely as wanted.
    Steady,
    /// All messages have arrived.
    Complete,
    /// Nothing is under way any more, and ranks wait for what will never come.
    Stuck(Box<Stuck>),
    /// Packets wait for each other: the buffers around the ring.
    Deadlock(Vec<Buffer>),
    /// Packets move, but their rates did not become certain in the time allowed.
    Saturated,
    /// The time allowed was over too soon to tell.
    CutShort,
}

/// What a workload got out of the fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct FlitRun {
    /// How it ended.
    pub outcome: FlitOutcome,
    /// Aggregate throughput at the sinks in GB/s; none where the outcome gives none.
    pub throughput_gb_s: Option<f64>,
    /// Half of its 99 % interval, of steady workloads.
    pub half_width_gb_s: Option<f64>,
    /// What each rank received, in GB/s; as far as the simulation went.
    pub received_gb_s: Vec<f64>,
    /// Simulated time; of a complete workload until its last message arrived.
    pub time: Picos,
    /// Time left out as warm-up.
    pub warm_up: Picos,
    /// How long messages took, from when a host began to make one until its last flit was consumed; of steady workloads
    /// after the warm-up, which is rounded up by a quarter at most. None where the outcome gives no throughput.
    pub latencies: Option<Latencies>,
    /// Packets, flits and hops.
    pub counts: Counts,
    /// Messages without a route.
    pub unrouted_messages: u64,
}

/// Bytes that a simulation takes at the most beside its network and source.
#[must_use]
pub fn memory_bound(network: &Network<'_>, options: &FlitOptions, demand: Demand) -> u64 {
    let ranks = network.rank_count();
    let watch = Watch::memory(ranks) + ranks * size_of::<u64>();
    let latencies = Latencies::MEMORY * MOST_PARTS;
    fast::memory_bound(network, options, demand)
        + Batches::memory(ranks)
        + watch as u64
        + latencies
        + demand.held
}

/// Runs a workload until the rule says stop.
///
/// `progress` is told the simulated time after each batch and stops the simulation by returning false.
pub fn simulate<S: Source>(
    network: &Network<'_>,
    options: &FlitOptions,
    source: S,
    demand: Demand,
    rule: &StopRule,
    mut progress: impl FnMut(Picos) -> bool,
) -> FlitRun {
    let ranks = network.rank_count();
    let metered =
        Metered { source, unrouted: 0, last: Picos(0), latencies: vec![Latencies::default()] };
    let mut fast = Fast::new(network, options, metered, Watch::new(ranks));
    fast.reserve(fast::most_packets(network, options, demand));
    let mut batches = Batches::new(ranks);
    let mut all = vec![0u64; ranks];
    let mut now = Picos(0);
    let (mut count, mut looks) = (0usize, Looks::default());
    let mut parts = vec![0usize];
    let batch = rule.batch.min(rule.most).max(Picos(1));
    let outcome = loop {
        let before = fast.counts().consumed_flits;
        now = Picos(now.0 + batch.0).min(rule.most.max(batch));
        let more = fast.run(now);
        count += 1;
        let counts = fast.counts();
        let received = &mut fast.observer_mut().received;
        if rule.steady {
            batches.push(received, counts.flits - counts.consumed_flits);
        }
        all.iter_mut().zip(received.iter_mut()).for_each(|(all, got)| *all += std::mem::take(got));
        if rule.steady && parts.last().is_none_or(|&began| 4 * count >= 5 * began.max(1)) {
            parts.push(count);
            fast.source_mut().latencies.push(Latencies::default());
        }
        let stalled = counts.consumed_flits == before;
        // A ring that closes is there for good, so looking seldom misses none.
        if (stalled || !more || count.is_multiple_of(DEADLOCK_BATCHES))
            && let Some(cycle) = deadlock::cycle(&fast.waiting())
        {
            break FlitOutcome::Deadlock(cycle);
        }
        if !more && counts.consumed_flits == counts.flits {
            if rule.steady {
                // Nobody can send anything: that is how it will stay.
                break FlitOutcome::Steady;
            }
            let stuck = fast.source_mut().stuck();
            break stuck.map_or(FlitOutcome::Complete, |stuck| FlitOutcome::Stuck(Box::new(stuck)));
        }
        if rule.steady && looks.tell(&batches, rule.precision) {
            break FlitOutcome::Steady;
        }
        if now >= rule.most || !progress(now) {
            let told = rule.steady && now >= rule.most && batches.estimate().is_some();
            break if told { FlitOutcome::Saturated } else { FlitOutcome::CutShort };
        }
    };
    fast.observer_mut().finish();
    let counts = fast.counts();
    assert_eq!(counts.flits, counts.consumed_flits + fast.held_flits(), "flits were lost or made");
    let Metered { last, unrouted, ref mut latencies, .. } = *fast.source_mut();
    let latencies = std::mem::take(latencies);
    let run = FlitRun {
        counts,
        unrouted_messages: unrouted,
        time: if outcome == FlitOutcome::Complete { last } else { now },
        outcome,
        throughput_gb_s: None,
        half_width_gb_s: None,
        received_gb_s: Vec::new(),
        warm_up: Picos(0),
        latencies: None,
    };
    run.with_rates(&batches, &all, rule).with_latencies(latencies, &parts, batch)
}

/// Parts of a simulation whose latencies are counted apart: one more whenever there are a quarter more batches, of ten seconds.
const MOST_PARTS: u64 = 72;

/// Batches after which one looks for a deadlock although packets arrive.
const DEADLOCK_BATCHES: usize = 16;

impl FlitRun {
    fn with_rates(mut self, batches: &Batches, all: &[u64], rule: &StopRule) -> Self {
        let over = |time: Picos| 1000.0 / (time.0.max(1) as f64);
        self.received_gb_s = all.iter().map(|&bytes| bytes as f64 * over(self.time)).collect();
        match self.outcome {
            FlitOutcome::Complete => self.throughput_gb_s = Some(self.received_gb_s.iter().sum()),
            FlitOutcome::Steady if self.counts.flits == 0 => {
                (self.throughput_gb_s, self.half_width_gb_s) = (Some(0.0), Some(0.0));
            }
            FlitOutcome::Steady => {
                if let Some(found) = batches.estimate() {
                    let scale = over(rule.batch);
                    self.received_gb_s = found.mean.iter().map(|mean| mean * scale).collect();
                    self.throughput_gb_s = Some(self.received_gb_s.iter().sum());
                    self.half_width_gb_s = Some(found.total_half_width * scale);
                    self.warm_up = Picos(found.warm_up as u64 * rule.batch.0);
                }
            }
            _ => {}
        }
        self
    }

    /// Takes latencies from after the warm-up: `all` by part, of which each began after so many batches.
    fn with_latencies(mut self, all: Vec<Latencies>, began: &[usize], batch: Picos) -> Self {
        if self.throughput_gb_s.is_some() {
            let after = |&began: &usize| began as u64 * batch.0 >= self.warm_up.0;
            let first = began.iter().position(after).unwrap_or(began.len() - 1);
            self.latencies = all[first..].iter().cloned().reduce(|mut sum, part| {
                sum.merge(&part);
                sum
            });
        }
        self
    }
}

/// Counts what arrives.
struct Metered<S> {
    source: S,
    unrouted: u64,
    /// When the last message arrived or, if later, the last computation ended.
    last: Picos,
    /// The last is that of messages that arrive now.
    latencies: Vec<Latencies>,
}

impl<S: Source> Source for Metered<S> {
    #[inline]
    fn next(&mut self, rank: u32, now: Picos) -> Next {
        let next = self.source.next(rank, now);
        if let Next::At(moment) = next {
            self.last = self.last.max(moment);
        }
        next
    }

    #[inline]
    fn delivered(&mut self, delivery: Delivery, ready: &mut Vec<u32>) {
        let Delivery { began, now, .. } = delivery;
        self.last = self.last.max(now);
        if let Some(latencies) = self.latencies.last_mut() {
            latencies.add(Picos(now.0 - began.0));
        }
        self.source.delivered(delivery, ready);
    }

    fn unrouted(&mut self, source: u32, send: Send) {
        self.unrouted += 1;
        self.source.unrouted(source, send);
    }

    fn stuck(&self) -> Option<Stuck> {
        self.source.stuck()
    }
}
