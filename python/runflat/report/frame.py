"""The look that all figures share, and how a figure becomes JSON for the page."""

import html
import json
import math
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from runflat.report.palette import GRID, INK, MUTED, PAPER

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def figure(height_px: int) -> go.Figure:
    """Return an empty figure with our template: no title, thin grid, legend above the plot."""
    axis = {
        "gridcolor": GRID,
        "linecolor": MUTED,
        "zerolinecolor": GRID,
        "showline": False,
        "ticks": "",
        "automargin": True,
        "tickfont": {"color": MUTED, "size": 12},
        "title": {"font": {"color": INK, "size": 13}, "standoff": 12},
        "fixedrange": True,
    }
    layout = {
        "height": height_px,
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "xaxis": axis | {"showgrid": False, "zeroline": False, "showline": True},
        "yaxis": axis,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": PAPER,
            "bordercolor": MUTED,
            "font": {"color": INK, "size": 13, "family": FONT},
            "align": "left",
        },
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": MUTED, "activecolor": INK},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.02,
            "yanchor": "bottom",
            "font": {"size": 13, "color": INK},
        },
    }
    # An explicit empty template keeps plotly from adding its own 7 kB default to every figure.
    return go.Figure(layout={"template": {}, **layout})


def plain(text: str) -> str:
    """Escape a name for plotly, which reads ``<b>``, ``<a href>`` and entities in every text."""
    return html.escape(text, quote=False).replace("\n", " ")


def level_tick(failed_parts: int, label: str) -> str:
    """Write a level below an axis: the number of failed parts, and the plan's words where they say more."""
    count = f"{failed_parts:,}"
    return count if label == str(failed_parts) else f"{count}<br>{plain(label)}"


def figure_json(fig: go.Figure) -> str:
    """Serialise a figure so that it can stand inside a ``<script>`` element.

    Returns
    -------
    str
        JSON with sorted keys, finite numbers only (others become null), and no ``<``.
    """
    return script_json(fig.to_plotly_json())


def script_json(value: object) -> str:
    """Serialise plain values for a ``<script>`` element: sorted, compact, no ``<``, ``>``, ``&``."""
    text = json.dumps(_finite(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
