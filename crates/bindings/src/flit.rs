//! The flit simulation of workloads.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use runflat_core::machine::{Machine, Names, SwitchGraph};
use runflat_core::params::Given;
use runflat_core::recovery::placement;
use runflat_core::rng::Seed;
use runflat_core::sim::flit::sources::{Phases, RandomTargets, Scheduled};
use runflat_core::sim::flit::{
    FlitOptions, FlitOutcome, FlitRun, Network, PARAMETERS, PRESETS, StopRule, simulate,
};
use runflat_core::traffic::Traffic;
use runflat_core::units::Picos;
use runflat_core::workload::schedule::Schedule;
use runflat_core::workload::{self, BoundWorkload, Injection};

use crate::errors::WorkloadError;
use crate::parts;
use crate::raise;
use crate::routing::Routing;

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
    /// Called after each batch with the simulated time in ns; returns whether to go on.
    #[pyo3(item)]
    progress: Option<Py<PyAny>>,
}

impl FlitInputs {
    fn options(&self) -> PyResult<FlitOptions> {
        let given = self.parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        FlitOptions::of(&self.preset, given).map_err(raise::<WorkloadError>)
    }

    fn rule(&self, steady: bool) -> StopRule {
        let most = Picos((self.most_us * 1e6) as u64);
        StopRule { steady, precision: self.precision, most, ..StopRule::default() }
    }
}

/// Runs a registered workload; the fields of `runflat.Flit`.
pub fn workload<'py>(
    py: Python<'py>,
    routing: &Routing,
    traffic: &str,
    params: &Given,
    seed: u64,
    inputs: &FlitInputs,
) -> PyResult<Bound<'py, PyDict>> {
    let bound = workload::bind(traffic, params).map_err(raise::<WorkloadError>)?;
    let options = inputs.options()?;
    let run = py
        .detach(|| run(routing, &bound, Seed(seed), &options, inputs))
        .map_err(raise::<WorkloadError>)?;
    report(py, routing.view.machine(), run)
}

fn run(
    routing: &Routing,
    bound: &BoundWorkload,
    seed: Seed,
    options: &FlitOptions,
    inputs: &FlitInputs,
) -> Result<FlitRun, String> {
    let graph = SwitchGraph::new(&routing.view);
    let placement = placement::in_node_order(&routing.view);
    let ranks = placement.len() as u32;
    let network = Network::new(&graph, &routing.routing, &placement, options)
        .map_err(|error| error.to_string())?;
    let rule = inputs.rule(bound.steady());
    let progress = |now: Picos| inputs.go_on(now);
    match bound.injection(ranks).map_err(|error| error.to_string())? {
        Injection::Random(size) => {
            let source = RandomTargets::new(ranks, size, seed);
            Ok(simulate(&network, options, source, &rule, progress))
        }
        Injection::Schedule => {
            let schedule = Schedule::of_workload(bound, ranks, seed);
            let schedule = schedule.map_err(|error| error.to_string())?;
            Ok(simulate(&network, options, Scheduled::new(&schedule), &rule, progress))
        }
        Injection::Phases(count) => {
            // Parameters that do not fit show in the first phase.
            bound.phase(ranks, 0, seed).map_err(|error| error.to_string())?;
            let phase = |at| {
                bound.phase(ranks, at, seed).unwrap_or(Traffic { ranks, messages: Vec::new() })
            };
            let source = Phases::new(ranks, count, bound.steady(), phase);
            Ok(simulate(&network, options, source, &rule, progress))
        }
    }
}

impl FlitInputs {
    fn go_on(&self, now: Picos) -> bool {
        Python::attach(|py| {
            // Ctrl-C ends the simulation like a limit; Python raises it afterwards.
            if py.check_signals().is_err() {
                return false;
            }
            let Some(progress) = &self.progress else { return true };
            let answer = progress.call1(py, (now.0 as f64 / 1000.0,));
            answer.and_then(|answer| answer.is_truthy(py)).unwrap_or(false)
        })
    }
}

fn report<'py>(py: Python<'py>, machine: &Machine, run: FlitRun) -> PyResult<Bound<'py, PyDict>> {
    let (outcome, cycle) = match &run.outcome {
        FlitOutcome::Steady => ("steady", None),
        FlitOutcome::Complete => ("complete", None),
        FlitOutcome::Deadlock(cycle) => ("deadlock", Some(cycle)),
        FlitOutcome::Saturated => ("saturated", None),
        FlitOutcome::CutShort => ("cut_short", None),
    };
    let names = Names::new(machine);
    let channels = cycle.map(|cycle| {
        let name = |&(channel, _): &_| parts::channel(machine, &names, channel);
        cycle.iter().map(name).collect::<Vec<_>>()
    });
    let vls = cycle.map(|cycle| cycle.iter().map(|&(_, vl)| u32::from(vl)).collect::<Vec<_>>());
    let fields = PyDict::new(py);
    fields.set_item("outcome", outcome)?;
    fields.set_item("cycle", channels)?;
    fields.set_item("cycle_vls", vls)?;
    fields.set_item("throughput_gb_s", run.throughput_gb_s)?;
    fields.set_item("half_width_gb_s", run.half_width_gb_s)?;
    fields.set_item("simulated_ns", run.time.0 as f64 / 1000.0)?;
    fields.set_item("warm_up_ns", run.warm_up.0 as f64 / 1000.0)?;
    fields.set_item("messages", run.counts.messages)?;
    fields.set_item("unrouted_messages", run.unrouted_messages)?;
    fields.set_item("delivered_flits", run.counts.consumed_flits)?;
    fields.set_item("flit_hops", run.counts.flit_hops)?;
    fields.set_item("events", run.counts.events)?;
    fields.set_item("received_gb_s", run.received_gb_s.into_pyarray(py))?;
    Ok(fields)
}

/// Refuses a preset or parameter that does not fit.
#[pyfunction]
pub fn check_flit_options(preset: &str, parameters: Given) -> PyResult<()> {
    let given = parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    FlitOptions::of(preset, given).map(|_| ()).map_err(raise::<WorkloadError>)
}

/// A name and a line that says what it is.
type Explained = (&'static str, &'static str);

/// Names of presets, and of parameters, each with a line that says what it is.
#[pyfunction]
pub fn flit_parameters() -> (Vec<Explained>, Vec<Explained>) {
    (PRESETS.to_vec(), PARAMETERS.to_vec())
}
