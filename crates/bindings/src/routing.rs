//! Forwarding tables, their check, and the workloads they carry.

use std::sync::Arc;

use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray1, PyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use runflat_core::machine::{LMC_MAX, Names, SwitchGraph, View};
use runflat_core::measure::lost_paths;
use runflat_core::params::Given;
use runflat_core::recovery::routing as core;
use runflat_core::recovery::routing::check::check;
use runflat_core::recovery::routing::{Lanes, Lft, SERVICE_LEVELS};

use crate::errors::RoutingError;
use crate::flit;
use crate::machine::Machine;
use crate::parts;
use crate::raise;
use crate::simulation;

/// Forwarding tables of a view.
#[pyclass(module = "runflat._core", frozen)]
pub struct Routing {
    pub(crate) view: View,
    pub(crate) routing: core::Routing,
}

impl Routing {
    pub(crate) fn new(view: View, routing: core::Routing) -> Self {
        Routing { view, routing }
    }

    /// Checks that two routings are of one machine.
    pub(crate) fn same_machine(&self, other: &Routing) -> PyResult<()> {
        same_machine(&self.view, &other.view)
    }
}

/// Checks that two views are of one machine, whatever is dead in them.
fn same_machine(one: &View, other: &View) -> PyResult<()> {
    let [this, other] = [one, other].map(View::machine_shared);
    if Arc::ptr_eq(&this, &other) || this == other {
        Ok(())
    } else {
        Err(raise::<RoutingError>("these are routings of different machines"))
    }
}

#[pymethods]
impl Routing {
    /// Tables given switch after switch, for 2^lmc LIDs an endpoint.
    #[staticmethod]
    fn from_ports(
        machine: &Machine,
        lmc: u8,
        ports: numpy::PyReadonlyArray1<'_, u8>,
    ) -> PyResult<Self> {
        if lmc > LMC_MAX {
            return Err(raise::<RoutingError>(format!("`lmc` is at most {LMC_MAX}, got {lmc}")));
        }
        let lft = Lft::from_ports(machine.view.machine(), lmc, ports.as_array().to_vec());
        let routing = core::Routing::single_lane(lft.map_err(raise::<RoutingError>)?);
        Ok(Routing { view: machine.view.clone(), routing })
    }

