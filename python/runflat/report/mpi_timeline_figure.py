"""Figure: what each rank of an MPI job did when, a row a rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from runflat.report.frame import figure, plain
from runflat.report.mpi_timeline_model import TimelineEvent, TimelineReport
from runflat.report.palette import FAILED, INK, MUTED, EngineStyle, engine_styles

MARKS: dict[str, tuple[str, str, int]] = {
    "killed": ("x", FAILED, 11),
    "stopped": ("square", FAILED, 10),
    "fenced": ("hourglass", FAILED, 10),
    "step_limit": ("cross", FAILED, 11),
    "failure_detected": ("triangle-up", INK, 9),
    "started": ("line-ns-open", MUTED, 9),
    "finalized": ("circle-open", MUTED, 8),
}
"""Symbol, colour and size of the events that are known; what is red ends a rank."""

KINDS = (
    "repaired", "shrink", "restored", "checkpoint", "interrupted", "took_over", "brought", "asleep",
    "aborted", "exited", "refilled", "changed", "exhausted", "restarted", "reduced",
)  # fmt: skip
"""Other events that are known: each has the same colour on all pages."""

ENDS = ("killed", "finalized", "step_limit")

MOST_DRAWN = 20_000
"""Events of one kind: more make the page slow, and no picture has so many points."""

BAR = 0.7
THINNER = 0.14
"""Steps lie within others (a shrink within its repair): the shorter a kind, the thinner its bar."""


@dataclass(frozen=True)
class Window:
    """A part of the time, shown in ms from a moment.

    Parameters
    ----------
    zero_s : float
        The moment.
    first_ms, last_ms : float
        What is shown.
    name : str
        Of the moment, for the axis.
    """

    zero_s: float
    first_ms: float
    last_ms: float
    name: str

    def holds(self, event: TimelineEvent) -> bool:
        """Say whether an event lies in it, in part at least."""
        first, last = (self.zero_s + ms / 1e3 for ms in (self.first_ms, self.last_ms))
        return event.end_s >= first and event.begin_s <= last


def timeline_styles(report: TimelineReport) -> dict[str, EngineStyle]:
    """Give each kind of event that has no mark of its own a style; the longest first, then by name."""
    longest: dict[str, float] = {}
    for event in report.events:
        if event.kind not in MARKS:
            took = event.duration_ms or 0.0
            longest[event.kind] = max(longest.get(event.kind, 0.0), took)
    styles = engine_styles([*KINDS, *sorted(longest.keys() - KINDS)])
    return {kind: styles[kind] for kind in sorted(longest, key=lambda kind: (-longest[kind], kind))}


def is_span(event: TimelineEvent) -> bool:
    """Say whether an event is drawn as an interval."""
    return event.duration_ms is not None and event.kind not in MARKS


def timeline_figure(
    report: TimelineReport, styles: Mapping[str, EngineStyle], window: Window | None = None
) -> go.Figure | None:
    """Draw a row a rank; None when no rank noted anything.

    Parameters
    ----------
    report : TimelineReport
        The run.
    styles : mapping of str to EngineStyle
        As `timeline_styles` gives them.
    window : Window, optional
        The part that is shown; by default all.
    """
    if not report.events:
        return None
    fig = figure(min(150 + 24 * report.ranks, 1400))
    scale = _Scale(window)
    _draw_lives(fig, report, scale)
    shown = [event for event in report.events if window is None or window.holds(event)]
    for place, (kind, style) in enumerate(styles.items()):
        of_kind = [event for event in shown if event.kind == kind][:MOST_DRAWN]
        spans = [event for event in of_kind if is_span(event)]
        _draw_spans(fig, spans, kind, style, max(BAR - place * THINNER, THINNER), scale)
        moments = [event for event in of_kind if not is_span(event)]
        _draw_marks(fig, moments, kind, ("diamond", style.colour, 8), scale)
    for kind, mark in MARKS.items():
        of_kind = [event for event in shown if event.kind == kind][:MOST_DRAWN]
        _draw_marks(fig, of_kind, kind, mark, scale)
    _set_axes(fig, report, window)
    return fig


@dataclass(frozen=True)
class _Scale:
    """Where a time stands on the axis, and how it is written."""

    window: Window | None

    def at(self, seconds: float) -> float:
        return seconds if self.window is None else 1e3 * (seconds - self.window.zero_s)

    def length(self, ms: float) -> float:
        return ms / 1e3 if self.window is None else ms

    def words(self, seconds: float) -> str:
        return f"{seconds:.4f} s" if self.window is None else f"{self.at(seconds):.2f} ms"


def _draw_lives(fig: go.Figure, report: TimelineReport, scale: _Scale) -> None:
    """Draw a thin line for as long as a rank is known to have run."""
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    ended: set[int] = set()
    for event in report.events:
        first.setdefault(event.rank, event.begin_s)
        if event.rank not in ended:
            last[event.rank] = event.end_s
        if event.kind in ENDS:
            ended.add(event.rank)
    x: list[float | None] = []
    y: list[int | None] = []
    for rank in sorted(first):
        x += [scale.at(first[rank]), scale.at(last[rank]), None]
        y += [rank, rank, None]
    fig.add_trace(
        go.Scatter(
            x=x, y=y, mode="lines", line={"color": MUTED, "width": 1}, hoverinfo="skip", showlegend=False
        )
    )  # fmt: skip


def _draw_spans(
    fig: go.Figure,
    events: Sequence[TimelineEvent],
    kind: str,
    style: EngineStyle,
    width: float,
    scale: _Scale,
) -> None:
    if not events:
        return
    fig.add_trace(
        go.Bar(
            orientation="h", name=f"<b>{plain(kind)}</b>", width=width,
            base=[scale.at(event.begin_s) for event in events],
            x=[scale.length(event.duration_ms or 0.0) for event in events],
            y=[event.rank for event in events],
            customdata=[_words(event, scale) for event in events],
            # The border keeps what is shorter than a pixel in sight.
            marker={"color": style.colour, "line": {"color": style.colour, "width": 1.5}},
            hovertemplate="%{customdata}<extra></extra>",
        )
    )  # fmt: skip


def _draw_marks(
    fig: go.Figure,
    events: Sequence[TimelineEvent],
    kind: str,
    mark: tuple[str, str, int],
    scale: _Scale,
) -> None:
    if not events:
        return
    symbol, colour, size = mark
    fig.add_trace(
        go.Scatter(
            mode="markers", name=f"<b>{plain(kind.replace('_', ' '))}</b>",
            x=[scale.at(event.end_s) for event in events], y=[event.rank for event in events],
            customdata=[_words(event, scale) for event in events],
            marker={"symbol": symbol, "color": colour, "size": size, "line": {"color": colour, "width": 1.5}},
            hovertemplate="%{customdata}<extra></extra>", cliponaxis=False,
        )
    )  # fmt: skip


def _words(event: TimelineEvent, scale: _Scale) -> str:
    """Write an event for whoever points at it."""
    kind = plain(event.kind.replace("_", " "))
    of = "" if event.of is None else f" of rank {event.of}"
    took = "" if event.duration_ms is None else f", took {event.duration_ms:.3g} ms"
    return f"rank {event.rank}: <b>{kind}</b>{of} at {scale.words(event.end_s)}{took}"


def _set_axes(fig: go.Figure, report: TimelineReport, window: Window | None) -> None:
    if window is None:
        fig.update_xaxes(title_text="seconds since MPI_Init", fixedrange=False)
    else:
        fig.update_xaxes(
            title_text=f"ms after {plain(window.name)}", range=[window.first_ms, window.last_ms], fixedrange=False
        )  # fmt: skip
    step = max(1, report.ranks // 32)
    fig.update_yaxes(
        title_text="rank", range=[report.ranks - 0.4, -0.6], tickvals=list(range(0, report.ranks, step)),
        showgrid=False, zeroline=False, tickfont_color=INK,
    )  # fmt: skip
    fig.update_layout(barmode="overlay", dragmode="zoom")
