//! Jobs with spare nodes whose nodes fail.

use std::sync::Arc;

use numpy::IntoPyArray;
use numpy::ndarray::Array2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use runflat_core::grid::Grid;
use runflat_core::ids::NodeId;
use runflat_core::machine::SwitchGraph;
use runflat_core::params::Given;
use runflat_core::recovery::routing::PathFinder;
use runflat_core::recovery::spares::{
    Allocation, Choices, Folding, Occupancy, Pick, Policy, SideBySide, Step, Substitution, Tie,
    both_and_each, rounds_of, shape_kept,
};
use runflat_core::rng::Seed;
use runflat_core::sim::montecarlo::{
    AnyJob, Campaign, Network, Proved, Tally, Victims, Worst, any_job,
};
use runflat_core::workload;

use crate::errors::{SparesError, WorkloadError};
use crate::raise;
use crate::routing::Routing;

/// Ranks on a grid, with spares at its sides.
#[pyclass(frozen, module = "runflat._core")]
pub struct SparesJob {
    job: Box<dyn AnyJob>,
    /// One, or two jobs side by side.
    shapes: Vec<Vec<u32>>,
}

/// Where messages go, if not over the job's own grid: over one that it is folded onto, or over a routed fabric.
#[derive(FromPyObject)]
pub enum NetworkName<'py> {
    #[pyo3(transparent)]
    Folded(String),
    #[pyo3(transparent)]
    Routed(PyRef<'py, Routing>),
}

impl NetworkName<'_> {
    fn read(&self, grid: &Grid) -> PyResult<Network> {
        match self {
            NetworkName::Folded(name) => {
                let folding = Folding::named(name, grid.lengths()).map_err(raise::<SparesError>)?;
                let stands_on = folding.stands_on(grid).into();
                Ok(Network::Grid(Arc::new(folding.network), stands_on))
            }
            NetworkName::Routed(routing) => {
                let graph = SwitchGraph::new(&routing.view);
                let paths = PathFinder::new(&graph, &routing.routing)
                    .between_first(grid.node_count())
                    .map_err(raise::<SparesError>)?;
                Ok(Network::Routed(Arc::new(paths), graph.machine().channel_count()))
            }
        }
    }
}

/// What the paper leaves open, as names.
#[derive(FromPyObject)]
pub struct ChoiceNames {
    #[pyo3(item)]
    pick: String,
    #[pyo3(item)]
    tie: String,
    #[pyo3(item)]
    victims: String,
}

impl ChoiceNames {
    fn read(&self) -> PyResult<(Choices, Victims)> {
        let pick = named("pick", &self.pick, &PICKS)?;
        let tie = named("tie", &self.tie, &TIES)?;
        let victims = named("victims", &self.victims, &VICTIMS)?;
        Ok((Choices { pick, tie }, victims))
    }
}

/// Most phases of a workload; each keeps loads of its own.
const PHASES_MAX: u64 = 64;

const PICKS: [(&str, Pick); 3] =
    [("random", Pick::Random), ("fixed", Pick::Fixed), ("uneven", Pick::Uneven)];
const TIES: [(&str, Tie); 5] = [
    ("lowest", Tie::Lowest),
    ("highest", Tie::Highest),
    ("random", Tie::Random),
    ("aligned", Tie::Aligned),
    ("balanced", Tie::Balanced),
];
const VICTIMS: [(&str, Victims); 2] = [("hosts", Victims::Hosts), ("alive", Victims::Alive)];

fn named<T: Copy>(what: &str, given: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(name, _)| *name == given).map(|&(_, value)| value);
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        raise::<SparesError>(format!("{what} is one of {}, got `{given}`", names.join(", ")))
    })
}

