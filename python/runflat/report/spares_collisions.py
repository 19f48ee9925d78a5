"""Figures: the largest collision against failures, and the share of sequences without a spare left.

Source: Hori et al., "Overhead of Using Spare Nodes", 2016, Figures 10 to 13 (worst, average and best of two policies).
"""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from runflat.report.frame import figure, plain
from runflat.report.palette import MUTED, PAPER, EngineStyle
from runflat.report.spares_model import CollisionPoint, PolicySeries

FEW_FAILURES = 40
"""Up to so many, every mean has its own mark."""

FIRST_FAILURES = 20
"""Shown alone where there are many more."""

MOST_LOST = 0.01
"""Share of sequences without a spare above which a mean is drawn thin."""


def collisions_figure(
    series: Sequence[PolicySeries],
    styles: Mapping[str, EngineStyle],
    *,
    until: int | None = None,
) -> go.Figure | None:
    """Draw worst, mean and best of each policy and the band from 5 to 95 %; None when there is nothing.

    Parameters
    ----------
    series : sequence of PolicySeries
        The policies.
    styles : mapping of str to EngineStyle
        Style of each policy.
    until : int, optional
        Only the failures up to this one.
    """
    drawn = [(one, _known(one, until)) for one in series]
    drawn = [(one, points) for one, points in drawn if points]
    if not drawn:
        return None
    fig = figure(470)
    last = max(points[-1].failures for _, points in drawn)
    first = min(points[0].failures for _, points in drawn)
    has_marks = last - first < FEW_FAILURES
    for one, points in drawn:
        _add_band(fig, one, points, styles[one.policy])
    for one, points in drawn:
        _add_lines(fig, one, points, styles[one.policy], has_marks=has_marks)
    _explain_lines(fig)
    top = max(point.worst or 0 for _, points in drawn for point in points)
    fig.update_xaxes(title_text="failures", range=failure_range(first, last), **whole_ticks(last))
    fig.update_yaxes(
        title_text="messages on the busiest channel",
        range=[0, top * 1.06 + 0.2],
        **whole_ticks(top),
    )
    return fig


def unrecoverable_figure(
    series: Sequence[PolicySeries], styles: Mapping[str, EngineStyle]
) -> go.Figure | None:
    """Draw the share of sequences that found no spare; None when every one found all."""
    if not any(point.unrecoverable > 0 for one in series for point in one.points):
        return None
    fig = figure(330)
    last = max(point.failures for one in series for point in one.points)
    first = min(point.failures for one in series for point in one.points)
    for one in series:
        if not any(point.unrecoverable > 0 for point in one.points):
            continue
        style = styles[one.policy]
        fig.add_trace(
            go.Scatter(
                x=[point.failures for point in one.points],
                y=[100 * point.unrecoverable for point in one.points],
                mode="lines+markers" if last - first < FEW_FAILURES else "lines",
                line={"color": style.colour, "width": 2.4, "dash": style.dash},
                marker={"color": style.colour, "symbol": style.symbol, "size": 8},
                name=f"<b>{plain(one.policy)}</b>",
                showlegend=True,
                hovertemplate=f"<b>{_literal(one.policy)}</b><br>failure %{{x:,}}: %{{y:.3g}} % "
                "without a spare<extra></extra>",
            )
        )
    fig.update_xaxes(title_text="failures", range=failure_range(first, last), **whole_ticks(last))
    fig.update_yaxes(
        title_text="sequences without a spare [%]", rangemode="tozero", range=_share_range(series)
    )
    return fig


def worth_zooming(series: Sequence[PolicySeries]) -> bool:
    """Whether the first failures are a small part of the picture."""
    failures = [point.failures for one in series for point in one.points]
    return max(failures) > 2 * FIRST_FAILURES and min(failures) < FIRST_FAILURES / 2


def failure_range(first: int, last: int) -> list[float]:
    """Axis from the first to the last failure with room at both ends."""
    room = max(0.4, 0.015 * (last - first)) if last - first < FEW_FAILURES else 0.012 * last
    return [first - room, last + room]


def whole_ticks(last: int) -> dict[str, object]:
    """Ticks of an axis that counts: never between two numbers."""
    return {"dtick": 1} if last <= 14 else {"tickformat": ",d"}


