"""The answer of a study in sentences: what is left at each failure level, and which engine to use from when on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runflat import _core
from runflat.study.scenario import is_nothing

if TYPE_CHECKING:
    from runflat.study.results import Results

UNITS = {"links": "cables", "switches": "switches", "nodes": "nodes"}
SINGULAR = {"cables": "cable", "switches": "switch", "nodes": "node", "parts": "part"}
MARGIN = 0.01
"""A gain below this fraction is no reason to change the routing of a running fabric."""


@dataclass(frozen=True)
class Cell:
    """What one engine makes of one failure level.

    Attributes
    ----------
    samples, refused, deadlocks, incomplete : int
        Fault patterns: all; refused by the engine; routed with a credit loop; with pairs left out that cables join.
    throughput_gb_s : list of float
        Of each routed pattern.
    intact_gb_s : float or None
        Throughput of the engine on the intact fabric, if it routes that.
    reason : str or None
        Why it first refused, or why a routed pattern could not be measured.
    unevenness : float
        Largest over mean forwarding index on the intact fabric; 0 if unknown.
    """

    samples: int
    refused: int
    deadlocks: int
    incomplete: int
    throughput_gb_s: list[float]
    intact_gb_s: float | None
    reason: str | None
    unevenness: float

    @property
    def mean_gb_s(self) -> float | None:
        """Mean throughput of the routed patterns, in GB/s."""
        values = self.throughput_gb_s
        return sum(values) / len(values) if values else None

    @property
    def usable(self) -> bool:
        """Whether in every pattern all nodes that cables join have routes, without a credit loop."""
        return self.samples > 0 and self.refused + self.deadlocks + self.incomplete == 0

    @property
    def unmeasured(self) -> int:
        """Patterns that were routed, but that the workload does not fit."""
        return self.samples - self.refused - len(self.throughput_gb_s)

    def left(self) -> str:
        """Say how much of the intact throughput is left: `93 % (90-95)`."""
        if not self.throughput_gb_s or not self.intact_gb_s:
            return ""
        mean, *ends = (
            f"{100 * value / self.intact_gb_s:.0f}"
            for value in (self.mean_gb_s or 0, min(self.throughput_gb_s), max(self.throughput_gb_s))
        )
        spread = f" ({ends[0]}-{ends[1]} %)" if ends[0] != ends[1] else ""
        return f"{mean} %{spread}"


@dataclass
class MachineAnswer:
    """The answer for one machine.

    Attributes
    ----------
    name : str
        The machine.
    levels : list of str
        Failure levels in the order of the plan.
    engines : list of str
        Engines in the order of the plan.
    cells : dict
        By (engine, level).
    failed : dict
        Mean number of failed parts by level.
    cut : dict
        Most nodes cut off by level.
    best : dict
        Engine to use by level; None where none is safe.
    sentences : list of str
        All of it in words.
    """

    name: str
    levels: list[str]
    engines: list[str]
    cells: dict[tuple[str, str], Cell]
    failed: dict[str, float]
    cut: dict[str, int]
    best: dict[str, str | None] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)


def answer(results: Results) -> list[MachineAnswer]:
    """Sum a study up.

    Parameters
    ----------
    results : Results
        A finished study.

    Returns
    -------
    list of MachineAnswer
        One a machine, in the order of the plan.
    """
    rows = results.throughput.to_rows()
    engines = [engine.label for engine in results.plan.recovery.engines]
    answers = []
    for name in dict.fromkeys(row["machine"] for row in rows):
        own = [row for row in rows if row["machine"] == name]
        levels = list(dict.fromkeys(row["level"] for row in own))
        cells = {(e, level): _cell(own, e, level) for e in engines for level in levels}
        failed = {level: _failed(own, level) for level in levels}
        cut = {lv: max(row["cut_nodes"] for row in own if row["level"] == lv) for lv in levels}
        found = MachineAnswer(name, levels, engines, cells, failed, cut)
        _choose(found)
        _speak(found, failure_unit(own))
        answers.append(found)
    return answers


def fit(results: Results, machine: str, engine: str) -> dict[str, float | None] | None:
    """Fit throughput against the number of failed parts for one engine.

    Returns
    -------
    dict or None
        `intercept` (GB/s), `slope` (GB/s a failed part), `r2`; None for fewer than two different counts.
    """
    points = [
        (float(failed_parts(row)), row["throughput_gb_s"])
        for row in results.throughput.to_rows()
        if row["machine"] == machine
        and row["engine"] == engine
        and row["throughput_gb_s"] is not None
    ]
    return _core.fit_line(points)


def crossings(
    found: MachineAnswer, lines: dict[str, dict[str, float | None]], last: float
) -> list[tuple[float, str, str]]:
    """Find where the best of several regression lines changes, and the means of all levels beyond say so too.

    Parameters
    ----------
    found : MachineAnswer
        What was measured.
    lines : dict
        Lines by engine, as `fit` gives them.
    last : float
        Largest number of failed parts that was measured; nothing is said beyond it.

    Returns
    -------
    list of (float, str, str)
        Failed parts, best engine before, best engine after.
    """
    engines = list(lines)
    ends = [
        (lines[engine]["intercept"] or 0.0, lines[engine]["slope"] or 0.0) for engine in engines
    ]
    changes = _core.crossings(ends, 0.0, last)
    named = [(x, engines[before], engines[after]) for x, before, after in changes]
    return [change for change in named if _is_measured(found, *change)]


def _is_measured(found: MachineAnswer, x: float, before: str, after: str) -> bool:
    beyond = [level for level in found.levels if found.failed[level] >= x]
    means = [(found.cells[before, lv].mean_gb_s, found.cells[after, lv].mean_gb_s) for lv in beyond]
    return all(one is not None and other is not None and one < other for one, other in means)


def level_title(results: Results, level: str) -> str:
    """Name a level: `5 % failed`, or `years 8` where another parameter varies."""
    vary = results.plan.faults.vary
    shown = level.replace("%", " %") if level[-2:-1].isdigit() else level
    return f"{shown} failed" if vary in ("links", "switches", "nodes") else f"{vary} {shown}"


def failed_parts(row: dict[str, Any]) -> int:
    """Count the failed parts of a row."""
    return int(row["failed_links"] + row["failed_switches"] + row["failed_nodes"])


def _cell(rows: list[dict[str, Any]], engine: str, level: str) -> Cell:
    own = [row for row in rows if row["engine"] == engine]
    here = [row for row in own if row["level"] == level]
    intact = next(
        (r for r in own if is_nothing(r["level"]) and r["throughput_gb_s"] is not None), None
    )
    return Cell(
        samples=len(here),
        refused=sum(row["outcome"] == "refused" for row in here),
        # A verdict of `incomplete` hides the loop that a pattern with cut nodes may also have.
        deadlocks=sum(row["cycle"] is not None for row in here),
        # Pairs that no cable joins are lost to every engine; only what an engine leaves out counts against it.
        incomplete=sum((row["unreachable_pairs"] or 0) > (row["cut_pairs"] or 0) for row in here),
        throughput_gb_s=[
            row["throughput_gb_s"] for row in here if row["throughput_gb_s"] is not None
        ],
        intact_gb_s=intact["throughput_gb_s"] if intact else None,
        reason=next((row["reason"] for row in here if row["reason"]), None),
        unevenness=(
            intact["forwarding_index_max"] / intact["forwarding_index_mean"]
            if intact is not None and intact["forwarding_index_mean"]
            else 0.0
        ),
    )


def _failed(rows: list[dict[str, Any]], level: str) -> float:
    counts = [failed_parts(row) for row in rows if row["level"] == level]
    return sum(counts) / len(counts)


def _choose(found: MachineAnswer) -> None:
    """Pick the engine of each level; keep the one of the level before unless another is clearly better."""
    if all(cell.mean_gb_s is None for cell in found.cells.values()):
        # Safe is not enough: nothing says which of them carries more.
        found.best = dict.fromkeys(found.levels)
        return
    current: str | None = None
    for level in found.levels:
        usable = [engine for engine in found.engines if found.cells[engine, level].usable]
        means = {engine: found.cells[engine, level].mean_gb_s or 0.0 for engine in usable}
        top = max(means.values(), default=0.0)
        if current not in means or means[current] < top * (1 - MARGIN):
            current = next((e for e in usable if means[e] >= top * (1 - 1e-9)), None)
        found.best[level] = current


def failure_unit(rows: list[dict[str, Any]]) -> str:
    """Return what fails in the rows of a study, in the plural."""
    kinds = [kind for kind in UNITS if any(row[f"failed_{kind}"] for row in rows)]
    return UNITS[kinds[0]] if len(kinds) == 1 else "parts"


def _speak(found: MachineAnswer, unit: str) -> None:
    """Say which engine to use and what it keeps, then where another one takes over, then what to beware of."""
    say = found.sentences.append
    spans = _spans(found)
    safe = {level for (_, level), cell in found.cells.items() if cell.usable}
    lost = [level for level in found.levels if level not in safe]
    if safe and not spans:
        say("No engine has a measured throughput, so there is no figure to choose one by.")
    if len(spans) == 1:
        engine, levels = spans[0]
        kept = _kept(found, engine, levels, unit)
        same = "" if _differ(found) else " (the engines differ by less than 1 %)"
        where = "" if lost else " throughout"
        say(f"Use {engine}{where}{same}{': ' if kept else ''}{kept}.")
    for number, (engine, levels) in enumerate(spans if len(spans) > 1 else []):
        start = f"From {_counted(found.failed[levels[0]], unit)} on" if number else "At first"
        kept = _kept(found, engine, levels, unit)
        say(f"{start} use {engine}{': ' if kept else ''}{kept}.")
    if lost:
        counts = _listed([f"{found.failed[level]:.0f}" for level in lost])
        say(f"With {counts} failed {unit} no engine of the plan routes every pattern safely.")
    for level in found.levels:
        if cut := found.cut[level]:
            say(f"With {_counted(found.failed[level], unit)} up to {_nodes(cut)} cut off.")
    for engine in found.engines:
        _warn(found, engine, unit)
    _wonder(found, spans)


def _wonder(found: MachineAnswer, spans: list[tuple[str, list[str]]]) -> None:
    """Explain throughput that rises with failures, where the engines to use show it."""
    for engine in dict.fromkeys(engine for engine, _ in spans):
        cells = [found.cells[engine, level] for level in found.levels]
        gains = [
            value / c.intact_gb_s for c in cells if c.intact_gb_s for value in c.throughput_gb_s
        ]
        if max(gains, default=0.0) > 1 + MARGIN:
            found.sentences.append(
                f"Some failures raise the throughput of {engine}, to {100 * max(gains):.0f} % at "
                f"most; on the intact fabric its busiest channel carries {cells[0].unevenness:.1f} "
                "times the mean number of routes."
            )


def _spans(found: MachineAnswer) -> list[tuple[str, list[str]]]:
    """Return the engines to use one after the other, each with its levels."""
    spans: list[tuple[str, list[str]]] = []
    for level in found.levels:
        engine = found.best[level]
        if engine is None:
            continue
        if not spans or spans[-1][0] != engine:
            spans.append((engine, []))
        spans[-1][1].append(level)
    return spans


def _kept(found: MachineAnswer, engine: str, levels: list[str], unit: str) -> str:
    failing = [level for level in levels if not is_nothing(level)]
    left = [found.cells[engine, level].left() for level in failing]
    if not failing or not all(left):
        return ""
    counts = [f"{found.failed[level]:.0f}" for level in failing]
    intact = found.cells[engine, failing[0]].intact_gb_s or 0.0
    last = SINGULAR[unit] if counts == ["1"] else unit
    return f"with {_listed(counts)} failed {last} it keeps {_listed(left)} of {intact:,.0f} GB/s"


def _differ(found: MachineAnswer) -> bool:
    """Whether any engine is noticeably worse than the best at some level."""
    for level in found.levels:
        means = [found.cells[engine, level].mean_gb_s for engine in found.engines]
        top = max((mean for mean in means if mean is not None), default=0.0)
        if any(mean is None or mean < top * (1 - MARGIN) for mean in means):
            return True
    return len(found.engines) < 2


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _nodes(count: int) -> str:
    return f"{count} node{'s are' if count != 1 else ' is'}"


def _counted(count: float, unit: str) -> str:
    return f"{count:.0f} failed {unit if round(count) != 1 else SINGULAR[unit]}"


WARNINGS = (
    ("refused", "refuses {count} of {samples} patterns with {failed}: {reason}."),
    (
        "deadlocks",
        "can deadlock: its routes close a credit loop in {count} of {samples} patterns with {failed}.",
    ),
    ("unmeasured", "has no throughput for {count} of {samples} patterns with {failed}: {reason}."),
    ("incomplete", "leaves nodes without a route in {count} of {samples} patterns with {failed}."),
)
"""What to beware of: a count of `Cell`, and what to say of the first level at which it is not 0."""


def _warn(found: MachineAnswer, engine: str, unit: str) -> None:
    for name, sentence in WARNINGS:
        for level in found.levels:
            cell = found.cells[engine, level]
            if count := getattr(cell, name):
                failed = _counted(found.failed[level], unit)
                words = sentence.format(
                    count=count, samples=cell.samples, failed=failed, reason=cell.reason
                )
                found.sentences.append(f"{engine} {words}")
                break