#[pymethods]
impl SparesJob {
    /// A job on all nodes but the spares of `allocation`, with the messages of a workload, of which a rank sends at most `sends` at a time.
    #[new]
    #[pyo3(signature = (lengths, torus, allocation, traffic, params, seed, sends, network))]
    fn new(
        lengths: Vec<u32>,
        torus: bool,
        allocation: &str,
        traffic: &str,
        params: Given,
        seed: u64,
        sends: Option<u32>,
        network: Option<NetworkName<'_>>,
    ) -> PyResult<Self> {
        let grid = Arc::new(Grid::new(&lengths, torus).map_err(raise::<SparesError>)?);
        let allocation: Allocation = allocation.parse().map_err(raise::<SparesError>)?;
        let shape = allocation.job_shape(&grid).map_err(raise::<SparesError>)?;
        let occupancy = Occupancy::new(grid, &allocation).map_err(raise::<SparesError>)?;
        let bound = workload::bind(traffic, &params).map_err(raise::<WorkloadError>)?;
        let ranks = occupancy.node_of().len() as u32;
        let count = bound.phase_count(ranks).map_err(raise::<WorkloadError>)?;
        if count > PHASES_MAX {
            let message = format!(
                "{traffic} has {count} phases, at most {PHASES_MAX} are kept: take a shorter one"
            );
            return Err(raise::<SparesError>(message));
        }
        let mut rounds = Vec::new();
        for index in 0..count {
            let phase = bound.phase(ranks, index, Seed(seed)).map_err(raise::<WorkloadError>)?;
            rounds.extend(rounds_of(&phase, sends.unwrap_or(u32::MAX)));
        }
        let network = match network {
            Some(name) => name.read(occupancy.grid())?,
            None => Network::Own,
        };
        let job = any_job(occupancy, &rounds, network);
        Ok(SparesJob { job, shapes: vec![shape] })
    }

    /// Two jobs side by side along x, with spares of some thickness between them; rounds are the messages of both, and of each
    /// alone.
    #[staticmethod]
    fn side_by_side(
        lengths: Vec<u32>,
        torus: bool,
        thickness: u32,
        traffic: &str,
        params: Given,
        seed: u64,
    ) -> PyResult<Self> {
        let grid = Arc::new(Grid::new(&lengths, torus).map_err(raise::<SparesError>)?);
        let SideBySide { occupancy, shapes } =
            SideBySide::new(grid, thickness).map_err(raise::<SparesError>)?;
        let phase = |shape: &[u32]| {
            let mut params = params.clone();
            let text = shape.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            params.entry("shape".into()).or_insert(text);
            let bound = workload::bind(traffic, &params).map_err(raise::<WorkloadError>)?;
            bound.phase(shape.iter().product(), 0, Seed(seed)).map_err(raise::<WorkloadError>)
        };
        let rounds = both_and_each(&phase(&shapes[0])?, &phase(&shapes[1])?);
        let job = any_job(occupancy, &rounds, Network::Own);
        Ok(SparesJob { job, shapes: shapes.to_vec() })
    }

    /// Nodes along each dimension of what the ranks of each job have, x first.
    #[getter]
    fn job_shapes(&self) -> Vec<Vec<u32>> {
        self.shapes.clone()
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> usize {
        self.job.occupancy().node_of().len()
    }

    /// Number of spare nodes.
    #[getter]
    fn spares(&self) -> usize {
        self.job.occupancy().free_count()
    }

    /// Node of each rank before anything fails.
    #[getter]
    fn node_of_rank(&self) -> Vec<u32> {
        self.job.occupancy().node_of().iter().map(|node| node.0).collect()
    }

    /// The largest collision of each round before anything fails.
    #[getter]
    fn collisions(&self) -> Vec<u32> {
        self.job.collisions_before()
    }

    /// Nodes fail in turn: what each led to, and who is where afterwards.
    fn substitute<'py>(
        &self,
        py: Python<'py>,
        policy: &str,
        failed: Vec<u32>,
        choices: ChoiceNames,
        seed: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let policy = self.policy(policy)?;
        let (choices, _) = choices.read()?;
        let failed =
            failed.into_iter().map(|node| self.node(node)).collect::<PyResult<Vec<_>>>()?;
        let mut stream = Seed(seed).stream("slides", 0);
        let (steps, after) = py.detach(|| self.job.replay(&policy, choices, &failed, &mut stream));
        let grid = after.grid();
        let fields = PyDict::new(py);
        let steps = steps.iter().map(|step| step_fields(py, grid, step));
        fields.set_item("steps", PyList::new(py, steps.collect::<PyResult<Vec<_>>>()?)?)?;
        fields.set_item(
            "node_of_rank",
            after.node_of().iter().map(|node| node.0).collect::<Vec<_>>(),
        )?;
        fields.set_item("free", after.free_count())?;
        let mut rest = after.node_of();
        let kept = self.shapes.iter().all(|shape| {
            let (own, others) = rest.split_at(shape.iter().product::<u32>() as usize);
            rest = others;
            shape_kept(grid, shape, own)
        });
        fields.set_item("shape_kept", kept)?;
        Ok(fields)
    }

