//! Workloads over routes, from registered parts or from arrays.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use runflat_core::ids::Rank;
use runflat_core::machine::SwitchGraph;
use runflat_core::params::Given;
use runflat_core::recovery::placement;
use runflat_core::rng::Seed;
use runflat_core::sim::congestion::{Congestion, CongestionOptions, Simulation};
use runflat_core::traffic::{Message, Traffic};
use runflat_core::units::Bytes;
use runflat_core::workload;

use crate::errors::WorkloadError;
use crate::raise;
use crate::routing::Routing;

/// Runs a registered workload.
pub fn workload<'py>(
    py: Python<'py>,
    routing: &Routing,
    traffic: &str,
    params: &Given,
    seed: u64,
    injection_gb_s: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let bound = workload::bind(traffic, params).map_err(raise::<WorkloadError>)?;
    let result = run(py, routing, injection_gb_s, |ranks, simulation| {
        for index in 0..bound.phase_count(ranks).map_err(|error| error.to_string())? {
            let phase = bound.phase(ranks, index, Seed(seed)).map_err(|error| error.to_string())?;
            post(simulation, &phase, bound.steady())?;
        }
        Ok(())
    })?;
    report(py, result, bound.steady())
}

/// Runs phases that Python worked out.
pub fn phases<'py>(
    py: Python<'py>,
    routing: &Routing,
    phases: &[Vec<u64>],
    steady: bool,
    injection_gb_s: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let result = run(py, routing, injection_gb_s, |ranks, simulation| {
        phases.iter().try_for_each(|phase| post(simulation, &traffic(ranks, phase)?, steady))
    })?;
    report(py, result, steady)
}

fn run(
    py: Python<'_>,
    routing: &Routing,
    injection_gb_s: Option<f64>,
    post_all: impl Fn(u32, &mut Simulation<'_>) -> Result<(), String> + Sync,
) -> PyResult<Congestion> {
    py.detach(|| {
        let graph = SwitchGraph::new(&routing.view);
        let placement = placement::in_node_order(&routing.view);
        let options = CongestionOptions { injection_gb_s };
        let mut simulation = Simulation::new(&graph, &routing.routing, &placement, options);
        post_all(placement.len() as u32, &mut simulation)?;
        Ok(simulation.finish())
    })
    .map_err(|error: String| raise::<WorkloadError>(error))
}

fn post(simulation: &mut Simulation<'_>, phase: &Traffic, steady: bool) -> Result<(), String> {
    let posted =
        if steady { simulation.steady_phase(phase) } else { simulation.finite_phase(phase) };
    posted.map_err(|error| error.to_string())
}

/// Reads (source, target, bytes) triples.
pub fn traffic(ranks: u32, triples: &[u64]) -> Result<Traffic, String> {
    let message = |triple: &[u64]| {
        let [source, target, size] = [triple[0], triple[1], triple[2]];
        if source.max(target) >= u64::from(ranks) || source == target {
            return Err(format!(
                "a message goes between two different ranks below {ranks}, got {source} to {target}"
            ));
        }
        let [source, target] = [source, target].map(|rank| Rank(rank as u32));
        Ok(Message { source, target, size: Bytes(size) })
    };
    let messages = triples.chunks_exact(3).map(message).collect::<Result<_, _>>()?;
    Ok(Traffic { ranks, messages })
}

fn report(py: Python<'_>, result: Congestion, steady: bool) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("outcome", if steady { "steady" } else { "complete" })?;
    fields.set_item("throughput_gb_s", result.throughput_gb_s)?;
    fields.set_item("simulated_ns", result.time.0 as f64 / 1000.0)?;
    fields.set_item("messages", result.messages)?;
    fields.set_item("unrouted_messages", result.unrouted_messages)?;
    fields.set_item("collision_max", result.collision_max)?;
    fields.set_item("load", result.load.by_channel().to_vec().into_pyarray(py))?;
    fields.set_item("received_gb_s", result.received_gb_s.into_pyarray(py))?;
    Ok(fields)
}
