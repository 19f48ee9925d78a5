//! The flit simulation of workloads.

use std::sync::Mutex;

use numpy::ToPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use runflat_core::machine::{Machine, Names, SwitchGraph};
use runflat_core::params::Given;
use runflat_core::recovery::placement;
use runflat_core::rng::Seed;
use runflat_core::sim::flit::network::check;
use runflat_core::sim::flit::source::{Demand, Source};
use runflat_core::sim::flit::sources::{Phases, RandomTargets, Scheduled, phases_memory};
use runflat_core::sim::flit::{
    FlitOptions, FlitOutcome, FlitRun, Latencies, Network, PARAMETERS, PRESETS, StopRule,
    memory_bound, simulate,
};
use runflat_core::traffic::Traffic;
use runflat_core::units::Picos;
use runflat_core::workload::schedule::{Op, Schedule};
use runflat_core::workload::{self, BoundWorkload, Injection};

use crate::errors::{FlitError, WorkloadError};
use crate::parts;
use crate::raise;
use crate::routing::Routing;
use crate::simulation::traffic;

/// How to simulate, as `runflat.FlitOptions` has it.
#[derive(FromPyObject)]
pub struct FlitInputs {
    #[pyo3(item)]
    preset: String,
    #[pyo3(item)]
    parameters: Given,
    #[pyo3(item)]
    precision: f64,
    #[pyo3(item)]
    most_us: f64,
    /// Called before the simulation with the bytes that it takes at the most; returns whether to run it.
    #[pyo3(item)]
    starting: Option<Py<PyAny>>,
    /// Called after each batch with the simulated time in ns; returns whether to go on.
    #[pyo3(item)]
    progress: Option<Py<PyAny>>,
}

impl FlitInputs {
    fn options(&self) -> PyResult<FlitOptions> {
        let given = self.parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        FlitOptions::of(&self.preset, given).map_err(raise::<FlitError>)
    }

    fn rule(&self, steady: bool) -> StopRule {
        let most = Picos(((self.most_us * 1e6) as u64).max(1));
        StopRule { steady, precision: self.precision, most, ..StopRule::default() }
    }
}

/// Who sends what: a registered workload, or phases from elsewhere.
pub enum Work {
    Registered { bound: BoundWorkload, seed: Seed },
    Given { phases: Vec<Vec<u64>>, steady: bool },
}

impl Work {
    pub fn registered(traffic: &str, params: &Given, seed: u64) -> PyResult<Self> {
        let bound = workload::bind(traffic, params).map_err(raise::<WorkloadError>)?;
        Ok(Work::Registered { bound, seed: Seed(seed) })
    }

    fn steady(&self) -> bool {
        match self {
            Work::Registered { bound, .. } => bound.steady(),
            Work::Given { steady, .. } => *steady,
        }
    }
}

/// Runs a workload; the fields of `runflat.Flit`.
pub fn run<'py>(
    py: Python<'py>,
    routing: &Routing,
    work: &Work,
    inputs: &FlitInputs,
) -> PyResult<Bound<'py, PyDict>> {
    let options = inputs.options()?;
    let (run, memory_bytes) = py.detach(|| Simulation::run(routing, work, &options, inputs))?;
    let fields = PyDict::new(py);
    fields.set_item("memory_bytes", memory_bytes)?;
    if let Some(run) = run {
        report(&fields, routing.view.machine(), &run)?;
    }
    Ok(fields)
}

/// What came out, if it was run, and the bytes that it could take at the most.
type Run = (Option<FlitRun>, u64);

/// Everything that does not depend on who sends what.
struct Simulation<'a> {
    network: Network<'a>,
    options: &'a FlitOptions,
    rule: StopRule,
    inputs: &'a FlitInputs,
    /// What Python raised when it was asked whether to go on.
    raised: Mutex<Option<PyErr>>,
}

