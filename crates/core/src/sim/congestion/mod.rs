//! Throughput of a workload over given routes, with max-min fair sharing instead of flits.
//!
//! In *steady* workloads a rank goes on for ever, its messages in proportion to their sizes, as a generator does that
//! draws the next target at random and waits for the fabric to take the message: one slow path slows the rank. Ranks
//! share channels max-min fairly; the answer is the sum of their rates.
//!
//! In *finite* workloads each message has a rate of its own and ends; whenever one does, the others share anew, and a phase
//! begins when the one before has ended. The answer is payload over total time, the throughput of an exchange in Domke et
//! al., SC14.
//!
//! Leaves out (see `docs/models.md`): latency, packet headers, buffers, head-of-line blocking, deadlock. It says what the
//! routes allow, not what flow control makes of them; that a set of routes can deadlock is the routing check's to say.

mod maxmin;

pub use maxmin::{Demands, MaxMin};

use crate::ids::{ChannelId, NodeId};
use crate::load::{Load, Paths, TooManySteps};
use crate::machine::{SwitchGraph, View};
use crate::recovery::routing::{PathFinder, Routing};
use crate::traffic::Traffic;
use crate::units::Picos;

/// What limits the nodes beside their cables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CongestionOptions {
    /// Most that one node port injects, in GB/s; `None` leaves the cable's rate.
    pub injection_gb_s: Option<f64>,
}

/// What a workload gets out of the fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct Congestion {
    /// Aggregate throughput at the sinks, in GB/s (10^9 bytes per second).
    pub throughput_gb_s: f64,
    /// What each rank receives, in GB/s; for steady workloads the mean over phases.
    pub received_gb_s: Vec<f64>,
    /// Time until the last message of a finite workload has arrived; zero for steady ones.
    pub time: Picos,
    /// Messages posted.
    pub messages: u64,
    /// Messages for which the tables have no route; they count as posted, not as received.
    pub unrouted_messages: u64,
    /// Most messages that share one channel in any phase.
    pub collision_max: u64,
    /// Messages over each channel, all phases together.
    pub load: Load,
}

/// Runs phases of a workload one after the other.
pub struct Simulation<'g> {
    finder: PathFinder<'g>,
    placement: &'g [NodeId],
    capacity: Vec<f64>,
    sharing: MaxMin,
    steady_phases: u64,
    payload_bytes: u64,
    result: Congestion,
}

impl<'g> Simulation<'g> {
    /// A simulation over the usable part of a fabric; rank `r` runs on `placement[r]`.
    #[must_use]
    pub fn new(
        graph: &'g SwitchGraph<'g>,
        routing: &'g Routing,
        placement: &'g [NodeId],
        options: CongestionOptions,
    ) -> Self {
        let channel_count = graph.machine().channel_count();
        Simulation {
            finder: PathFinder::new(graph, routing),
            placement,
            capacity: capacities(graph.view(), options),
            sharing: MaxMin::default(),
            steady_phases: 0,
            payload_bytes: 0,
            result: Congestion {
                throughput_gb_s: 0.0,
                received_gb_s: vec![0.0; placement.len()],
                time: Picos(0),
                messages: 0,
                unrouted_messages: 0,
                collision_max: 0,
                load: Load::new(channel_count),
            },
        }
    }

    /// Keeps every rank of `traffic` going, its messages in proportion to their sizes.
    ///
    /// # Errors
    /// If the phase is too large to hold.
    pub fn steady_phase(&mut self, traffic: &Traffic) -> Result<(), TooManySteps> {
        let paths = self.post(traffic)?;
        let mut by_source: Vec<Vec<u32>> = vec![Vec::new(); self.placement.len()];
        for (number, message) in (0u32..).zip(&traffic.messages) {
            if !paths.path(number as usize).is_empty() {
                by_source[message.source.index()].push(number);
            }
        }
        let size = |number: &u32| traffic.messages[*number as usize].size.0 as f64;
        let mut demands = Demands::default();
        let mut extent = vec![0.0; self.capacity.len()];
        let mut used: Vec<ChannelId> = Vec::new();
        for messages in &by_source {
            let all: f64 = messages.iter().map(size).sum();
            for number in messages {
                for &step in paths.path(*number as usize) {
                    if extent[step.index()] == 0.0 {
                        used.push(step);
                    }
                    extent[step.index()] += size(number) / all;
                }
            }
            demands
                .push(used.drain(..).map(|step| (step, std::mem::take(&mut extent[step.index()]))));
            if demands.use_count() > Paths::MOST_STEPS {
                return Err(TooManySteps);
            }
        }
        let mut rates = Vec::new();
        self.sharing.rates(&self.capacity, &demands, |_| true, &mut rates);
        for (messages, rate) in by_source.iter().zip(&rates) {
            let all: f64 = messages.iter().map(size).sum();
            for number in messages {
                let target = traffic.messages[*number as usize].target;
                self.result.received_gb_s[target.index()] += rate * size(number) / all;
            }
            self.result.throughput_gb_s += rate;
        }
        self.steady_phases += 1;
        Ok(())
    }

