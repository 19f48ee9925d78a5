"""The plan of a study: what it may say, and all that is wrong with one at once.

A plan is a TOML file in the order the data flows: machine, faults, recovery, workload, simulation, measure, report. Its
JSON Schema, for editors, is `docs/plan.schema.json`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from runflat import _core, plugins, workloads
from runflat._core import RunflatError
from runflat.inputs import as_text
from runflat.simulation import MOST_US, FlitOptions

Text = Annotated[str, BeforeValidator(as_text)]
"""A value that plans may write as number, list or string."""


class PlanError(RunflatError):
    """The plan is wrong; the message lists every mistake with its key."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MachinePlan(_Part):
    """A machine of the study: read from a file or generated."""

    name: str | None = Field(None, description="what reports call it; default: its own name")
    file: str | None = Field(None, description="fabric file, relative to the plan")
    make: str | None = Field(None, description="generator or notation, as `16-ary 2-tree`")
    params: dict[str, Text] = Field(default_factory=dict, description="parameters of `make`")
    levels: list[Text] | None = Field(
        None, description="failure levels of this machine instead of those of [faults]"
    )
    torus_conf: str | None = Field(
        None, description="torus-2QoS.conf of the fabric, relative to the plan"
    )
    roots: list[str] = Field(
        default_factory=list,
        description='root switches, by name, GUID or pattern with `*`; for `roots = "machine"`',
    )

    @field_validator("file", "torus_conf")
    @classmethod
    def _exists(cls, name: str | None, info: ValidationInfo) -> str | None:
        folder = (info.context or {}).get("folder")
        if name is not None and folder is not None and not (folder / name).is_file():
            raise ValueError(
                f"there is no file {str(folder / name)!r}; names start at the plan's folder"
            )
        return name

    @model_validator(mode="after")
    def _one_source(self) -> MachinePlan:
        if (self.file is None) == (self.make is None):
            raise ValueError("give `file` (a fabric file) or `make` (a generator), one of them")
        if self.make is not None and plugins.find("generator", self.make) is None:
            _fits(_core.check_generator, self.make, self.params)
        return self


class FaultsPlan(_Part):
    """What fails: levels of one parameter of a fault model, several samples each."""

    model: str = Field("random", description="fault model")
    vary: str = Field("links", description="the parameter that `levels` sets")
    params: dict[str, Text] = Field(
        default_factory=dict, description="other parameters, as keep_connected = true"
    )
    levels: list[Text] = Field(
        ["0", "1%", "5%"], description='values of it, as ["0", "1%"]', validate_default=True
    )
    samples: int = Field(10, ge=1, le=100_000, description="independent draws at each level")

    @field_validator("model")
    @classmethod
    def _known(cls, name: str) -> str:
        return _known_name("fault model", name, [part["name"] for part in _core.fault_models()])

    @field_validator("levels")
    @classmethod
    def _levels_fit(cls, levels: list[str], info: ValidationInfo) -> list[str]:
        if {"model", "vary", "params"} <= info.data.keys():
            for level in levels:
                _check_level(info.data["model"], info.data["vary"], info.data["params"], level)
        return levels

    def check_level(self, level: str) -> None:
        """Raise `ValueError` if the model does not take that value of the parameter that varies."""
        _check_level(self.model, self.vary, self.params, level)


class EnginePlan(_Part):
    """A routing engine with its inputs."""

    engine: str = Field(description="engine, as `minhop` or `dfsssp(layering=online)`")
    title: str | None = Field(None, description="what reports call it")
    params: dict[str, Text] = Field(default_factory=dict, description="parameters of the engine")
    roots: Literal["auto", "intact", "machine"] | list[str] = Field(
        "auto",
        description="root switches: found after the failures, found before them and kept, "
        "those of the machine, or named",
    )
    compute_nodes: list[str] = Field(default_factory=list, description="nodes served first")
    io_nodes: list[str] = Field(default_factory=list, description="nodes served second")
    routing_order: list[str] = Field(
        default_factory=list, description="destinations balanced first"
    )
    lmc: int = Field(0, ge=0, le=7, description="LID mask count")
    max_vl: int = Field(8, ge=1, le=15, description="virtual lanes that may be used")
    compat: Literal["opensm"] | None = Field(None, description="whose order breaks ties")

    @field_validator("engine")
    @classmethod
    def _known(cls, text: str) -> str:
        if plugins.find("engine", text) is None:
            name = text.partition("(")[0].strip()
            _known_name("engine", name, [part["name"] for part in _core.engines()])
        return text

    @model_validator(mode="after")
    def _params_fit(self) -> EnginePlan:
        if plugins.find("engine", self.engine) is None:
            _fits(_core.check_engine, self.engine, self.params)
        return self

    @property
    def label(self) -> str:
        """What reports call the engine."""
        if self.title is not None:
            return self.title
        titles = {part["name"]: part["title"] for part in _core.engines()}
        name, bracket, rest = self.engine.partition("(")
        label = titles.get(name.strip(), name) + bracket + rest
        if self.roots == "auto":
            return label
        return f"{label}, roots {'kept' if self.roots == 'intact' else 'given'}"