    /// Fails all nodes in all orders: by number of failures, the worst collision, a sequence that shows it, and so on.
    fn all_sequences<'py>(
        &self,
        py: Python<'py>,
        policy: &str,
        failures: usize,
        choices: ChoiceNames,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let policy = self.policy(policy)?;
        let (choices, _) = choices.read()?;
        if let Policy::Optimal(_) = policy {
            let message = format!("{policy} draws what it tries: take a policy that slides");
            return Err(raise::<SparesError>(message));
        }
        let found = py.detach(|| self.job.all_sequences(&policy, choices, failures));
        let numbers = |nodes: Vec<NodeId>| nodes.into_iter().map(|node| node.0).collect::<Vec<_>>();
        let fields = |one: Worst| {
            let fields = PyDict::new(py);
            fields.set_item("recovered", one.recovered)?;
            fields.set_item("collision_max", one.collision_max)?;
            fields.set_item("sequence", numbers(one.sequence))?;
            fields.set_item("unrecovered", one.unrecovered)?;
            fields.set_item("lost", numbers(one.lost))?;
            Ok(fields)
        };
        found.into_iter().map(fields).collect()
    }

    /// Worst cases with proof: by number of failures, what was found, what was proved, and the sequence. `report` is called with
    /// each as it is known; what it raises ends the search.
    fn worst_cases<'py>(
        &self,
        py: Python<'py>,
        policy: &str,
        failures: usize,
        limit: u64,
        choices: ChoiceNames,
        report: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let policy = self.policy(policy)?;
        let (choices, _) = choices.read()?;
        let mut raised = Ok(());
        let found = py.detach(|| {
            let mut tell = |one: &Proved| {
                raised = Python::attach(|py| {
                    py.check_signals()?;
                    let call = |report: &Py<PyAny>| report.call1(py, (proved_fields(py, one)?,));
                    report.as_ref().map(call).transpose().map(drop)
                });
                raised.is_ok()
            };
            self.job.worst_cases(&policy, choices, failures, limit, &mut tell)
        });
        raised?;
        let found = found.map_err(raise::<SparesError>)?;
        found.iter().map(|one| proved_fields(py, one)).collect()
    }

    /// Runs sequences of random failures; counts by policy, each an array by failure and value.
    fn campaign<'py>(
        &self,
        py: Python<'py>,
        policies: Vec<String>,
        failures: usize,
        sequences: (u64, u64),
        dead: Vec<u32>,
        choices: ChoiceNames,
        seed: u64,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (choices, victims) = choices.read()?;
        let campaign = Campaign {
            dead: dead.into_iter().map(|node| self.node(node)).collect::<PyResult<_>>()?,
            policies: policies.iter().map(|text| self.policy(text)).collect::<PyResult<_>>()?,
            choices,
            victims,
            failures,
            seed: Seed(seed),
        };
        let tallies = py.detach(|| self.job.campaign(&campaign, sequences.0..sequences.1));
        tallies.into_iter().map(|tally| tally_fields(py, tally)).collect()
    }
}

