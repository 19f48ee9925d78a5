"""One scenario: a pure function of the plan and an index.

Scenarios are numbered machine by machine, level by level, engine by engine, sample by sample, lost-path counts last. The
same (machine, level, sample) draws the same failures for every engine.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from runflat import _core, plugins
from runflat._core import FaultError, WorkloadError
from runflat.faults import Faults
from runflat.machine import Machine, load, make
from runflat.outcome import Refusal
from runflat.routing import Routing
from runflat.simulation import Congestion, Flit
from runflat.study.plan import Plan, mistake, parse_plan, refuse

Row = dict[str, Any]

CYCLE_SEPARATOR = "; "
"""Between the channels of a credit loop in a table cell."""


@dataclass(frozen=True)
class Scenario:
    """What one index stands for.

    Attributes
    ----------
    index : int
        Its number in the study.
    table : str
        Which table its rows go to: `throughput` or `lost_paths`.
    machine, level, engine : int
        Positions in the plan's lists.
    sample : int
        Which draw; for lost paths all patterns belong to one scenario.
    """

    index: int
    table: str
    machine: int
    level: int
    engine: int
    sample: int


class ScenarioSet:
    """All scenarios of a plan, with the intact machines kept from one to the next.

    Parameters
    ----------
    plan : Plan
        The study.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.scenarios = _enumerate(plan)
        self._machines: dict[int, Machine] = {}
        self._roots: dict[int, list[str]] = {}
        self._known_tables: dict[tuple[int, int], Routing | None] = {}
        self._lock = Lock()

    def check(self) -> None:
        """Find the mistakes of the plan that only its machines show, before anything is run.

        Raises
        ------
        PlanError
            Listing every mistake: sizes that no machine has, more failures than parts, roots that are no switch, a
            workload that does not fit the number of ranks.
        """
        plan = self.plan
        last = max(plan.faults.samples, plan.measure.lost_paths_patterns) - 1
        mistakes: list[str] = []
        for number, source in enumerate(plan.machine):
            wrong = mistake(f"machine[{number}]", partial(self.intact, number))
            mistakes += wrong
            if wrong:
                continue
            intact = self.intact(number)
            key = "faults.levels" if source.levels is None else f"machine[{number}].levels"
            for level in plan.levels_of(source):
                mistakes += mistake(key, partial(self._check_level, intact, level, last))
            for at, engine in enumerate(plan.recovery.engines):
                if isinstance(engine.roots, list):
                    roots = partial(intact.fail, Faults(switches=engine.roots))
                    mistakes += mistake(f"recovery.engines[{at}].roots", roots)
                elif engine.roots == "machine":
                    mistakes += mistake(
                        f"machine[{number}].roots", partial(self._named_roots, number)
                    )
            if plugins.find("workload", plan.workload.traffic) is None:
                flits = plan.simulation.mode == "flit"
                workload = plan.workload.traffic, plan.workload.params, intact.rank_count, flits
                mistakes += mistake("workload", partial(_core.check_workload, *workload))
        if not mistakes:
            names = [self.machine_name(number) for number in range(len(plan.machine))]
            twice = (at for at, name in enumerate(names) if name in names[:at])
            mistakes += [
                f"  machine[{at}].name: two machines are called {names[at]!r}; give each a `name`"
                for at in twice
            ]
        refuse(plan, list(dict.fromkeys(mistakes)))

    def run(self, index: int) -> list[Row]:
        """Compute the rows of one scenario.

        Parameters
        ----------
        index : int
            Which scenario.

        Returns
        -------
        list of dict
            Rows of the scenario's table, the same whenever and wherever they are computed.
        """
        scenario = self.scenarios[index]
        if scenario.table == "lost_paths":
            return self._lost_paths(scenario)
        return [self._throughput(scenario)]

    def intact(self, machine: int) -> Machine:
        """Return a machine of the plan with nothing failed."""
        with self._lock:
            if machine not in self._machines:
                source = self.plan.machine[machine]
                if source.file is not None:
                    self._machines[machine] = load(self.plan.folder / source.file)
                else:
                    name = source.make or ""
                    self._machines[machine] = make(name, seed=self.plan.seed, **source.params)
            return self._machines[machine]

    def broken(self, scenario: Scenario, sample: int) -> Machine:
        """Return the scenario's machine with the failures of a sample."""
        return self._break(self.intact(scenario.machine), self.level(scenario), sample)

    def route(self, scenario: Scenario, machine: Machine) -> Routing | Refusal:
        """Route a machine with the scenario's engine."""
        engine = self.plan.recovery.engines[scenario.engine]
        roots = engine.roots if isinstance(engine.roots, list) else []
        if engine.roots == "machine":
            roots = self._named_roots(scenario.machine)
        elif engine.roots == "intact":
            roots = self._intact_roots(scenario.machine)
            if not roots:
                return Refusal("the intact fabric has no roots by rule; name them in the plan")
        return machine.route(
            engine.engine,
            roots=roots,
            compute_nodes=engine.compute_nodes,
            io_nodes=engine.io_nodes,
            routing_order=engine.routing_order,
            lmc=engine.lmc,
            max_vl=engine.max_vl,
            compat=engine.compat,
            torus_conf=self._torus_conf(scenario.machine),
            **engine.params,
        )

    def flit_memory(self) -> int:
        """Return the bytes that one flit simulation takes at the most; 0 if the plan has none.

        Of the intact machines: failures may cost an engine more lanes.
        """
        simulation, workload = self.plan.simulation, self.plan.workload
        if simulation.mode != "flit":
            return 0
        most = 0
        throughputs = (scenario for scenario in self.scenarios if scenario.table == "throughput")
        for scenario in {(part.machine, part.engine): part for part in throughputs}.values():
            if routing := self._intact_tables(scenario):
                own = routing.flit_memory(
                    workload.traffic,
                    seed=self.plan.seed,
                    options=simulation.flit_options,
                    **dict[str, Any](workload.params),
                )
                most = max(most, own)
        return most

    def machine_name(self, machine: int) -> str:
        """Return what reports call a machine."""
        return self.plan.machine[machine].name or self.intact(machine).name

    def level(self, scenario: Scenario) -> str:
        """Return the failure level of a scenario as the plan has it."""
        return self.plan.levels_of(self.plan.machine[scenario.machine])[scenario.level]

    def _break(self, intact: Machine, level: str, sample: int) -> Machine:
        faults = self.plan.faults
        params: dict[str, Any] = {**faults.params, faults.vary: level}
        return intact.fail(model=faults.model, seed=self.plan.seed, sample=sample, **params)

    def _check_level(self, intact: Machine, level: str, sample: int) -> None:
        failed = sum(self._break(intact, level, sample).failed_counts)
        if failed and is_nothing(level):
            raise FaultError(
                f"level `{level}` stands for the intact machine, but {failed} parts fail there; "
                "leave the level out, or take what else fails out of `params`"
            )

    def _intact_roots(self, machine: int) -> list[str]:
        intact = self.intact(machine)
        with self._lock:
            if machine not in self._roots:
                self._roots[machine] = intact.find_roots()
            return self._roots[machine]

    def _named_roots(self, machine: int) -> list[str]:
        """Return the machine's own roots; patterns stand for all switches they match."""
        names = self.intact(machine).switches().column("name")
        roots: list[str] = []
        for text in self.plan.machine[machine].roots:
            matching = fnmatch.filter(names, text) if "*" in text else [text]
            if not matching:
                raise FaultError(f"no switch is called like {text!r}; give a name or a GUID")
            roots += matching
        self.intact(machine).fail(Faults(switches=roots))
        return roots

    def _torus_conf(self, machine: int) -> str | None:
        name = self.plan.machine[machine].torus_conf
        return None if name is None else (self.plan.folder / name).read_text(encoding="utf-8")

    def _throughput(self, scenario: Scenario) -> Row:
        machine = self.broken(scenario, scenario.sample)
        row = self._head(scenario, machine)
        routing = self.route(scenario, machine)
        if isinstance(routing, Refusal):
            return {**row, "outcome": "refused", "reason": _reason(routing)}
        check = routing.check()
        row |= {
            "outcome": "routed",
            "verdict": check.verdict,
            "vls": check.vls,
            "layers": routing.layers,
            "changed_entries": self._changed_entries(scenario, routing),
            "cycle": CYCLE_SEPARATOR.join(check.cycle) if check.cycle else None,
            "pairs": check.pairs,
            "unreachable_pairs": check.unreachable_pairs,
            "cut_pairs": check.cut_pairs,
            "hops_max": check.hops_max,
            "hops_mean": check.hops_mean,
            "forwarding_index_max": check.forwarding_index_max,
            "forwarding_index_mean": check.forwarding_index_mean,
        }
        try:
            return row | self._simulate(routing)
        except WorkloadError as error:
            # The workload fits the intact machine, but no longer what is left of it: a result of its own.
            return row | {"reason": str(error)}

    def _changed_entries(self, scenario: Scenario, routing: Routing) -> int | None:
        """Count the entries that the failures change in the tables of the intact machine."""
        intact = self._intact_tables(scenario)
        return None if intact is None else intact.changed_entries(routing)

    def _intact_tables(self, scenario: Scenario) -> Routing | None:
        """Return the tables of a scenario's engine on its intact machine, if it makes any."""
        key = scenario.machine, scenario.engine
        with self._lock:
            if key in self._known_tables:
                return self._known_tables[key]
        before = self.route(scenario, self.intact(scenario.machine))
        made = before if isinstance(before, Routing) else None
        with self._lock:
            return self._known_tables.setdefault(key, made)

    def _simulate(self, routing: Routing) -> Row:
        workload, simulation = self.plan.workload, self.plan.simulation
        traffic, seed = workload.traffic, self.plan.seed
        params: dict[str, Any] = dict(workload.params)
        if simulation.mode == "flit":
            flit = routing.simulate_flits(
                traffic, seed=seed, options=simulation.flit_options, **params
            )
            return {
                "simulation": flit.outcome,
                "deadlock": _ring(flit),
                "half_width_gb_s": flit.half_width_gb_s,
                "latency_ns_mean": flit.latency_ns_mean,
                "latency_ns_p99": flit.latency_ns_p99,
                **_measured(flit),
            }
        injection = simulation.injection_gb_s
        result = routing.simulate(traffic, seed=seed, injection_gb_s=injection, **params)
        return {"collision_max": result.collision_max, **_measured(result)}

    def _lost_paths(self, scenario: Scenario) -> list[Row]:
        intact = self.intact(scenario.machine)
        routing = self.route(scenario, intact)
        if isinstance(routing, Refusal):
            head = self._head(scenario, intact)
            return [{**head, "outcome": "refused", "reason": _reason(routing)}]
        mean_index = routing.check().forwarding_index_mean
        rows = []
        for pattern in range(self.plan.measure.lost_paths_patterns):
            broken = self.broken(scenario, pattern)
            rows.append(
                {
                    **self._head(scenario, broken),
                    "sample": pattern,
                    "outcome": "routed",
                    "lost_paths": routing.lost_paths(broken),
                    # Domke et al., SC14: failed links x mean routes over a link, both directions.
                    "extrapolated": 2 * mean_index * broken.failed_counts[0],
                }
            )
        return rows

    def _head(self, scenario: Scenario, machine: Machine) -> Row:
        failed = machine.failed_counts
        return {
            "scenario": scenario.index,
            "machine": self.machine_name(scenario.machine),
            "engine": self.plan.recovery.engines[scenario.engine].label,
            "level": self.level(scenario),
            "sample": scenario.sample,
            "failed_links": failed[0],
            "failed_switches": failed[1],
            "failed_nodes": failed[2],
            "cut_nodes": len(machine.cut_nodes()),
            "workload": self.plan.workload.traffic,
        }


