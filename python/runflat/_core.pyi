"""The compiled half of the package: what `crates/bindings` has, with types."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COMMIT",
    "FaultError",
    "FlitError",
    "FormatError",
    "GeneratorError",
    "Machine",
    "Routing",
    "RoutingError",
    "RunflatError",
    "SparesError",
    "SparesJob",
    "Table",
    "TableError",
    "WorkloadError",
    "__version__",
    "allocation_shape",
    "check_engine",
    "check_fault_model",
    "check_flit_options",
    "check_generator",
    "check_substitution_policy",
    "check_workload",
    "crossings",
    "engines",
    "extrapolate_lost_paths",
    "fault_models",
    "fit_line",
    "flit_parameters",
    "formats",
    "generators",
    "opensm_command",
    "plan_update",
    "read_guids",
    "read_tables",
    "spare_share",
    "table_formats",
    "workloads",
    "write_tables",
]

__version__: str
COMMIT: str

class RunflatError(Exception): ...
class FormatError(RunflatError): ...
class GeneratorError(RunflatError): ...
class FaultError(RunflatError): ...
class FlitError(RunflatError): ...
class RoutingError(RunflatError): ...
class WorkloadError(RunflatError): ...
class SparesError(RunflatError): ...
class TableError(RunflatError): ...

@type_check_only
class _Param(TypedDict):
    name: str
    doc: str
    kind: str
    default: str | None

@type_check_only
class _Part(TypedDict):
    name: str
    summary: str
    params: list[_Param]

@type_check_only
class _Engine(_Part):
    title: str

@type_check_only
class _Summary(TypedDict):
    nodes: int
    switches: int
    links: int
    node_links: int
    planes: int
    leaf_switches: int
    unbalanced_leaves: int
    degraded_links: int
    unbalanced_leaf_names: list[str]
    degraded_link_names: list[str]
    aggregation_nodes: int
    radix: list[tuple[int, int]]
    rates: list[tuple[str, int]]
    diameter: int | None
    distance_mean: float | None
    distances_sampled: bool
    bisection_gb_s: float | None
    bisection_links: int | None

@type_check_only
class _Diff(TypedDict):
    missing_parts: int
    extra_parts: int
    replaced_parts: int
    renamed_parts: int
    missing_links: int
    extra_links: int
    wrong_links: int
    changed_rates: int
    differences: list[str]

@type_check_only
class _RouteInputs(TypedDict):
    roots: list[str]
    compute_nodes: list[str]
    io_nodes: list[str]
    routing_order: list[str]
    lmc: int
    max_vl: int
    compat: str | None
    torus_conf: str | None

@type_check_only
class _Check(TypedDict):
    verdict: str
    pairs: int
    unreachable_pairs: int
    cut_pairs: int
    looping_pairs: int
    nonminimal_pairs: int
    hops_max: int
    hops_mean: float
    forwarding_index_max: int
    forwarding_index_mean: float
    forwarding_index: NDArray[np.uint64]
    vls: int
    cycle: list[str] | None
    cycle_vls: list[int] | None
    unreachable: list[tuple[str, str]]

@type_check_only
class _Update(TypedDict):
    changed_entries: int
    changed_levels: int
    changed_blocks: int
    rounds: int
    extra_writes: int
    dropped_entries: int
    credit_cycle: list[str] | None
    writes: Table

@type_check_only
class _Congestion(TypedDict):
    outcome: str
    throughput_gb_s: float
    simulated_ns: float
    messages: int
    unrouted_messages: int
    collision_max: int
    load: NDArray[np.uint64]
    received_gb_s: NDArray[np.float64]

@type_check_only
class _FlitInputs(TypedDict):
    preset: str
    parameters: Mapping[str, str]
    precision: float
    most_us: float
    starting: Callable[[int], bool] | None
    progress: Callable[[float], bool] | None

@type_check_only
class _Flit(TypedDict):
    outcome: str
    cycle: list[str] | None
    cycle_vls: list[int] | None
    stuck: str | None
    throughput_gb_s: float | None
    half_width_gb_s: float | None
    simulated_ns: float
    warm_up_ns: float
    latency_ns_mean: float | None
    latency_ns_median: float | None
    latency_ns_p99: float | None
    memory_bytes: int
    messages: int
    unrouted_messages: int
    delivered_flits: int
    flit_hops: int
    events: int
    received_gb_s: NDArray[np.float64]

@final
class Machine:
    @staticmethod
    def read(data: bytes, label: str) -> tuple[Machine, list[tuple[int, str]]]: ...
    @staticmethod
    def make(text: str, params: Mapping[str, str], seed: int) -> Machine: ...
    @staticmethod
    def build(
        name: str,
        switches: Sequence[str],
        nodes: Sequence[str],
        cables: Sequence[tuple[str, str]],
        rate: str,
    ) -> Machine: ...
    @property
    def name(self) -> str: ...
    @property
    def synthetic(self) -> bool: ...
    @property
    def switch_count(self) -> int: ...
    @property
    def node_count(self) -> int: ...
    @property
    def lid_count(self) -> int: ...
    @property
    def endpoint_count(self) -> int: ...
    @property
    def switch_link_count(self) -> int: ...
    @property
    def plane_count(self) -> int: ...
    @property
    def rank_count(self) -> int: ...
    @property
    def failed_counts(self) -> tuple[int, int, int]: ...
    def failed(self) -> tuple[list[str], list[str], list[str]]: ...
    def summary(self) -> _Summary: ...
    def switches(self) -> Table: ...
    def nodes(self) -> Table: ...
    def links(self) -> Table: ...
    def write(self, format: str) -> str: ...
    def diff(self, found: Machine) -> _Diff: ...
    def draw(self, model: str, params: Mapping[str, str], seed: int, sample: int) -> Machine: ...
    def fail(
        self, links: Sequence[str], switches: Sequence[str], nodes: Sequence[str]
    ) -> Machine: ...
    def torus_conf(self) -> str | None: ...
    def coordinates(self) -> tuple[list[int], list[list[int]]] | None: ...
    def cut_nodes(self) -> list[str]: ...
    def route(
        self, engine: str, params: Mapping[str, str], inputs: _RouteInputs
    ) -> Routing | tuple[str, str | None]: ...
    def find_roots(self) -> list[str]: ...
    def hottest(self, load: Sequence[int], most: int) -> list[str]: ...

@final
class Routing:
    @staticmethod
    def from_ports(machine: Machine, lmc: int, ports: NDArray[np.uint8]) -> Routing: ...
    def ports(self) -> NDArray[np.uint8]: ...
    @property
    def lmc(self) -> int: ...
    @property
    def layers(self) -> int: ...
    def service_levels(self) -> NDArray[np.uint8] | None: ...
    def sl_to_vl(self) -> list[NDArray[np.uint8]] | None: ...
    def check(self) -> _Check: ...
    def lost_paths(self, broken: Machine) -> int: ...
    def changed_entries(self, other: Routing) -> int: ...
    def simulate(
        self, traffic: str, params: Mapping[str, str], seed: int, injection_gb_s: float | None
    ) -> _Congestion: ...
    def simulate_flits(
        self, traffic: str, params: Mapping[str, str], seed: int, inputs: _FlitInputs
    ) -> _Flit: ...
    def simulate_flit_phases(
        self, phases: Sequence[NDArray[np.uint64]], steady: bool, inputs: _FlitInputs
    ) -> _Flit: ...
    def simulate_phases(
        self, phases: Sequence[NDArray[np.uint64]], steady: bool, injection_gb_s: float | None
    ) -> _Congestion: ...

@final
class Table:
    @staticmethod
    def from_rows(
        columns: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]]
    ) -> Table: ...
    @staticmethod
    def from_parquet(data: bytes) -> Table: ...
    def to_parquet(self, metadata: Sequence[tuple[str, str]]) -> bytes: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def to_rows(self) -> list[dict[str, Any]]: ...
    def column(self, name: str) -> list[Any]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def generators() -> list[_Part]: ...
def fault_models() -> list[_Part]: ...
def workloads() -> list[_Part]: ...
def engines() -> list[_Engine]: ...
def formats() -> list[_Part]: ...
def check_generator(text: str, params: Mapping[str, str]) -> None: ...
def check_engine(text: str, params: Mapping[str, str]) -> None: ...
def check_fault_model(text: str, params: Mapping[str, str]) -> None: ...
def check_workload(
    text: str, params: Mapping[str, str], ranks: int | None = None, flits: bool = False
) -> None: ...
def extrapolate_lost_paths(forwarding_index_mean: float, failed_links: int) -> float: ...
def fit_line(points: Sequence[tuple[float, float]]) -> dict[str, float | None] | None: ...
def crossings(
    lines: Sequence[tuple[float, float]], first: float, last: float
) -> list[tuple[float, int, int]]: ...
def read_tables(
    machine: Machine,
    tables: tuple[bytes, str],
    guid2lid: tuple[bytes, str] | None,
    levels: tuple[bytes, str] | None,
    sl_to_vl: tuple[bytes, str] | None,
    lmc: int | None,
) -> tuple[Routing, str, list[tuple[str, int, str]]]: ...
def read_guids(
    machine: Machine, file: tuple[bytes, str], kind: str
) -> tuple[list[str], list[tuple[str, int, str]]]: ...
def check_flit_options(preset: str, parameters: Mapping[str, str]) -> None: ...
def flit_parameters() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]: ...
def table_formats() -> list[tuple[str, str]]: ...
def write_tables(
    routing: Routing, format: str, guid2lid: tuple[bytes, str] | None, plane: int | None
) -> str: ...
def plan_update(
    old: Routing, new: Routing, guid2lid: tuple[bytes, str] | None, blocks: bool
) -> _Update: ...
def opensm_command(
    routing: Routing, file: str, cache: str | None, engine: str | None
) -> tuple[str, list[str]]: ...

@final
class SparesJob:
    def __new__(
        cls,
        lengths: Sequence[int],
        torus: bool,
        allocation: str,
        traffic: str,
        params: Mapping[str, str],
        seed: int,
        sends: int | None,
        network: str | Routing | None,
    ) -> SparesJob: ...
    @staticmethod
    def side_by_side(
        lengths: Sequence[int],
        torus: bool,
        thickness: int,
        traffic: str,
        params: Mapping[str, str],
        seed: int,
    ) -> SparesJob: ...
    @property
    def job_shapes(self) -> list[list[int]]: ...
    @property
    def ranks(self) -> int: ...
    @property
    def spares(self) -> int: ...
    @property
    def node_of_rank(self) -> list[int]: ...
    @property
    def collisions(self) -> list[int]: ...
    def substitute(
        self, policy: str, failed: Sequence[int], choices: Mapping[str, str], seed: int
    ) -> dict[str, Any]: ...
    def all_sequences(
        self, policy: str, failures: int, choices: Mapping[str, str]
    ) -> list[dict[str, Any]]: ...
    def worst_cases(
        self,
        policy: str,
        failures: int,
        limit: int,
        choices: Mapping[str, str],
        report: Callable[[dict[str, Any]], None] | None,
    ) -> list[dict[str, Any]]: ...
    def campaign(
        self,
        policies: Sequence[str],
        failures: int,
        sequences: tuple[int, int],
        dead: Sequence[int],
        choices: Mapping[str, str],
        seed: int,
    ) -> list[dict[str, NDArray[np.uint64]]]: ...

def allocation_shape(allocation: str, lengths: Sequence[int]) -> list[int]: ...
def check_substitution_policy(text: str, dimensions: int) -> tuple[str, list[int]]: ...
def spare_share(allocation: str, lengths: Sequence[int]) -> tuple[float, float | None]: ...