impl SparesJob {
    fn policy(&self, policy: &str) -> PyResult<Policy> {
        let dimensions = self.job.occupancy().grid().dimensions();
        Policy::parse(policy, dimensions).map_err(raise::<SparesError>)
    }

    fn node(&self, node: u32) -> PyResult<NodeId> {
        let count = self.job.occupancy().grid().node_count();
        if (node as usize) < count {
            return Ok(NodeId(node));
        }
        let message = format!("there is no node {node}: the machine has nodes 0 to {}", count - 1);
        Err(raise::<SparesError>(message))
    }
}

/// Checks a method's notation for a network of so many dimensions, and writes it out.
#[pyfunction]
pub fn check_substitution_policy(text: &str, dimensions: usize) -> PyResult<(String, Vec<u32>)> {
    let policy = Policy::parse(text, dimensions).map_err(raise::<SparesError>)?;
    Ok((policy.to_string(), policy.degrees().to_vec()))
}

/// Nodes along each dimension that an allocation leaves on a machine of that shape.
#[pyfunction]
pub fn allocation_shape(allocation: &str, lengths: Vec<u32>) -> PyResult<Vec<u32>> {
    let grid = Grid::new(&lengths, false).map_err(raise::<SparesError>)?;
    let allocation: Allocation = allocation.parse().map_err(raise::<SparesError>)?;
    allocation.job_shape(&grid).map_err(raise::<SparesError>)
}

/// Share of the nodes that an allocation keeps: exactly on a grid of that shape, and by the paper's formula if it has one.
#[pyfunction]
pub fn spare_share(allocation: &str, lengths: Vec<u32>) -> PyResult<(f64, Option<f64>)> {
    let grid = Grid::new(&lengths, false).map_err(raise::<SparesError>)?;
    let allocation: Allocation = allocation.parse().map_err(raise::<SparesError>)?;
    let exact = allocation.share(&grid).map_err(raise::<SparesError>)?;
    Ok((exact, allocation.share_by_formula(grid.node_count() as f64)))
}

fn step_fields<'py>(py: Python<'py>, grid: &Grid, step: &Step) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("failed", step.failed.0)?;
    let (outcome, degree) = match step.substitution {
        Substitution::Slide(degree) => ("substituted", Some(degree)),
        Substitution::Searched => ("substituted", None),
        Substitution::Idle => ("idle", None),
        Substitution::NoSpareLeft(_) => ("no_spare_left", None),
    };
    fields.set_item("outcome", outcome)?;
    fields.set_item("degree", degree)?;
    let moves = step.moves.iter().map(|one| (one.rank.0, one.from.0, one.to.0));
    fields.set_item("moves", moves.collect::<Vec<_>>())?;
    let hops = step.moves.iter().map(|one| grid.hops(one.from, one.to));
    fields.set_item("hops_max", hops.max().unwrap_or(0))?;
    fields.set_item("collision_max", step.collision_max())?;
    fields.set_item("collisions", &step.collisions)?;
    fields.set_item("collision_bound", step.collision_bound)?;
    Ok(fields)
}

fn proved_fields<'py>(py: Python<'py>, one: &Proved) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("failures", one.failures)?;
    fields.set_item("collision_max", one.collision_max)?;
    fields.set_item("bound", one.bound)?;
    fields.set_item("sequence", one.sequence.iter().map(|node| node.0).collect::<Vec<_>>())?;
    fields.set_item("states", one.states)?;
    Ok(fields)
}

fn tally_fields(py: Python<'_>, tally: Tally) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    for (name, rows) in [("collisions", tally.collisions), ("degrees", tally.degrees)] {
        let wide = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut table = Array2::<u64>::zeros((rows.len(), wide));
        for (mut to, row) in table.rows_mut().into_iter().zip(rows) {
            to.iter_mut().zip(row).for_each(|(to, count)| *to = count);
        }
        fields.set_item(name, table.into_pyarray(py))?;
    }
    fields.set_item("idle", tally.idle.into_pyarray(py))?;
    fields.set_item("unrecovered", tally.unrecovered.into_pyarray(py))?;
    Ok(fields)
}
