//! Machines: read, made, broken, routed.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use runflat_core::faults::{self, FaultSet};
use runflat_core::ids::{ChannelId, SwitchId};
use runflat_core::machine::{
    self as core, Builder, Names, Summary, SwitchGraph, View, cut_nodes, formats, generators,
};
use runflat_core::params::Given;
use runflat_core::recovery::placement;
use runflat_core::recovery::routing::Outcome;
use runflat_core::recovery::routing::engines::torus_2qos::TorusConf;
use runflat_core::recovery::routing::engines::{self, updn};
use runflat_core::rng::Seed;
use runflat_core::units::LinkRate;

use crate::errors::{FaultError, FormatError, GeneratorError, RoutingError};
use crate::parts;
use crate::raise;
use crate::route_inputs::RouteInputs;
use crate::routing::Routing;
use crate::table::Table;

/// A machine and what has failed in it.
#[pyclass(module = "runflat._core", frozen)]
pub struct Machine {
    pub(crate) view: View,
    faults: FaultSet,
}

impl Machine {
    fn intact(machine: core::Machine) -> Self {
        Machine { view: View::intact(Arc::new(machine)), faults: FaultSet::default() }
    }

    fn broken(&self, more: &FaultSet) -> Self {
        let all = FaultSet::new(
            [self.faults.links(), more.links()].concat(),
            [self.faults.switches(), more.switches()].concat(),
            [self.faults.nodes(), more.nodes()].concat(),
        );
        Machine { view: more.apply(&self.view), faults: all }
    }
}

