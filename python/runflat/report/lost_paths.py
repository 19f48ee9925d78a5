"""Figure: paths lost before re-routing, drawn at random against extrapolated from the tables.

Source: the disconnected-paths metric of Domke, Hoefler, Matsuoka, SC14, section III-A.
"""

from collections.abc import Mapping

import plotly.graph_objects as go

from runflat.report.frame import figure, level_tick, plain
from runflat.report.model import LostPaths, MachineReport
from runflat.report.palette import EngineStyle
from runflat.report.slots import Slots


def lost_paths_figure(
    machine: MachineReport, styles: Mapping[str, EngineStyle]
) -> go.Figure | None:
    """Draw a box a level and engine beside the extrapolated line; None without any pattern."""
    counted = [lost for lost in machine.lost if lost.lost_counts]
    if not counted:
        return None
    engines = list(dict.fromkeys(lost.engine for lost in counted))
    labels = {(lost.failed_links, lost.level_label): _label(lost) for lost in counted}
    keys = sorted(labels)
    slots = Slots([labels[key] for key in keys], len(engines))
    fig = figure(420)
    for number, engine in enumerate(engines):
        style = styles[engine]
        mine = sorted(
            (lost for lost in counted if lost.engine == engine), key=lambda lost: lost.failed_links
        )
        at = {labels[key]: slots.centre(keys.index(key), number) for key in keys}
        fig.add_trace(
            go.Box(
                x=[at[_label(lost)] for lost in mine for _ in lost.lost_counts],
                y=[count for lost in mine for count in lost.lost_counts],
                width=slots.width,
                marker={"color": style.colour, "size": 4, "opacity": 0.6},
                line={"color": style.colour, "width": 1.4},
                boxpoints="outliers",
                name=f"<b>{plain(engine)}</b> random patterns",
                legendgroup=plain(engine),
                hoverinfo="y",
            )
        )
        fig.add_trace(
            go.Scatter(
                x=[at[_label(lost)] for lost in mine],
                y=[lost.extrapolated for lost in mine],
                mode="lines+markers",
                line={"color": style.colour, "width": 1.4, "dash": "6px,4px"},
                marker={
                    "symbol": f"{style.symbol}-open",
                    "size": 11,
                    "color": style.colour,
                    "line": {"width": 2},
                },
                name="extrapolated",
                legendgroup=plain(engine),
                hovertemplate="extrapolated %{y:,.0f} paths<extra></extra>",
            )
        )
    fig.update_xaxes(title_text="failed links", **slots.axis())
    fig.update_yaxes(title_text="lost paths", rangemode="tozero", tickformat=",d")
    return fig


def _label(lost: LostPaths) -> str:
    return level_tick(lost.failed_links, lost.level_label)
