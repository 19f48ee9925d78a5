"""Figure: how evenly the throughput reaches the nodes, a five-number box an engine and level.

Source: the whisker plots of consumption bandwidth at the sinks in Domke, Hoefler, Matsuoka, SC14.
"""

from collections.abc import Mapping

import plotly.graph_objects as go

from runflat.report.frame import figure, level_tick, plain
from runflat.report.model import MachineReport
from runflat.report.palette import EngineStyle
from runflat.report.slots import Slots


def whiskers_figure(machine: MachineReport, styles: Mapping[str, EngineStyle]) -> go.Figure | None:
    """Draw received GB/s per node; None when no engine has whiskers."""
    drawn = [series for series in machine.series if series.whiskers]
    if not drawn:
        return None
    used = {w.level_label for series in drawn for w in series.whiskers}
    known = {level.label: level.failed_parts for level in machine.levels}
    labels = [label for label in known if label in used]
    labels += sorted(used - set(labels))
    ticks = [
        level_tick(known[label], label) if label in known else plain(label) for label in labels
    ]
    slots = Slots(ticks, len(drawn))
    fig = figure(400)
    for number, series in enumerate(drawn):
        style = styles[series.engine]
        fig.add_trace(
            go.Box(
                x=[slots.centre(labels.index(w.level_label), number) for w in series.whiskers],
                lowerfence=[w.min_gb_s for w in series.whiskers],
                q1=[w.q1_gb_s for w in series.whiskers],
                median=[w.median_gb_s for w in series.whiskers],
                q3=[w.q3_gb_s for w in series.whiskers],
                upperfence=[w.max_gb_s for w in series.whiskers],
                width=slots.width,
                marker={"color": style.colour},
                line={"color": style.colour, "width": 1.6},
                name=f"<b>{plain(series.engine)}</b>",
                hoverinfo="y",
            )
        )
    fig.update_xaxes(title_text=f"failed {plain(machine.failure_unit)}", **slots.axis())
    fig.update_yaxes(title_text="received per node [GB/s]", rangemode="tozero", hoverformat=".3g")
    return fig
