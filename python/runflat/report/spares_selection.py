"""Figure: which degree of slide replaced the failed nodes, by failure or accumulated.

Source: Hori et al., "Overhead of Using Spare Nodes", 2016, Figures 14 and 15.
"""

import plotly.graph_objects as go

from runflat.report.frame import figure
from runflat.report.palette import INK, LOAD_RAMP, PAPER
from runflat.report.spares_collisions import FEW_FAILURES, failure_range, whole_ticks
from runflat.report.spares_model import PolicySeries


def selection_figure(one: PolicySeries, *, accumulated: bool = False) -> go.Figure | None:
    """Stack the shares of the degrees; None when the policy has one degree or nothing was substituted.

    Parameters
    ----------
    one : PolicySeries
        The policy.
    accumulated : bool
        All failures so far instead of each one alone.
    """
    points = [
        point for point in one.points if (point.shares_accumulated if accumulated else point.shares)
    ]
    if len(one.degrees) < 2 or not points:
        return None
    fig = figure(370)
    there = [point.failures for point in points]
    is_few = there[-1] - there[0] < FEW_FAILURES
    for place, degree in enumerate(sorted(one.degrees)):
        shares = [
            100 * (point.shares_accumulated if accumulated else point.shares).get(degree, 0.0)
            for point in points
        ]
        colour = LOAD_RAMP[_shade(place, len(one.degrees))]
        common = {
            "x": there,
            "y": shares,
            "name": f"<b>{degree}D</b>",
            "hovertemplate": f"failure %{{x:,}}: <b>{degree}D</b> %{{y:.3g}} %<extra></extra>",
        }
        if is_few:
            fig.add_trace(
                go.Bar(marker={"color": colour, "line": {"color": PAPER, "width": 1}}, **common)
            )
        else:
            fig.add_trace(
                go.Scatter(
                    mode="lines", stackgroup="shares", fillcolor=colour,
                    line={"width": 0.6, "color": PAPER}, **common,
                )
            )  # fmt: skip
    fig.update_layout(barmode="stack", bargap=0.18, legend_traceorder="normal")
    room = failure_range(there[0], there[-1])
    if is_few:
        room = [there[0] - 0.6, there[-1] + 0.6]
    fig.update_xaxes(title_text="failures", range=room, **whole_ticks(there[-1]))
    words = "substitutions so far [%]" if accumulated else "substitutions of this failure [%]"
    fig.update_yaxes(title_text=words, range=[0, 100], tickfont_color=INK)
    return fig


def _shade(place: int, count: int) -> int:
    """Spread the degrees over the ramp, so that neighbours differ in lightness."""
    return round(place * (len(LOAD_RAMP) - 1) / max(count - 1, 1))