def _ring(flit: Flit) -> str | None:
    """Write the ring that a simulation ended in, channels with their lanes."""
    if flit.cycle is None or flit.cycle_vls is None:
        return None
    around = zip(flit.cycle, flit.cycle_vls, strict=True)
    return CYCLE_SEPARATOR.join(f"{channel} (lane {vl})" for channel, vl in around)


def _measured(result: Congestion | Flit) -> Row:
    """Return the columns that every simulation fills."""
    if result.throughput_gb_s is None:
        # Rates of a simulation that came to no end say nothing.
        return {
            "reason": UNMEASURED[result.outcome],
            "simulated_ns": result.simulated_ns,
            "unrouted_messages": result.unrouted_messages,
        }
    received = result.received_gb_s
    quartiles = np.quantile(received, [0, 0.25, 0.5, 0.75, 1]) if received.size else np.zeros(5)
    names = ("min", "q1", "median", "q3", "max")
    return {
        "throughput_gb_s": result.throughput_gb_s,
        "simulated_ns": result.simulated_ns,
        "unrouted_messages": result.unrouted_messages,
        **{f"received_gb_s_{name}": float(q) for name, q in zip(names, quartiles, strict=True)},
    }


UNMEASURED = {
    "deadlock": "the simulation ended in a deadlock",
    "stuck": "ranks wait for messages that never come",
    "saturated": "rates did not become certain in the time allowed",
    "cut_short": "the time allowed for the simulation was over too soon",
}
"""Why a simulation has no throughput."""