impl Simulation<'_> {
    fn run(
        routing: &Routing,
        work: &Work,
        options: &FlitOptions,
        inputs: &FlitInputs,
    ) -> PyResult<Run> {
        let graph = SwitchGraph::new(&routing.view);
        let placement = placement::in_node_order(&routing.view);
        let ranks = placement.len() as u32;
        let network = Network::new(&graph, &routing.routing, &placement, options)
            .map_err(raise::<FlitError>)?;
        let rule = inputs.rule(work.steady());
        let simulation = Simulation { network, options, rule, inputs, raised: Mutex::default() };
        let run = match work {
            Work::Registered { bound, seed } => simulation.registered(bound, ranks, *seed),
            Work::Given { phases, steady } => simulation.given(phases, ranks, *steady),
        };
        match simulation.raised.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => run,
        }
    }

    fn registered(&self, bound: &BoundWorkload, ranks: u32, seed: Seed) -> PyResult<Run> {
        match bound.injection(ranks).map_err(raise::<WorkloadError>)? {
            Injection::Random(draw) => {
                let demand = Demand::of_messages(std::iter::once(draw.size), self.options.mtu());
                self.simulate(RandomTargets::new(ranks, draw, seed), demand.endless())
            }
            Injection::Schedule => {
                let schedule = bound.schedule(ranks, seed);
                self.schedule(&schedule.map_err(raise::<WorkloadError>)?)
            }
            Injection::Phases(count) => {
                // Parameters that do not fit show in the first phase; messages of all phases are alike.
                let first = bound.phase(ranks, 0, seed).map_err(raise::<WorkloadError>)?;
                let mut demand = self.demand(&first);
                demand.packets = match bound.steady() {
                    true => u64::MAX,
                    false => demand.packets.saturating_mul(count),
                };
                demand.held = phases_memory(first.messages.len(), count);
                let phase = |at| {
                    let phase = bound.phase(ranks, at, seed);
                    // INVARIANT: parameters that fit the first phase fit them all.
                    #[allow(clippy::expect_used)]
                    phase.expect("a phase was refused after others were not")
                };
                self.simulate(Phases::new(ranks, count, bound.steady(), phase), demand)
            }
        }
    }

    fn given(&self, phases: &[Vec<u64>], ranks: u32, steady: bool) -> PyResult<Run> {
        let phases: Result<Vec<Traffic>, String> =
            phases.iter().map(|phase| traffic(ranks, phase)).collect();
        let phases = phases.map_err(raise::<WorkloadError>)?;
        if !steady {
            let schedule = Schedule::from_phases(ranks, phases.into_iter().map(Ok));
            return self.schedule(&schedule.map_err(raise::<WorkloadError>)?);
        }
        let sizes = phases.iter().flat_map(|phase| &phase.messages).map(|message| message.size);
        let mut demand = Demand::of_messages(sizes, self.options.mtu()).endless();
        let largest = phases.iter().map(|phase| phase.messages.len()).max().unwrap_or(0);
        demand.held = phases_memory(largest, phases.len() as u64);
        let phase = |at: u64| phases[at as usize].clone();
        self.simulate(Phases::new(ranks, phases.len() as u64, true, phase), demand)
    }

    fn schedule(&self, schedule: &Schedule) -> PyResult<Run> {
        let sizes = schedule.ops().iter().filter_map(|op| match op {
            Op::Send { size, .. } => Some(*size),
            _ => None,
        });
        let mut demand = Demand::of_messages(sizes, self.options.mtu());
        demand.held = Scheduled::memory(schedule);
        self.simulate(Scheduled::new(schedule), demand)
    }

    fn demand(&self, traffic: &Traffic) -> Demand {
        let sizes = traffic.messages.iter().map(|message| message.size);
        Demand::of_messages(sizes, self.options.mtu())
    }

    fn simulate<S: Source>(&self, source: S, demand: Demand) -> PyResult<Run> {
        let memory_bytes = memory_bound(&self.network, self.options, demand);
        if !self.asks(self.inputs.starting.as_ref(), memory_bytes) {
            return Ok((None, memory_bytes));
        }
        let nanos = |now: Picos| now.0 as f64 / 1000.0;
        let progress = |now| self.asks(self.inputs.progress.as_ref(), nanos(now));
        let run = simulate(&self.network, self.options, source, demand, &self.rule, progress);
        Ok((Some(run), memory_bytes))
    }

    /// Asks Python whether to go on; with nobody to ask, only a signal stops it.
    fn asks<A>(&self, who: Option<&Py<PyAny>>, what: A) -> bool
    where
        A: for<'py> IntoPyObject<'py>,
    {
        Python::attach(|py| {
            let answer = py.check_signals().and_then(|()| match who {
                Some(who) => who.call1(py, (what,))?.is_truthy(py),
                None => Ok(true),
            });
            answer.unwrap_or_else(|error| {
                if let Ok(mut raised) = self.raised.lock() {
                    *raised = Some(error);
                }
                false
            })
        })
    }
}