def _known(one: PolicySeries, until: int | None) -> list[CollisionPoint]:
    return [
        point
        for point in one.points
        if point.average is not None and (until is None or point.failures <= until)
    ]


def _add_band(
    fig: go.Figure, one: PolicySeries, points: Sequence[CollisionPoint], style: EngineStyle
) -> None:
    there = [point.failures for point in points]
    fig.add_trace(
        go.Scatter(
            x=there + there[::-1],
            y=[point.low for point in points] + [point.high for point in points[::-1]],
            mode="lines",
            line={"width": 0, "color": style.colour},
            fill="toself",
            fillcolor=style.colour,
            opacity=0.16,
            hoverinfo="skip",
            legendgroup=plain(one.policy),
            showlegend=False,
        )
    )


def _add_lines(
    fig: go.Figure,
    one: PolicySeries,
    points: Sequence[CollisionPoint],
    style: EngineStyle,
    *,
    has_marks: bool,
) -> None:
    there = [point.failures for point in points]
    lines = (("worst", WORST, "worst"), ("best", BEST, "best"))
    for which, dash, word in lines:
        fig.add_trace(
            go.Scatter(
                x=there,
                y=[getattr(point, which) for point in points],
                mode="lines",
                line={"color": style.colour, "width": 1.4, "dash": dash},
                hovertemplate=f"<b>{_literal(one.policy)}</b><br>failure %{{x:,}}: {word} "
                "%{y}<extra></extra>",
                legendgroup=plain(one.policy),
                showlegend=False,
            )
        )
    # Where many sequences are lost, the mean is over those that were lucky: a thin line.
    sound = [point for point in points if point.unrecoverable <= MOST_LOST]
    rest = points[max(len(sound) - 1, 0) :]
    if len(rest) > 1 or not sound:
        fig.add_trace(
            go.Scatter(
                x=[point.failures for point in rest],
                y=[point.average for point in rest],
                mode="lines+markers" if len(rest) == 1 else "lines",
                line={"color": style.colour, "width": 1.2},
                marker={"color": style.colour, "symbol": f"{style.symbol}-open", "size": 8},
                customdata=[_hover(point) for point in rest],
                hovertemplate=f"<b>{_literal(one.policy)}</b><br>%{{customdata}}<extra></extra>",
                name=f"<b>{plain(one.policy)}</b>",
                legendgroup=plain(one.policy),
                showlegend=not sound,
            )
        )
    points = sound
    fig.add_trace(
        go.Scatter(
            x=[point.failures for point in points],
            y=[point.average for point in points],
            mode="lines+markers" if has_marks or len(points) == 1 else "lines",
            line={"color": style.colour, "width": 2.8},
            marker={
                "color": style.colour,
                "symbol": style.symbol,
                "size": 9,
                "line": {"color": PAPER, "width": 1.2},
            },
            customdata=[_hover(point) for point in points],
            hovertemplate=f"<b>{_literal(one.policy)}</b><br>%{{customdata}}<extra></extra>",
            name=f"<b>{plain(one.policy)}</b>",
            legendgroup=plain(one.policy),
            showlegend=bool(sound),
        )
    )


def _explain_lines(fig: go.Figure) -> None:
    """Add legend entries that say which line is which, in no policy's colour."""
    for name, line in (
        ("worst", {"width": 1.4, "dash": WORST}),
        ("mean", {"width": 2.8}),
        ("best", {"width": 1.4, "dash": BEST}),
    ):
        fig.add_trace(
            go.Scatter(
                x=[None], y=[None], mode="lines", line={"color": MUTED, **line}, name=name,
                hoverinfo="skip",
            )
        )  # fmt: skip


def _hover(point: CollisionPoint) -> str:
    return "<br>".join(
        [
            f"after {point.failures:,} failures: mean {point.average:.4g}",
            f"best {point.best}, worst {point.worst}",
            f"5 to 95 %: {point.low} to {point.high}",
            f"{point.sequences:,} sequences",
        ]
    )


def _share_range(series: Sequence[PolicySeries]) -> list[float]:
    most = max(100 * point.unrecoverable for one in series for point in one.points)
    return [0, min(most * 1.08, 104.0)]


def _literal(title: str) -> str:
    return plain(title).replace("%{", "% {")


WORST = "7px,4px"
BEST = "2px,3px"