@lru_cache(maxsize=4)
def _shared_set(plan_text: str, folder: str) -> ScenarioSet:
    return ScenarioSet(parse_plan(plan_text, Path(folder)))


def run_elsewhere(plan_text: str, folder: str, index: int) -> list[Row]:
    """Compute one scenario in a process that has only the plan's text; what executors call."""
    return _shared_set(plan_text, folder).run(index)


def is_nothing(level: str) -> bool:
    """Whether a level stands for no failure: `0`, `0%`, `0.0%`."""
    try:
        return float(level.rstrip("% ")) == 0
    except ValueError:
        return False


def _enumerate(plan: Plan) -> tuple[Scenario, ...]:
    found: list[Scenario] = []

    def add(table: str, machine: int, level: int, engine: int, sample: int) -> None:
        found.append(Scenario(len(found), table, machine, level, engine, sample))

    for machine, machine_plan in enumerate(plan.machine):
        for level, text in enumerate(plan.levels_of(machine_plan)):
            # Nothing is drawn where nothing fails, so one sample says it all.
            samples = 1 if is_nothing(text) else plan.faults.samples
            for engine in range(len(plan.recovery.engines)):
                for sample in range(samples):
                    add("throughput", machine, level, engine, sample)
    for machine, machine_plan in enumerate(plan.machine):
        for level, text in enumerate(plan.levels_of(machine_plan)):
            if plan.measure.lost_paths_patterns and not is_nothing(text):
                for engine in range(len(plan.recovery.engines)):
                    add("lost_paths", machine, level, engine, 0)
    return tuple(found)


def _extrapolated(mean_index: float, failed: tuple[int, int, int]) -> float | None:
    """Predict lost paths, as the paper does it: for failed links alone."""
    links, *others = failed
    return None if any(others) else _core.extrapolate_lost_paths(mean_index, links)


def _reason(refusal: Refusal) -> str:
    return refusal.reason if refusal.switch is None else f"{refusal.reason} ({refusal.switch})"