class RecoveryPlan(_Part):
    """What is done about the failures: engines to compare."""

    engines: list[EnginePlan] = Field(
        default_factory=lambda: [EnginePlan(engine="minhop"), EnginePlan(engine="updn")],
        min_length=1,
    )

    @field_validator("engines", mode="before")
    @classmethod
    def _short_form(cls, engines: Any) -> Any:
        if not isinstance(engines, list):
            return engines
        return [{"engine": item} if isinstance(item, str) else item for item in engines]

    @field_validator("engines")
    @classmethod
    def _different(cls, engines: list[EnginePlan]) -> list[EnginePlan]:
        labels = [engine.label for engine in engines]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(f"two engines are called {twice[0]!r}; give one a `title`")
        return engines


class WorkloadPlan(_Part):
    """Who sends what."""

    traffic: str = Field("uniform", description="workload")
    params: dict[str, Text] = Field(default_factory=dict, description="its parameters")

    @field_validator("traffic")
    @classmethod
    def _known(cls, name: str) -> str:
        return _known_name("workload", name, [part["name"] for part in _core.workloads()])

    @model_validator(mode="after")
    def _params_fit(self, info: ValidationInfo) -> WorkloadPlan:
        if plugins.find("workload", self.traffic) is None:
            folder = (info.context or {}).get("folder")
            try:
                self.params.update(workloads.texts(self.traffic, self.params, folder))
            except RunflatError as error:
                raise ValueError(str(error)) from error
            _fits(_core.check_workload, self.traffic, self.params)
        return self


class SimulationPlan(_Part):
    """How the workload is run."""

    mode: Literal["congestion", "flit"] = Field(
        "congestion", description="max-min fair sharing, or every flit under flow control"
    )
    injection_gb_s: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="congestion: most that one node port injects, in GB/s",
    )
    preset: str = Field("sc14", description="flit: what hosts, switches and cables are like")
    params: dict[str, Text] = Field(
        default_factory=dict, description="flit: parameters other than the preset's"
    )
    precision: float = Field(
        0.05, gt=0, lt=1, description="flit: half the 99 % interval of a node's bandwidth, relative"
    )
    most_us: float = Field(
        100_000, gt=0, le=MOST_US, description="flit: most time to simulate, in microseconds"
    )

    @property
    def flit_options(self) -> FlitOptions:
        """Return the options of the flit simulation."""
        return FlitOptions(self.preset, self.params, self.precision, self.most_us)

    @model_validator(mode="after")
    def _flit_options_fit(self) -> SimulationPlan:
        _fits(_core.check_flit_options, self.preset, self.params)
        return self


class MeasurePlan(_Part):
    """What is measured beside throughput."""

    lost_paths_patterns: int = Field(
        100, ge=0, le=100_000, description="fault patterns a level for lost paths; 0: none"
    )


class ReportPlan(_Part):
    """What the report shows beside the figures."""

    map: bool = Field(True, description="fabric map with failed parts and hot links")


