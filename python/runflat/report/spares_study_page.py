"""The page of a campaign: collisions after random failures, the slides chosen, the sequences lost."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from runflat.report.captions import Caption
from runflat.report.palette import EngineStyle, engine_styles
from runflat.report.shell import Choice, Picture, picture, render_page, single
from runflat.report.spares_collisions import (
    FIRST_FAILURES,
    collisions_figure,
    unrecoverable_figure,
    worth_zooming,
)
from runflat.report.spares_model import CollisionPoint, PolicySeries, SparesStudyReport
from runflat.report.spares_selection import selection_figure
from runflat.report.tables import NONE

MOST_ROWS = 14


def render_spares_study(report: SparesStudyReport) -> str:
    """Render a campaign as one self-contained HTML page.

    Parameters
    ----------
    report : SparesStudyReport
        All results and texts. Names may contain any characters: everything is escaped.

    Returns
    -------
    str
        HTML, to be written as UTF-8; about 5 MB, nearly all of it the plotting library.
    """
    styles = engine_styles(one.policy for one in report.series)
    return render_page(
        "spares_study.html.j2",
        scripts=["report.js"],
        report=report,
        pictures=_pictures(report.series, styles),
        rows=[(one.policy, one.degrees, _table(one)) for one in report.series],
        colours={policy: style.colour for policy, style in styles.items()},
    )


def _pictures(series: Sequence[PolicySeries], styles: Mapping[str, EngineStyle]) -> list[Picture]:
    variants: dict[str, list[Choice]] = {
        "collisions": _collisions(series, styles),
        "selection": _selections(series, accumulated=False),
        "accumulated": _selections(series, accumulated=True),
        "unrecoverable": single(unrecoverable_figure(series, styles)),
    }
    texts = _captions(series)
    pictures: list[Picture] = []
    number = 1
    for kind, drawn in variants.items():
        pictures.append(picture(f"spares-{kind}", number, texts[kind], drawn))
        number += bool(drawn)
    return pictures


def _collisions(series: Sequence[PolicySeries], styles: Mapping[str, EngineStyle]) -> list[Choice]:
    whole: go.Figure | None = collisions_figure(series, styles)
    if whole is None or not worth_zooming(series):
        return single(whole)
    close = collisions_figure(series, styles, until=FIRST_FAILURES)
    return [("all failures", "", whole), (f"the first {FIRST_FAILURES} failures", "", close)]


def _selections(series: Sequence[PolicySeries], *, accumulated: bool) -> list[Choice]:
    return [
        (one.policy, "", drawn)
        for one in series
        if (drawn := selection_figure(one, accumulated=accumulated)) is not None
    ]


def _captions(series: Sequence[PolicySeries]) -> dict[str, Caption]:
    policies = ", ".join(one.policy for one in series)
    no_choice = (
        "No policy has more than one degree of slide to choose from, or nothing was substituted."
    )
    return {
        "collisions": Caption(
            heading="The busiest channel as nodes fail",
            reading="How many messages meet on the busiest channel when all ranks send at once; 1 is no "
            "collision. Thick lines are means over the sequences, dashed lines the worst and dotted lines "
            "the best sequence; the shade holds those from 5 to 95\N{NO-BREAK SPACE}%. Only sequences in which every failed "
            "node was replaced count; a mean turns thin where they are less than 99\N{NO-BREAK SPACE}%. Select a name above the figure to hide it, twice to see it alone.",
            alternative="Worst, mean and best number of messages on the busiest channel over the number of "
            f"failures for {policies}; the numbers are in the tables below.",
            empty="In no sequence was a failed node replaced.",
        ),
        "selection": Caption(
            heading="Which slide was taken at each failure",
            reading="Of the sequences that replaced this failed node, the share of each degree of slide: "
            "0D at the bottom, a spare that takes over the rank itself; above it kD, where a slice of "
            "k dimensions moves by one node.",
            alternative="Share of each degree of slide at each failure, stacked, the lowest degree at the bottom.",
            empty=no_choice,
        ),
        "accumulated": Caption(
            heading="Which slides were taken so far",
            reading="The same over all failures up to this one.",
            alternative="Share of each degree of slide over all failures so far, stacked, the lowest degree at the bottom.",
            empty=no_choice,
        ),
        "unrecoverable": Caption(
            heading="Sequences without a spare left",
            reading="The share of all sequences in which this failure or one before found no spare that the "
            "policy reaches. Policies that always found one are not drawn.",
            alternative=f"Share of sequences without a spare over the number of failures for {policies}.",
            empty="Every failed node of every sequence found a spare.",
        ),
    }


def _table(one: PolicySeries) -> list[list[str]]:
    return [
        [
            f"{point.failures:,}",
            _cell(point.best),
            NONE if point.average is None else f"{point.average:.4g}",
            _cell(point.worst),
            NONE if point.low is None else f"{point.low} to {point.high}",
            *(_share(point.shares.get(degree) if point.shares else None) for degree in one.degrees),
            f"{point.sequences:,}",
            f"{100 * point.unrecoverable:.3g} %" if point.unrecoverable else "",
        ]
        for point in _some(one.points)
    ]


def _some(points: Sequence[CollisionPoint]) -> Sequence[CollisionPoint]:
    """Of many points the first few and some over the rest, the last among them."""
    if len(points) <= MOST_ROWS:
        return points
    half = MOST_ROWS // 2
    rest = points[half:]
    return [*points[:half], *(rest[(at + 1) * len(rest) // half - 1] for at in range(half))]


def _cell(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.3g} %"