fn report(fields: &Bound<'_, PyDict>, machine: &Machine, run: &FlitRun) -> PyResult<()> {
    let (outcome, cycle) = match &run.outcome {
        FlitOutcome::Steady => ("steady", None),
        FlitOutcome::Complete => ("complete", None),
        FlitOutcome::Stuck(_) => ("stuck", None),
        FlitOutcome::Deadlock(cycle) => ("deadlock", Some(cycle)),
        FlitOutcome::Saturated => ("saturated", None),
        FlitOutcome::CutShort => ("cut_short", None),
    };
    let stuck = match &run.outcome {
        FlitOutcome::Stuck(stuck) => Some(stuck.to_string()),
        _ => None,
    };
    let names = Names::new(machine);
    let channels = cycle.map(|cycle| {
        let name = |&(channel, _): &_| parts::channel(machine, &names, channel);
        cycle.iter().map(name).collect::<Vec<_>>()
    });
    let vls = cycle.map(|cycle| cycle.iter().map(|&(_, vl)| u32::from(vl)).collect::<Vec<_>>());
    fields.set_item("outcome", outcome)?;
    fields.set_item("cycle", channels)?;
    fields.set_item("cycle_vls", vls)?;
    fields.set_item("stuck", stuck)?;
    fields.set_item("throughput_gb_s", run.throughput_gb_s)?;
    fields.set_item("half_width_gb_s", run.half_width_gb_s)?;
    fields.set_item("simulated_ns", run.time.0 as f64 / 1000.0)?;
    fields.set_item("warm_up_ns", run.warm_up.0 as f64 / 1000.0)?;
    let nanos = |ps: f64| ps / 1000.0;
    let latency =
        |of: fn(&Latencies) -> Option<f64>| run.latencies.as_ref().and_then(of).map(nanos);
    fields.set_item("latency_ns_mean", latency(Latencies::mean))?;
    fields.set_item("latency_ns_median", latency(|all| all.quantile(0.5)))?;
    fields.set_item("latency_ns_p99", latency(|all| all.quantile(0.99)))?;
    fields.set_item("messages", run.counts.messages)?;
    fields.set_item("unrouted_messages", run.unrouted_messages)?;
    fields.set_item("delivered_flits", run.counts.consumed_flits)?;
    fields.set_item("flit_hops", run.counts.flit_hops)?;
    fields.set_item("events", run.counts.events)?;
    fields.set_item("received_gb_s", run.received_gb_s.to_pyarray(fields.py()))
}

/// Refuses a preset or parameter that does not fit.
#[pyfunction]
pub fn check_flit_options(preset: &str, parameters: Given) -> PyResult<()> {
    let given = parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let options = FlitOptions::of(preset, given).map_err(raise::<FlitError>)?;
    check(&options, 1).map_err(raise::<FlitError>)
}

/// A name and a line that says what it is.
type Explained = (&'static str, &'static str);

/// Names of presets, and of parameters, each with a line that says what it is.
#[pyfunction]
pub fn flit_parameters() -> (Vec<Explained>, Vec<Explained>) {
    (PRESETS.to_vec(), PARAMETERS.to_vec())
}
