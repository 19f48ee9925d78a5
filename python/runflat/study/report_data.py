"""Fills the report's model from the results of a study."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from runflat import Refusal, _core
from runflat.report import (
    Crossing,
    EngineSeries,
    FabricMap,
    InputFile,
    Level,
    Line,
    LostPaths,
    MachineReport,
    MapCable,
    MapSwitch,
    OutcomeRow,
    Point,
    StudyReport,
    Whisker,
)
from runflat.study.answer import (
    MachineAnswer,
    answer,
    crossings,
    failed_parts,
    failure_unit,
    fit,
    level_title,
)
from runflat.study.results import Results, read_run
from runflat.study.scenario import CYCLE_SEPARATOR, Scenario, ScenarioSet

if TYPE_CHECKING:
    from pathlib import Path

    from runflat.machine import Machine

CONGESTION_NOTES = (
    "Under steady traffic a rank is as fast as its slowest path lets it be, so one crowded channel weighs heavily: "
    "on trees, two failed cables can halve what every node gets.",
    "Throughput is max-min fair sharing over the routes: what the routes allow, without latency, packet headers, "
    "buffers or head-of-line blocking.",
    "A credit loop is a proof that routes can deadlock; whether they do depends on load and buffers.",
)
FLIT_NOTES = (
    "Every flit is simulated under InfiniBand's credits, lanes and arbitration; congestion control, adaptive routing, lost packets "
    "and the software of hosts are left out.",
    "Of workloads without end the throughput is the mean after the warm-up, once the bandwidth of 99 % of the nodes is known: "
    "its 99 % interval is within the plan's precision of the mean over all nodes.",
    "A simulated deadlock was found exactly: its packets wait for each other for ever. A credit loop is a proof that routes can "
    "deadlock; whether they do depends on load and buffers.",
)
NOTES = (
    "Lost paths are counted before anything is re-routed; throughput is measured after re-routing.",
    "Bars and ranges are over the fault patterns drawn, not confidence intervals.",
)
MOST_MAP_CABLES = 60_000


def report_of(results: Results, folder: Path) -> StudyReport:
    """Gather all that the page shows.

    Parameters
    ----------
    results : Results
        A finished study.
    folder : Path
        Where it was run, for the command and the date.

    Returns
    -------
    StudyReport
        The model of `runflat.report.render`.
    """
    plan = results.plan
    run = read_run(folder)
    scenarios = ScenarioSet(plan)
    rows = results.throughput.to_rows()
    lost = results.lost_paths.to_rows()
    answers = answer(results)
    several = len(answers) > 1
    return StudyReport(
        title=plan.title,
        answers=[
            f"{found.name}: {sentence}" if several else sentence
            for found in answers
            for sentence in found.sentences
        ],
        machines=[
            _machine_report(results, scenarios, found, number, rows, lost)
            for number, found in enumerate(answers)
        ],
        notes=(CONGESTION_NOTES if plan.simulation.mode == "congestion" else FLIT_NOTES) + NOTES,
        seed=plan.seed,
        version=_core.__version__,
        commit=_core.COMMIT,
        command=run.get("command", ""),
        created=run.get("finished", ""),
        plan_text=plan.text,
        inputs=[InputFile(name, digest) for name, digest in plan.inputs],
    )


def _machine_report(
    results: Results,
    scenarios: ScenarioSet,
    found: MachineAnswer,
    number: int,
    rows: list[dict[str, Any]],
    lost: list[dict[str, Any]],
) -> MachineReport:
    machine = scenarios.intact(number)
    own = [row for row in rows if row["machine"] == found.name]
    fits = {engine: fit(results, found.name, engine) for engine in found.engines}
    # An engine that refuses or may deadlock somewhere is nothing to change to.
    safe = {e for e in found.engines if all(found.cells[e, lv].usable for lv in found.levels)}
    lines = {engine: line for engine, line in fits.items() if line is not None and engine in safe}
    last = max((float(failed_parts(row)) for row in own), default=0.0)
    return MachineReport(
        name=found.name,
        facts=_facts(machine, results),
        synthetic=machine.synthetic,
        failure_unit=failure_unit(own),
        levels=[Level(_spaced(level), round(found.failed[level])) for level in found.levels],
        series=[_series(found, engine, own, fits[engine]) for engine in found.engines],
        lost=_lost(found, [row for row in lost if row["machine"] == found.name]),
        crossings=[Crossing(*change) for change in crossings(found, lines, last)],
        outcomes=[
            _outcome(engine, level, own) for engine in found.engines for level in found.levels
        ],
        maps=_maps(results, scenarios, number, machine) if results.plan.report.map else [],
    )


def _spaced(level: str) -> str:
    return level.replace("%", " %") if level[-2:-1].isdigit() else level


def _facts(machine: Machine, results: Results) -> list[tuple[str, str]]:
    summary = machine.summary()
    facts = [
        ("nodes", f"{summary['nodes']:,}"),
        ("switches", f"{summary['switches']:,}"),
        ("switch-switch cables", f"{summary['links']:,}"),
        ("planes", f"{summary['planes']}"),
        (
            "leaf switches",
            f"{summary['leaf_switches']} ({summary['unbalanced_leaves']} unbalanced)",
        ),
        ("degraded links", f"{summary['degraded_links']}"),
    ]
    if summary["diameter"] is not None:
        facts.append(("diameter", f"{summary['diameter']} hops"))
    if summary["bisection_gb_s"] is not None:
        facts.append(("bisection, at most", f"{summary['bisection_gb_s']:,.0f} GB/s"))
    facts.append(("workload", results.plan.workload.traffic))
    return facts


def _series(
    found: MachineAnswer,
    engine: str,
    rows: list[dict[str, Any]],
    line: dict[str, float | None] | None,
) -> EngineSeries:
    own = [row for row in rows if row["engine"] == engine]
    points = []
    for row in own:
        intact = found.cells[engine, row["level"]].intact_gb_s
        throughput = row["throughput_gb_s"]
        points.append(
            Point(
                level_label=_spaced(row["level"]),
                failed_parts=failed_parts(row),
                sample=row["sample"],
                outcome=row["outcome"],
                verdict=row["verdict"],
                throughput_gb_s=throughput,
                fraction_of_intact=throughput / intact
                if throughput is not None and intact
                else None,
                reason=row["reason"] or "",
            )
        )
    fitted = None
    if line is not None:
        r2 = line["r2"]
        fitted = Line(line["intercept"] or 0.0, line["slope"] or 0.0, nan if r2 is None else r2)
    whiskers = [w for level in found.levels if (w := _whisker(level, own)) is not None]
    return EngineSeries(engine, points, fitted, whiskers)


def _whisker(level: str, rows: list[dict[str, Any]]) -> Whisker | None:
    """Average the five numbers over the samples of a level."""
    here = [row for row in rows if row["level"] == level and row["throughput_gb_s"] is not None]
    if not here:
        return None
    quartiles = [
        sum(row[f"received_gb_s_{name}"] for row in here) / len(here)
        for name in ("min", "q1", "median", "q3", "max")
    ]
    return Whisker(_spaced(level), *quartiles)


def _lost(found: MachineAnswer, rows: list[dict[str, Any]]) -> list[LostPaths]:
    lost = []
    for engine in found.engines:
        for level in found.levels:
            here = [
                row
                for row in rows
                if row["engine"] == engine and row["level"] == level and row["outcome"] == "routed"
            ]
            if here:
                lost.append(
                    LostPaths(
                        engine=engine,
                        level_label=_spaced(level),
                        failed_links=here[0]["failed_links"],
                        lost_counts=[row["lost_paths"] for row in here],
                        extrapolated=sum(
                            nan if row["extrapolated"] is None else row["extrapolated"]
                            for row in here
                        )
                        / len(here),
                    )
                )
    return lost


def _outcome(engine: str, level: str, rows: list[dict[str, Any]]) -> OutcomeRow:
    here = [row for row in rows if row["engine"] == engine and row["level"] == level]
    routed = [row for row in here if row["outcome"] == "routed"]
    means = [row["forwarding_index_mean"] for row in routed]
    cycle = next((row["cycle"] for row in routed if row["cycle"]), None)
    # Results of older versions have no such column.
    ring = next((row["deadlock"] for row in routed if row.get("deadlock")), None)
    return OutcomeRow(
        engine=engine,
        level_label=_spaced(level),
        ok=sum(row["verdict"] == "ok" for row in routed),
        deadlock=sum(row["verdict"] == "deadlock" for row in routed),
        incomplete=sum(row["verdict"] == "incomplete" for row in routed),
        refused=len(here) - len(routed),
        hops_max=max((row["hops_max"] for row in routed), default=None),
        vls=max((row["vls"] for row in routed), default=None),
        forwarding_index_max=max((row["forwarding_index_max"] for row in routed), default=None),
        forwarding_index_mean=sum(means) / len(means) if means else None,
        cycle=cycle.split(CYCLE_SEPARATOR) if cycle else [],
        ring=ring.split(CYCLE_SEPARATOR) if ring else [],
        reason=next((row["reason"] for row in here if row["reason"]), ""),
    )


def _maps(
    results: Results, scenarios: ScenarioSet, number: int, machine: Machine
) -> list[FabricMap]:
    """Draw the intact machine and the first sample of the last level, for each engine."""
    if machine.switch_link_count > MOST_MAP_CABLES:
        return []
    own = [s for s in scenarios.scenarios if s.machine == number and s.table == "throughput"]
    last_level = max(scenario.level for scenario in own)
    first_level = min(scenario.level for scenario in own)
    wanted = [s for s in own if s.sample == 0 and s.level in (last_level, first_level)]
    wanted.sort(key=lambda scenario: -scenario.level)
    maps = [_map(results, scenarios, scenario) for scenario in wanted]
    # The first one is what the page opens with: one with routes, if there is any.
    return sorted(maps, key=lambda drawn: not any(cable.routes for cable in drawn.cables))


def _map(results: Results, scenarios: ScenarioSet, scenario: Scenario) -> FabricMap:
    machine = scenarios.broken(scenario, scenario.sample)
    routing = scenarios.route(scenario, machine)
    index = None if isinstance(routing, Refusal) else routing.check().forwarding_index
    switches, links = machine.switches(), machine.links()
    switch_count = len(switches)
    rows = [row for row in links.to_rows() if row["a"] < switch_count and row["b"] < switch_count]
    places = _places(machine)
    layers = _layers(switches.column("nodes"), [(row["a"], row["b"]) for row in rows])
    routes = [
        0 if index is None else int(max(index[2 * row["index"]], index[2 * row["index"] + 1]))
        for row in rows
    ]
    busiest = max(routes, default=0) or 1
    label = scenarios.plan.recovery.engines[scenario.engine].label
    level = level_title(results, scenarios.level(scenario))
    outcome = f"{level}, refused" if index is None else level
    return FabricMap(
        title=f"{label}, {outcome}",
        switches=[
            MapSwitch(
                name=row["name"],
                layer=layer,
                nodes=row["nodes"],
                failed=not row["alive"],
                x=place[0],
                y=place[1],
            )
            for row, layer, place in zip(switches.to_rows(), layers, places, strict=True)
        ],
        cables=[
            MapCable(
                a=row["a"],
                b=row["b"],
                ends_text=row["name"],
                failed=not row["alive"],
                routes=count,
                load=count / busiest,
            )
            for row, count in zip(rows, routes, strict=True)
        ],
    )


def _places(machine: Machine) -> list[tuple[float, float] | tuple[None, None]]:
    """Return where the switches of a grid stand on the map: planes of x and y, the other dimensions side by side."""
    found = machine.coordinates()
    if found is None or sum(length > 1 for length in found[0]) < GRID_DIMENSIONS:
        return [(None, None)] * machine.switch_count
    shape, positions = found
    places: list[tuple[float, float] | tuple[None, None]] = []
    for x, y, *others in positions:
        plane = 0
        for length, at in zip(reversed(shape[2:]), reversed(others), strict=True):
            plane = plane * length + at
        places.append((float(x + plane * (shape[0] + 1)), float(y)))
    return places


GRID_DIMENSIONS = 2
"""A machine with fewer dimensions is a ring or a line, which the map draws better by itself."""


def _layers(nodes: list[int], cables: list[tuple[int, int]]) -> list[int]:
    """Return each switch's distance from the leaves, which are the switches with a good number of nodes.

    A spine with a management node or two stays a spine.
    """
    neighbours: list[list[int]] = [[] for _ in nodes]
    for a, b in cables:
        neighbours[a].append(b)
        neighbours[b].append(a)
    enough = max(nodes, default=0) * FEW_NODES
    layers = [0 if count > 0 and count >= enough else -1 for count in nodes]
    front = [switch for switch, layer in enumerate(layers) if layer == 0]
    while front:
        reached = []
        for switch in front:
            for neighbour in neighbours[switch]:
                if layers[neighbour] < 0:
                    layers[neighbour] = layers[switch] + 1
                    reached.append(neighbour)
        front = reached
    return [max(layer, 0) for layer in layers]


FEW_NODES = 0.25
"""A switch with less than this part of the most nodes on any switch is no leaf on the map."""
