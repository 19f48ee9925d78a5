"""Figure: throughput against failures, one cloud, mean line and regression line an engine.

Source: the metric and its reading are those of Domke, Hoefler, Matsuoka, SC14, section III-B;
samples are spread sideways a little so that equal ones do not hide each other.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping

import plotly.graph_objects as go

from runflat.report.frame import figure, level_tick, plain
from runflat.report.model import EngineSeries, Level, MachineReport, Point
from runflat.report.palette import MUTED, PAPER, EngineStyle

_GOLDEN = (math.sqrt(5) - 1) / 2


def throughput_figure(
    machine: MachineReport, styles: Mapping[str, EngineStyle], *, zoomed: bool = False
) -> go.Figure | None:
    """Draw throughput over failed parts; None when no sample has a throughput.

    Parameters
    ----------
    machine : MachineReport
        Its series, levels and crossings.
    styles : mapping of str to EngineStyle
        Style of each engine.
    zoomed : bool
        Start the throughput axis just below the data instead of at zero.
    """
    values = [v for s in machine.series for p in s.points if (v := p.throughput_gb_s) is not None]
    if not values:
        return None
    spread = _jitter_width(machine)
    fig = figure(470)
    asides = [(n - (len(machine.series) - 1) / 2) * spread for n in range(len(machine.series))]
    for series, aside in zip(machine.series, asides, strict=True):
        _add_series(fig, series, styles[series.engine], aside, spread, machine.failure_unit)
    floor, top = 0.0, max(values) * 1.08 or 1.0
    if zoomed:
        margin = 0.12 * (max(values) - min(values)) or 0.05 * top
        floor, top = max(min(values) - 2 * margin, 0.0), max(values) + margin
    for series, aside in zip(machine.series, asides, strict=True):
        _add_missing(fig, series, styles[series.engine], aside, floor)
    _mark_crossings(fig, machine, styles)
    levels = _ticks(machine)
    last = max((p.failed_parts for s in machine.series for p in s.points), default=1) or 1
    side = 0.04 * last + spread * len(machine.series) / 2
    fig.update_xaxes(
        title_text=f"failed {plain(machine.failure_unit)}",
        tickvals=[level.failed_parts for level in levels],
        ticktext=[level_tick(level.failed_parts, level.label) for level in levels],
        range=[-side, last + side],
    )
    fig.update_yaxes(title_text="throughput [GB/s]", range=[floor - 0.03 * (top - floor), top])
    return fig


def worth_zooming(machine: MachineReport) -> bool:
    """Whether an axis from zero leaves most of the plot empty."""
    values = [v for s in machine.series for p in s.points if (v := p.throughput_gb_s) is not None]
    return bool(values) and min(values) > 0.5 * max(values)


def mean_by_level(series: EngineSeries) -> list[tuple[float, float]]:
    """Mean failed parts and mean throughput of each level that has a measured sample.

    Returns
    -------
    list of (float, float)
        Sorted by failed parts; GB/s second.
    """
    levels: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for point in series.points:
        if point.throughput_gb_s is not None:
            levels[point.level_label].append((point.failed_parts, point.throughput_gb_s))
    return sorted(
        (math.fsum(x for x, _ in part) / len(part), math.fsum(y for _, y in part) / len(part))
        for part in levels.values()
    )


def _add_series(
    fig: go.Figure,
    series: EngineSeries,
    style: EngineStyle,
    aside: float,
    spread: float,
    unit: str,
) -> None:
    measured = [p for p in series.points if p.throughput_gb_s is not None]
    if not measured:
        return
    sound = [p.verdict in (None, "ok") for p in measured]
    fig.add_trace(
        go.Scatter(
            x=[p.failed_parts + aside + _jitter(p, spread) for p in measured],
            y=[p.throughput_gb_s for p in measured],
            mode="markers",
            marker={
                "color": style.colour,
                "symbol": [style.symbol if ok else f"{style.symbol}-open" for ok in sound],
                "size": 7,
                "opacity": 0.55,
                "line": {"color": style.colour, "width": [0 if ok else 1.5 for ok in sound]},
            },
            customdata=[_hover(p, unit) for p in measured],
            hovertemplate=f"<b>{_literal(series.engine)}</b><br>%{{customdata}}<extra></extra>",
            legendgroup=plain(series.engine),
            showlegend=False,
        )
    )
    means = mean_by_level(series)
    fig.add_trace(
        go.Scatter(
            x=[x for x, _ in means],
            y=[y for _, y in means],
            mode="lines+markers",
            line={"color": style.colour, "width": 2.4},
            marker={
                "color": style.colour,
                "symbol": style.symbol,
                "size": 10,
                "line": {"color": PAPER, "width": 1.5},
            },
            name=f"<b>{plain(series.engine)}</b> mean",
            legendgroup=plain(series.engine),
            hovertemplate=f"<b>{_literal(series.engine)}</b><br>mean %{{y:.4g}} GB/s<extra></extra>",
        )
    )
    if series.line is not None and len(means) > 1:
        ends = [means[0][0], means[-1][0]]
        fit = series.line
        r2 = f"{fit.r2:.2f}" if math.isfinite(fit.r2) else "undefined"
        fig.add_trace(
            go.Scatter(
                x=ends,
                y=[fit.intercept_gb_s + fit.slope_gb_s_per_part * x for x in ends],
                mode="lines",
                line={"color": style.colour, "width": 1.4, "dash": "6px,4px"},
                name=f"regression, R² {r2}",
                legendgroup=plain(series.engine),
                hoverinfo="skip",
            )
        )


def _add_missing(
    fig: go.Figure, series: EngineSeries, style: EngineStyle, aside: float, floor: float
) -> None:
    """Show samples without a throughput as crosses on the floor of the plot."""
    missing = [p for p in series.points if p.throughput_gb_s is None]
    if not missing:
        return
    fig.add_trace(
        go.Scatter(
            x=[p.failed_parts + aside for p in missing],
            y=[floor] * len(missing),
            mode="markers",
            marker={
                "symbol": "x-thin",
                "size": 9,
                "line": {"color": style.colour, "width": 2},
            },
            customdata=[plain(f"{_word(p)} {p.reason}") for p in missing],
            hovertemplate=f"<b>{_literal(series.engine)}</b><br>%{{customdata}}<extra></extra>",
            name=f"{plain(series.engine)}: no throughput",
            legendgroup=plain(series.engine),
        )
    )


def _mark_crossings(
    fig: go.Figure, machine: MachineReport, styles: Mapping[str, EngineStyle]
) -> None:
    last = max((level.failed_parts for level in machine.levels), default=0)
    for number, crossing in enumerate(machine.crossings):
        colour = styles[crossing.after].colour
        # The label goes to where there is room for it.
        is_left = crossing.failed_parts > 0.6 * last
        fig.add_shape(
            type="line",
            x0=crossing.failed_parts,
            x1=crossing.failed_parts,
            yref="paper",
            y0=0,
            y1=1,
            line={"color": MUTED, "width": 1.2, "dash": "2px,3px"},
        )
        fig.add_annotation(
            x=crossing.failed_parts,
            yref="paper",
            y=0.06 + 0.09 * (number % 4),
            text=f"switch to <b>{plain(crossing.after)}</b> here",
            showarrow=False,
            xanchor="right" if is_left else "left",
            xshift=-6 if is_left else 6,
            font={"color": colour, "size": 13},
        )


def _ticks(machine: MachineReport) -> list[Level]:
    """Levels by failed parts, less those whose label would overlap their left neighbour's."""
    by_parts = sorted(machine.levels, key=lambda level: level.failed_parts)
    last = by_parts[-1].failed_parts if by_parts else 0
    result: list[Level] = []
    for level in by_parts:
        if not result or level.failed_parts - result[-1].failed_parts > 0.05 * last:
            result.append(level)
    return result