class Plan(_Part):
    """A whole study."""

    title: str = Field(description="headline of the report")
    seed: int = Field(1, ge=0, lt=2**64, description="the one seed of everything drawn")
    machine: list[MachinePlan] = Field(min_length=1)
    faults: FaultsPlan = Field(default_factory=FaultsPlan)
    recovery: RecoveryPlan = Field(default_factory=RecoveryPlan)
    workload: WorkloadPlan = Field(default_factory=WorkloadPlan)
    simulation: SimulationPlan = Field(default_factory=SimulationPlan)
    measure: MeasurePlan = Field(default_factory=MeasurePlan)
    report: ReportPlan = Field(default_factory=ReportPlan)

    _folder: Path = Path()
    _text: str = ""
    _label: str = "plan"

    @field_validator("machine", mode="before")
    @classmethod
    def _single(cls, machines: Any) -> Any:
        return [machines] if isinstance(machines, dict) else machines

    @property
    def folder(self) -> Path:
        """Where relative file names start."""
        return self._folder

    @property
    def text(self) -> str:
        """The plan as it was written."""
        return self._text

    @property
    def label(self) -> str:
        """What messages call the plan: its file."""
        return self._label

    @cached_property
    def inputs(self) -> list[tuple[str, str]]:
        """Names and SHA-256 of the files of fabrics and of the workload."""
        named = (name for machine in self.machine for name in (machine.file, machine.torus_conf))
        files = [name for name in named if name is not None]
        if self.workload.traffic in workloads.RECORDED and "file" in self.workload.params:
            files.append(self.workload.params["file"])
        return [(name, _sha256(self.folder / name)) for name in files]

    @cached_property
    def key(self) -> str:
        """SHA-256 of all that results depend on: what the plan means, its inputs, and this version."""
        meaning = f"{self.model_dump_json()}\n{self.inputs}\n{_core.__version__}"
        return hashlib.sha256(meaning.encode()).hexdigest()

    def levels_of(self, machine: MachinePlan) -> list[str]:
        """Return the failure levels of a machine."""
        return machine.levels if machine.levels is not None else self.faults.levels


def read_plan(path: str | Path) -> Plan:
    """Read and check a plan.

    Parameters
    ----------
    path : str or Path
        A TOML file.

    Returns
    -------
    Plan
        The checked plan.

    Raises
    ------
    PlanError
        Listing every mistake: key, what was found, what is allowed.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: cannot be read: {error}; give a TOML plan") from error
    return parse_plan(text, path.parent, label=str(path))


def parse_plan(text: str, folder: Path, label: str = "plan") -> Plan:
    """Check a plan given as text; `folder` is where its file names start.

    Modules that `RUNFLAT_PLUGINS` names are imported first, so that other processes know their parts too.

    Raises
    ------
    PlanError
        Listing every mistake.
    """
    plugins.load_named()
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{label}: this is no TOML: {error}") from error
    try:
        plan = Plan.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        raise PlanError(f"{label}: {_sentences(error)}") from error
    object.__setattr__(plan, "_folder", folder)
    object.__setattr__(plan, "_text", text)
    object.__setattr__(plan, "_label", label)
    refuse(plan, _level_mistakes(plan))
    return plan


def refuse(plan: Plan, mistakes: list[str]) -> None:
    """Raise a `PlanError` that lists the mistakes, if there are any."""
    if mistakes:
        raise PlanError(f"{plan.label}: {_counted(len(mistakes))}\n" + "\n".join(mistakes))


def mistake(key: str, check: Callable[[], object]) -> list[str]:
    """Return what is wrong at a key of a plan, as a list of one line, or of none if the check passes."""
    try:
        check()
    except RunflatError as error:
        return [f"  {key}: {error}"]
    return []


def _level_mistakes(plan: Plan) -> list[str]:
    """Find levels of single machines that the fault model does not take."""
    mistakes = []
    for at, machine in enumerate(plan.machine):
        for level in machine.levels or []:
            try:
                plan.faults.check_level(level)
            except ValueError as error:
                mistakes.append(f"  machine[{at}].levels: {error}")
    return mistakes


def _check_level(model: str, vary: str, params: dict[str, str], level: str) -> None:
    if plugins.find("fault model", model) is None:
        _fits(_core.check_fault_model, model, {**params, vary: level})


def _fits(check: Callable[[str, dict[str, str]], None], name: str, params: dict[str, str]) -> None:
    try:
        check(name, params)
    except RunflatError as error:
        raise ValueError(str(error)) from error


def _known_name(kind: str, name: str, built_in: list[str]) -> str:
    known = built_in + plugins.names(kind)
    if name not in known:
        raise ValueError(f"there is no {kind} `{name}`; there are {', '.join(known)}")
    return name


def _sentences(error: ValidationError) -> str:
    lines = []
    for mistake in error.errors(include_url=False):
        key = ""
        for step in mistake["loc"]:
            key += f"[{step}]" if isinstance(step, int) else f".{step}" if key else str(step)
        message = mistake["msg"].removeprefix("Value error, ")
        if mistake["type"] == "missing":
            message = "is missing"
        elif mistake["type"] == "extra_forbidden":
            message = "is no key of a plan here"
        elif mistake["type"] != "value_error":
            message = f"{message[:1].lower()}{message[1:]}, got {mistake['input']!r}"
        lines.append(f"  {key or 'plan'}: {message}")
    return f"{_counted(len(lines))}\n" + "\n".join(lines)


def _counted(count: int) -> str:
    return f"{count} mistake{'s' if count > 1 else ''} in the plan"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
