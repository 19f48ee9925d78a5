//! The tables of registered parts, and checks of their parameters.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use runflat_core::measure::lost_paths;
use runflat_core::measure::regression::{self, Line};
use runflat_core::params::{Given, Param};
use runflat_core::recovery::routing::engines::{ENGINES, bind};
use runflat_core::{faults, machine, workload};

use crate::errors::{FaultError, GeneratorError, RoutingError, WorkloadError};
use crate::raise;

fn describe<'py>(
    py: Python<'py>,
    name: &str,
    summary: &str,
    params: &[Param],
) -> PyResult<Bound<'py, PyDict>> {
    let described = PyList::empty(py);
    for param in params {
        let one = PyDict::new(py);
        one.set_item("name", param.name)?;
        one.set_item("doc", param.doc)?;
        one.set_item("kind", param.kind.describe())?;
        one.set_item("default", param.default)?;
        described.append(one)?;
    }
    let part = PyDict::new(py);
    part.set_item("name", name)?;
    part.set_item("summary", summary)?;
    part.set_item("params", described)?;
    Ok(part)
}

/// Every generator: name, summary, parameters.
#[pyfunction]
pub fn generators(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let all = machine::generators::GENERATORS.iter();
    all.map(|part| {
        let params = [part.params(), machine::generators::COMMON].concat();
        describe(py, part.name(), part.summary(), &params)
    })
    .collect()
}

/// Every fault model: name, summary, parameters.
#[pyfunction]
pub fn fault_models(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let all = faults::FAULT_MODELS.iter();
    all.map(|part| describe(py, part.name(), part.summary(), part.params())).collect()
}

/// Every workload: name, summary, parameters.
#[pyfunction]
pub fn workloads(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let all = workload::WORKLOADS.iter();
    all.map(|part| describe(py, part.name(), part.summary(), part.params())).collect()
}

/// Every routing engine: name, title, summary, parameters.
#[pyfunction]
pub fn engines(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    ENGINES
        .iter()
        .map(|engine| {
            let part = describe(py, engine.name(), engine.summary(), engine.params())?;
            part.set_item("title", engine.title())?;
            Ok(part)
        })
        .collect()
}

/// Every format machines are written in: name, summary, whether it is read too.
#[pyfunction]
pub fn formats(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let all = machine::formats::FORMATS.iter();
    all.map(|format| describe(py, format.names()[0], format.summary(), &[])).collect()
}

/// Raises what is wrong with the parameters of a generator.
#[pyfunction]
pub fn check_generator(text: &str, params: Given) -> PyResult<()> {
    machine::generators::bind(text, &params).map(drop).map_err(raise::<GeneratorError>)
}

/// Raises what is wrong with the parameters of a fault model.
#[pyfunction]
pub fn check_fault_model(text: &str, params: Given) -> PyResult<()> {
    faults::bind(text, &params).map(drop).map_err(raise::<FaultError>)
}

/// Raises what is wrong with the name or parameters of a routing engine.
#[pyfunction]
pub fn check_engine(text: &str, params: Given) -> PyResult<()> {
    bind(text, &params).map(drop).map_err(raise::<RoutingError>)
}

/// Raises what is wrong with the parameters of a workload, among `ranks` ranks if a number is given.
#[pyfunction]
#[pyo3(signature = (text, params, ranks=None, flits=false))]
pub fn check_workload(text: &str, params: Given, ranks: Option<u32>, flits: bool) -> PyResult<()> {
    let bound = workload::bind(text, &params).map_err(raise::<WorkloadError>)?;
    let checked = ranks.map(|ranks| bound.check(ranks, flits)).transpose();
    checked.map(drop).map_err(raise::<WorkloadError>)
}

/// A least-squares line through points: intercept, slope, R2; None for fewer than two different x.
#[pyfunction]
pub fn fit_line(py: Python<'_>, points: Vec<(f64, f64)>) -> PyResult<Option<Bound<'_, PyDict>>> {
    let Some(line) = Line::fit(&points) else { return Ok(None) };
    let fitted = PyDict::new(py);
    fitted.set_item("intercept", line.intercept)?;
    fitted.set_item("slope", line.slope)?;
    fitted.set_item("r2", line.r2)?;
    Ok(Some(fitted))
}

/// Where the highest of lines (intercept, slope) changes: (x, index before, index after).
#[pyfunction]
pub fn crossings(lines: Vec<(f64, f64)>, first: f64, last: f64) -> Vec<(f64, usize, usize)> {
    let line = |&(intercept, slope): &(f64, f64)| Line { intercept, slope, r2: None, points: 0 };
    let lines: Vec<Line> = lines.iter().map(line).collect();
    let changes = regression::crossings(&lines, first, last).into_iter();
    changes.map(|change| (change.x, change.before, change.after)).collect()
}

/// Routes that `failed_links` failed links are expected to cut, by the mean edge forwarding index.
#[pyfunction]
pub fn extrapolate_lost_paths(forwarding_index_mean: f64, failed_links: usize) -> f64 {
    lost_paths::extrapolate(forwarding_index_mean, failed_links)
}