def _jitter_width(machine: MachineReport) -> float:
    places = sorted({p.failed_parts for s in machine.series for p in s.points})
    gaps = [b - a for a, b in itertools.pairwise(places)]
    return 0.36 * min(gaps, default=1) / max(len(machine.series), 1)


def _jitter(point: Point, spread: float) -> float:
    """Offset of a sample: the golden sequence fills the width evenly and needs no chance."""
    return ((point.sample * _GOLDEN + 0.5) % 1.0 - 0.5) * spread


def _hover(point: Point, unit: str) -> str:
    lines = [
        f"{point.throughput_gb_s:.4g} GB/s",
        f"{point.failed_parts:,} failed {plain(unit)}, sample {point.sample}",
    ]
    if point.fraction_of_intact is not None:
        lines.insert(1, f"{point.fraction_of_intact:.1%} of the intact machine")
    if point.verdict not in (None, "ok"):
        lines.append(plain(f"{_word(point)} {point.reason}"))
    return "<br>".join(lines)


def _word(point: Point) -> str:
    if point.outcome == "refused":
        return "refused to route."
    words = {"deadlock": "credit loop: may deadlock.", "incomplete": "some pairs unreachable."}
    return words.get(point.verdict or "", "not measured.")


def _literal(title: str) -> str:
    """Escape a title that stands inside a hover template, where ``%{`` would be read."""
    return plain(title).replace("%{", "% {")
