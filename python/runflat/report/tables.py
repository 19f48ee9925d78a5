"""Tables of the report as rows of text, for the template to lay out.

Cells are plain strings: the template escapes them. A missing number is an en dash.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from runflat.report.model import EngineSeries, MachineReport, OutcomeRow

NONE = "–"  # noqa: RUF001


@dataclass(frozen=True)
class Verdicts:
    """One cell of the outcome table.

    Parameters
    ----------
    parts : sequence of (str, str, int)
        Kind ("ok", "deadlock", "refused", "incomplete"), word for the reader, samples.
    """

    parts: Sequence[tuple[str, str, int]]


@dataclass(frozen=True)
class Loop:
    """A credit loop, or the ring of a simulated deadlock: what, where it was seen, and the channels on it, in order."""

    what: str
    engine: str
    level: str
    channels: Sequence[str]


def level_labels(machine: MachineReport) -> list[str]:
    """Levels of the outcome table: the declared ones first, then others that occur."""
    labels = [level.label for level in machine.levels]
    return list(dict.fromkeys(labels + [row.level_label for row in machine.outcomes]))


def outcome_matrix(machine: MachineReport) -> list[tuple[str, list[Verdicts]]]:
    """Engines against levels, the verdict counts in the cells."""
    cells = {(row.engine, row.level_label): _verdicts(row) for row in machine.outcomes}
    engines = dict.fromkeys(row.engine for row in machine.outcomes)
    empty = Verdicts(())
    return [
        (engine, [cells.get((engine, label), empty) for label in level_labels(machine)])
        for engine in engines
    ]


def table_facts(machine: MachineReport) -> list[tuple[str, ...]]:
    """Engine, level, hops, lanes, forwarding index (max, mean), reason: a line an outcome row."""
    return [
        (
            row.engine,
            row.level_label,
            _whole(row.hops_max),
            _whole(row.vls),
            _number(row.forwarding_index_max, 0),
            _number(row.forwarding_index_mean, 1),
            row.reason,
        )
        for row in machine.outcomes
    ]


def credit_loops(machine: MachineReport) -> list[Loop]:
    """Every credit loop and simulated deadlock that was found, in table order."""
    return [
        Loop(what, row.engine, row.level_label, channels)
        for row in machine.outcomes
        for what, channels in (("Credit loop", row.cycle), ("Simulated deadlock", row.ring))
        if channels
    ]


def regression(machine: MachineReport) -> list[tuple[str, str, str, str, bool]]:
    """Engine, intercept, slope, R², and whether its intercept is the highest."""
    fitted = [(series.engine, series.line) for series in machine.series if series.line]
    best = max((line.intercept_gb_s for _, line in fitted), default=math.nan)
    return [
        (
            engine,
            _number(line.intercept_gb_s, 2),
            _number(line.slope_gb_s_per_part, 2, signed=True),
            _number(line.r2, 2),
            len(fitted) > 1 and line.intercept_gb_s == best,
        )
        for engine, line in fitted
    ]


def throughput_by_level(machine: MachineReport) -> list[tuple[str, list[tuple[str, str]]]]:
    """Engines against levels: mean share of intact with its range, and mean GB/s with its range."""
    return [
        (
            series.engine,
            [_summary(series, level.label) for level in machine.levels],
        )
        for series in machine.series
    ]


def _summary(series: EngineSeries, label: str) -> tuple[str, str]:
    measured = [
        p for p in series.points if p.level_label == label and p.throughput_gb_s is not None
    ]
    rates = [p.throughput_gb_s for p in measured if p.throughput_gb_s is not None]
    shares = [p.fraction_of_intact for p in measured if p.fraction_of_intact is not None]
    if not rates:
        return NONE, ""
    mean = math.fsum(rates) / len(rates)
    absolute = f"{_digits(mean)} GB/s{_span([_digits(min(rates)), _digits(max(rates))])}"
    if not shares:
        return absolute, ""
    share = f"{math.fsum(shares) / len(shares) * 100:.0f}\N{NO-BREAK SPACE}%"
    return share + _span([f"{min(shares) * 100:.0f}", f"{max(shares) * 100:.0f}"]), absolute


def _span(ends: Sequence[str]) -> str:
    return "" if ends[0] == ends[1] else f" ({ends[0]}–{ends[1]})"  # noqa: RUF001


def _verdicts(row: OutcomeRow) -> Verdicts:
    words = (
        ("ok", "o deadlock-free", row.ok),
        ("refused", "r refused", row.refused),
        ("deadlock", "d credit loop", row.deadlock),
        ("incomplete", "i incomplete", row.incomplete),
    )
    return Verdicts(tuple(part for part in words if part[2]))


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _whole(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def _number(value: float | None, places: int, *, signed: bool = False) -> str:
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:+,.{places}f}" if signed else f"{value:,.{places}f}"
    return text.replace("-", "−")  # noqa: RUF001