    /// The tables switch after switch.
    fn ports<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        self.routing.lft.ports().to_vec().into_pyarray(py)
    }

    /// LIDs an endpoint has, as their mask count.
    #[getter]
    fn lmc(&self) -> u8 {
        self.routing.lft.lids().lmc()
    }

    /// Lanes that freedom from deadlock takes.
    #[getter]
    fn layers(&self) -> u8 {
        self.routing.layers
    }

    /// Service levels by source switch and LID; None if all are 0.
    fn service_levels<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<u8>>> {
        match &self.routing.lanes {
            Lanes::Single => None,
            Lanes::PerPair(levels) | Lanes::ByPort(levels, _) => {
                Some(levels.clone().into_pyarray(py))
            }
        }
    }

    /// By switch, its SL-to-VL table by input port, output port and service level; None if lane = level.
    fn sl_to_vl<'py>(&self, py: Python<'py>) -> Option<Vec<Bound<'py, PyArray3<u8>>>> {
        let Lanes::ByPort(_, tables) = &self.routing.lanes else { return None };
        let machine = self.view.machine();
        let of = |switch| {
            let ports = usize::from(machine.switch(switch).radix) + 1;
            Array3::from_shape_fn((ports, ports, SERVICE_LEVELS), |(input, output, sl)| {
                tables.lane(switch, input as u8, output as u8, sl as u8)
            })
        };
        Some(machine.switches().map(|switch| of(switch).into_pyarray(py)).collect())
    }

    /// What walking every route finds; the fields of `runflat.Check`.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let check = py.detach(|| check(&SwitchGraph::new(&self.view), &self.routing));
        let machine = self.view.machine();
        let names = Names::new(machine);
        let cycle = check.cycle.as_ref().map(|cycle| {
            let channels = cycle.channels.iter();
            channels.map(|&channel| parts::channel(machine, &names, channel)).collect::<Vec<_>>()
        });
        let unreachable = check.unreachable.iter().map(|&(source, target)| {
            (names.node(source), names.node(machine.endpoint_node(target)))
        });
        let found = PyDict::new(py);
        found.set_item("verdict", check.verdict().word())?;
        found.set_item("pairs", check.pairs)?;
        found.set_item("unreachable_pairs", check.unreachable_pairs)?;
        found.set_item("cut_pairs", check.cut_pairs)?;
        found.set_item("looping_pairs", check.looping_pairs)?;
        found.set_item("nonminimal_pairs", check.nonminimal_pairs)?;
        found.set_item("hops_max", check.hops_max)?;
        found.set_item("hops_mean", check.hops_mean())?;
        found.set_item("forwarding_index_max", check.forwarding_index_max)?;
        found.set_item("forwarding_index_mean", check.forwarding_index_mean)?;
        found.set_item("vls", check.vls)?;
        found.set_item("cycle", cycle)?;
        let cycle_vls =
            check.cycle.map(|cycle| cycle.vls.into_iter().map(u32::from).collect::<Vec<_>>());
        found.set_item("cycle_vls", cycle_vls)?;
        found.set_item("unreachable", unreachable.collect::<Vec<_>>())?;
        found.set_item("forwarding_index", check.forwarding_index.into_pyarray(py))?;
        Ok(found)
    }

    /// Routes cut in `broken` before anything is re-routed.
    fn lost_paths(&self, py: Python<'_>, broken: &Machine) -> PyResult<u64> {
        same_machine(&self.view, &broken.view)?;
        Ok(py.detach(|| {
            lost_paths::count(&SwitchGraph::new(&self.view), &self.routing, &broken.view)
        }))
    }

    /// Entries of switches alive in the other view in which two tables of one machine differ.
    fn changed_entries(&self, other: &Routing) -> u64 {
        let alive = |switch| other.view.switch_alive(switch);
        self.routing.lft.changed_entries(&other.routing.lft, alive)
    }

    /// Runs a workload; the fields of `runflat.Congestion`.
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        traffic: &str,
        params: Given,
        seed: u64,
        injection_gb_s: Option<f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        simulation::workload(py, self, traffic, &params, seed, injection_gb_s)
    }

    /// Runs a workload flit by flit; the fields of `runflat.Flit`.
    fn simulate_flits<'py>(
        &self,
        py: Python<'py>,
        traffic: &str,
        params: Given,
        seed: u64,
        inputs: flit::FlitInputs,
    ) -> PyResult<Bound<'py, PyDict>> {
        flit::run(py, self, &flit::Work::registered(traffic, &params, seed)?, &inputs)
    }

    /// The same for phases given as flat lists of (source, target, bytes).
    fn simulate_flit_phases<'py>(
        &self,
        py: Python<'py>,
        phases: Vec<numpy::PyReadonlyArray1<'py, u64>>,
        steady: bool,
        inputs: flit::FlitInputs,
    ) -> PyResult<Bound<'py, PyDict>> {
        let phases = phases.iter().map(|phase| phase.as_array().to_vec()).collect();
        flit::run(py, self, &flit::Work::Given { phases, steady }, &inputs)
    }

    /// Runs phases given as flat lists of (source, target, bytes).
    fn simulate_phases<'py>(
        &self,
        py: Python<'py>,
        phases: Vec<numpy::PyReadonlyArray1<'py, u64>>,
        steady: bool,
        injection_gb_s: Option<f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let phases: Vec<Vec<u64>> = phases.iter().map(|phase| phase.as_array().to_vec()).collect();
        simulation::phases(py, self, &phases, steady, injection_gb_s)
    }
}
