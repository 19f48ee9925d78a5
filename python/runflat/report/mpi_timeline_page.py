"""The page of an MPI run: who did what when, who failed, and what the steps took."""

from collections.abc import Sequence
from statistics import median

from runflat.report.captions import Caption
from runflat.report.mpi_timeline_figure import Window, timeline_figure, timeline_styles
from runflat.report.mpi_timeline_model import TimelineFailure, TimelineReport
from runflat.report.shell import Choice, picture, render_page

MOST_WINDOWS = 12

LEAST_AFTER_MS = 20.0
"""Time that is shown after a failure at least."""


def render_timeline(report: TimelineReport) -> str:
    """Render a run as one self-contained HTML page.

    Parameters
    ----------
    report : TimelineReport
        All results and texts. Names may contain any characters: everything is escaped.

    Returns
    -------
    str
        HTML, to be written as UTF-8; about 5 MB, nearly all of it the plotting library.
    """
    styles = timeline_styles(report)
    drawn: list[Choice] = []
    for title, window in [("the whole run", None), *_windows(report.failures)]:
        fig = timeline_figure(report, styles, window)
        if fig is not None:
            drawn.append((title, "", fig))
    # What failed is looked at first.
    drawn = [*drawn[1:2], *drawn[:1], *drawn[2:]]
    return render_page(
        "mpi_timeline.html.j2",
        scripts=["report.js"],
        report=report,
        pictures=[picture("mpi-timeline", 1, CAPTION, drawn)],
        steps=_steps(report),
        colours={kind: style.colour for kind, style in styles.items()},
    )


CAPTION = Caption(
    heading="Rank by rank",
    reading="A row a rank; the thin line is as long as the rank is known to have run. Bars are steps that took time, marks are "
    "moments: a red cross is a rank killed on purpose, a red square one stopped, a triangle a rank that learnt of a failure. "
    "A repair has a shrink in it (shorter steps are thinner bars); from “took over” on a spare is a rank, whose data were “brought” to it "
    "by others and are loaded in “restored”. "
    "Point at a mark to read it; draw a box to zoom, double-click to go back. Select a name above the figure to hide it.",
    alternative="What each rank did over time; failures and durations are in the tables below.",
    empty="No rank noted anything.",
)


def _windows(failures: Sequence[TimelineFailure]) -> list[tuple[str, Window]]:
    """Give a window for each failure, those that follow while one is recovered from in the same one."""
    groups: list[list[TimelineFailure]] = []
    until = 0.0
    for one in failures:
        if groups and one.at_s <= until:
            groups[-1].append(one)
        else:
            groups.append([one])
        until = max(until, one.at_s + max(one.recovery_ms, LEAST_AFTER_MS) / 1e3)
    found = []
    for group in groups[:MOST_WINDOWS]:
        first = group[0]
        last_ms = max(
            1e3 * (one.at_s - first.at_s) + max(one.recovery_ms, LEAST_AFTER_MS) for one in group
        )
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        name = f"the failure of rank {first.rank}"
        window = Window(first.at_s, -0.15 * last_ms, 1.25 * last_ms, name)
        found.append((f"{name}{more}", window))
    return found


def _steps(report: TimelineReport) -> list[tuple[str, str, str, str]]:
    """Give name, number, median and longest duration of each kind of event."""
    durations: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    for event in report.events:
        counts[event.kind] = counts.get(event.kind, 0) + 1
        if event.duration_ms is not None:
            durations.setdefault(event.kind, []).append(event.duration_ms)
    rows = []
    for kind in sorted(counts):
        took = durations.get(kind)
        middle, longest = ("", "") if took is None else (f"{median(took):.3g}", f"{max(took):.3g}")
        rows.append((kind, f"{counts[kind]:,}", middle, longest))
    return rows