    /// Sends every message of `traffic` to its end.
    ///
    /// # Errors
    /// If the phase is too large to hold.
    pub fn finite_phase(&mut self, traffic: &Traffic) -> Result<(), TooManySteps> {
        let paths = self.post(traffic)?;
        let mut left: Vec<f64> =
            traffic.messages.iter().map(|message| message.size.0 as f64).collect();
        let mut open = 0;
        for (message, left) in left.iter_mut().enumerate() {
            if paths.path(message).is_empty() {
                *left = 0.0;
            } else {
                let sent = &traffic.messages[message];
                self.payload_bytes += sent.size.0;
                self.result.received_gb_s[sent.target.index()] += sent.size.0 as f64;
                open += usize::from(*left > 0.0);
            }
        }
        let mut demands = Demands::default();
        paths.iter().for_each(|path| demands.push(path.iter().map(|&step| (step, 1.0))));
        let (mut rates, mut time_ns) = (Vec::new(), 0.0);
        while open > 0 {
            self.sharing.rates(&self.capacity, &demands, |message| left[message] > 0.0, &mut rates);
            // GB/s are bytes per ns. What ends within a part in 10^9 of the first ends with it: only rounding differs.
            let ends = |(left, rate): (&f64, &f64)| (*left > 0.0).then(|| left / rate);
            let step_ns = left.iter().zip(&rates).filter_map(ends).fold(f64::INFINITY, f64::min);
            for (left, rate) in left.iter_mut().zip(&rates).filter(|(left, _)| **left > 0.0) {
                if *left <= rate * step_ns * (1.0 + 1e-9) {
                    *left = 0.0;
                    open -= 1;
                } else {
                    *left -= rate * step_ns;
                }
            }
            time_ns += step_ns;
        }
        self.result.time.0 += (time_ns * 1000.0).round() as u64;
        Ok(())
    }

    /// The result of all phases.
    #[must_use]
    pub fn finish(mut self) -> Congestion {
        let time_ns = self.result.time.0 as f64 / 1000.0;
        let divisor = if self.steady_phases > 0 { self.steady_phases as f64 } else { time_ns };
        if self.steady_phases == 0 {
            self.result.throughput_gb_s = self.payload_bytes as f64;
        }
        let scale = if divisor > 0.0 { 1.0 / divisor } else { 0.0 };
        self.result.throughput_gb_s *= scale;
        self.result.received_gb_s.iter_mut().for_each(|received| *received *= scale);
        self.result
    }

    fn post(&mut self, traffic: &Traffic) -> Result<Paths, TooManySteps> {
        let mut paths = Paths::default();
        let mut path: Vec<ChannelId> = Vec::new();
        let mut load = Load::new(self.capacity.len());
        for message in &traffic.messages {
            let [source, target] =
                [message.source, message.target].map(|rank| self.placement[rank.index()]);
            if self.finder.find(source, target, &mut path).is_none() {
                self.result.unrouted_messages += 1;
            }
            load.add(&path);
            self.result.load.add(&path);
            paths.push(&path)?;
        }
        self.result.messages += traffic.messages.len() as u64;
        self.result.collision_max = self.result.collision_max.max(load.collision_max());
        Ok(paths)
    }
}

/// Capacity of each channel in GB/s.
fn capacities(view: &View, options: CongestionOptions) -> Vec<f64> {
    let machine = view.machine();
    let channels = (0..machine.channel_count()).map(ChannelId::from_index);
    channels
        .map(|channel| {
            let rate = machine.rate(channel.link()).rate_gb_s();
            let injects = machine.as_node(machine.tail(channel).vertex).is_some();
            options.injection_gb_s.filter(|_| injects).map_or(rate, |limit| rate.min(limit))
        })
        .collect()
}

#[cfg(test)]
mod tests;