#[pymethods]
impl Machine {
    /// Reads a fabric; returns it and warnings as (line, text).
    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8], label: &str) -> PyResult<(Self, Vec<(usize, String)>)> {
        let import = py.detach(|| formats::read(data, label)).map_err(raise::<FormatError>)?;
        let warnings = import.warnings.into_iter().map(|warning| (warning.line, warning.text));
        let warnings = warnings.collect();
        Ok((Machine::intact(import.machine), warnings))
    }

    /// Generates a machine.
    #[staticmethod]
    fn make(py: Python<'_>, text: &str, params: Given, seed: u64) -> PyResult<Self> {
        let machine = py.detach(|| generators::make(text, &params, Seed(seed)));
        machine.map(Machine::intact).map_err(raise::<GeneratorError>)
    }

    /// Puts a machine together by names.
    #[staticmethod]
    fn build(
        name: &str,
        switches: Vec<String>,
        nodes: Vec<String>,
        cables: Vec<(String, String)>,
        rate: &str,
    ) -> PyResult<Self> {
        let rate: LinkRate = rate.parse().map_err(raise::<GeneratorError>)?;
        let machine = Builder::from_names(name, &switches, &nodes, &cables, rate);
        machine.map(Machine::intact).map_err(raise::<GeneratorError>)
    }

    #[getter]
    fn name(&self) -> &str {
        self.view.machine().name()
    }

    #[getter]
    fn synthetic(&self) -> bool {
        self.view.machine().synthetic()
    }

    #[getter]
    fn switch_count(&self) -> usize {
        self.view.machine().switch_count()
    }

    #[getter]
    fn node_count(&self) -> usize {
        self.view.machine().node_count()
    }

    #[getter]
    fn lid_count(&self) -> usize {
        self.view.machine().lids().count()
    }

    #[getter]
    fn endpoint_count(&self) -> usize {
        self.view.machine().endpoint_count()
    }

    #[getter]
    fn switch_link_count(&self) -> usize {
        self.view.machine().switch_links().count()
    }

    #[getter]
    fn plane_count(&self) -> usize {
        self.view.machine().plane_count()
    }

    #[getter]
    fn rank_count(&self) -> usize {
        placement::in_node_order(&self.view).len()
    }

    /// Coordinates of each switch, the shape they lie in first; None if the machine has none.
    fn coordinates(&self) -> Option<(Vec<u32>, Vec<Vec<u32>>)> {
        let machine = self.view.machine();
        let coordinates = machine.coordinates()?;
        let position = |switch: SwitchId| coordinates.position(switch.index()).to_vec();
        Some((coordinates.shape.clone(), machine.switches().map(position).collect()))
    }

    /// A torus-2QoS.conf for a machine that knows its coordinates.
    fn torus_conf(&self) -> Option<String> {
        TorusConf::of(self.view.machine()).map(|conf| conf.to_string())
    }

    /// Failed links, switches and nodes, as numbers.
    #[getter]
    fn failed_counts(&self) -> (usize, usize, usize) {
        let faults = &self.faults;
        (faults.links().len(), faults.switches().len(), faults.nodes().len())
    }

    /// Names of failed links, switches and nodes.
    fn failed(&self) -> (Vec<String>, Vec<String>, Vec<String>) {
        let names = Names::new(self.view.machine());
        (
            self.faults.links().iter().map(|&link| names.link(link)).collect(),
            self.faults.switches().iter().map(|&switch| names.switch(switch)).collect(),
            self.faults.nodes().iter().map(|&node| names.node(node)).collect(),
        )
    }

    /// What is in the fabric.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let summary = py.detach(|| Summary::new(&self.view, Seed::default()));
        parts::summary(py, &self.view, &summary)
    }

    fn switches(&self) -> PyResult<Table> {
        parts::switches(&self.view)
    }

    fn nodes(&self) -> PyResult<Table> {
        parts::nodes(&self.view)
    }

    fn links(&self) -> PyResult<Table> {
        parts::links(&self.view)
    }

    /// Writes what is alive as text.
    fn write(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let write = || {
            if self.view.is_intact() {
                return formats::write(self.view.machine(), format).map_err(|e| e.to_string());
            }
            let survivors = self.view.survivors().map_err(|e| e.to_string())?;
            formats::write(&survivors, format).map_err(|e| e.to_string())
        };
        py.detach(write).map_err(raise::<FormatError>)
    }

    /// Differences to another machine, by kind.
    fn diff<'py>(&self, py: Python<'py>, found: &Machine) -> PyResult<Bound<'py, PyDict>> {
        parts::diff(py, self.view.machine(), found.view.machine())
    }

    /// Draws failures from a model.
    fn draw(
        &self,
        py: Python<'_>,
        model: &str,
        params: Given,
        seed: u64,
        sample: u64,
    ) -> PyResult<Self> {
        let draw = || faults::bind(model, &params)?.draw(&self.view, Seed(seed), sample);
        Ok(self.broken(&py.detach(draw).map_err(raise::<FaultError>)?))
    }

    /// Fails parts by name.
    fn fail(
        &self,
        links: Vec<String>,
        switches: Vec<String>,
        nodes: Vec<String>,
    ) -> PyResult<Self> {
        let names = Names::new(self.view.machine());
        let links = links.iter().map(|text| names.find_link(text)).collect::<Result<_, _>>();
        let switches =
            switches.iter().map(|text| names.find_switch(text)).collect::<Result<_, _>>();
        let nodes = nodes.iter().map(|text| names.find_node(text)).collect::<Result<_, _>>();
        let more = FaultSet::new(
            links.map_err(raise::<FaultError>)?,
            switches.map_err(raise::<FaultError>)?,
            nodes.map_err(raise::<FaultError>)?,
        );
        Ok(self.broken(&more))
    }

    fn cut_nodes(&self) -> Vec<String> {
        let cut = cut_nodes(&self.view);
        if cut.is_empty() {
            return Vec::new();
        }
        let names = Names::new(self.view.machine());
        cut.into_iter().map(|node| names.node(node)).collect()
    }

    /// Routes what is alive: tables, or (reason, switch) of a refusal.
    fn route<'py>(
        &self,
        py: Python<'py>,
        engine: &str,
        params: Given,
        inputs: RouteInputs,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = engines::bind(engine, &params).map_err(raise::<RoutingError>)?;
        let options = inputs.options(self.view.machine())?;
        match py.detach(|| engine.route(&SwitchGraph::new(&self.view), &options)) {
            Outcome::Routed(routing) => {
                Ok(Bound::new(py, Routing::new(self.view.clone(), routing))?.into_any())
            }
            Outcome::Refused(refusal) => {
                let names = Names::new(self.view.machine());
                let switch = refusal.switch.map(|switch| names.switch(switch));
                Ok((refusal.reason, switch).into_pyobject(py)?.into_any())
            }
        }
    }

    /// Roots that Up*/Down* finds by rule; none if it would refuse.
    fn find_roots(&self) -> Vec<String> {
        let graph = SwitchGraph::new(&self.view);
        let names = Names::new(self.view.machine());
        let roots = updn::roots_by_rule(&graph).unwrap_or_default();
        roots.into_iter().map(|root| names.switch(root)).collect()
    }

    /// The most loaded channels by name, with their loads.
    fn hottest(&self, load: Vec<u64>, most: usize) -> Vec<String> {
        let machine = self.view.machine();
        let names = Names::new(machine);
        let mut order: Vec<usize> = (0..load.len().min(machine.channel_count())).collect();
        order.sort_by_key(|&channel| (std::cmp::Reverse(load[channel]), channel));
        let shown = order.into_iter().take(most).filter(|&channel| load[channel] > 0);
        shown
            .map(|channel| {
                let name = parts::channel(machine, &names, ChannelId::from_index(channel));
                format!("{name}: {} messages", load[channel])
            })
            .collect()
    }
}
