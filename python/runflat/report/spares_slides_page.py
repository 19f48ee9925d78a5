"""The page of a substitution: the grid at every step, drawn by the page's own script.

What is drawn comes from Python; the script adds up the changes of each step and draws one plane of the grid. A grid of
four or more dimensions, or a very large one, has no picture, and the page says so.
"""

import math
from collections.abc import Sequence

from markupsafe import Markup

from runflat.report.frame import script_json
from runflat.report.palette import DARK, FAILED, INK, LOAD_RAMP, MUTED, PAPER
from runflat.report.shell import render_page
from runflat.report.spares_model import SlidesReport, SlideStep

MOST_DIMENSIONS = 3
MOST_NODES = 40_000
MOST_MOVES = 3_000
"""Moves listed in words."""

MOVED = "#d55e00"

COLOURS = {
    "ink": INK,
    "muted": MUTED,
    "paper": PAPER,
    "rank": MUTED,
    "failed": FAILED,
    "moved": MOVED,
    **{f"load{place}": colour for place, colour in enumerate(LOAD_RAMP)},
}


def render_slides(report: SlidesReport) -> str:
    """Render a substitution as one self-contained HTML page.

    Parameters
    ----------
    report : SlidesReport
        All results and texts. Names may contain any characters: everything is escaped.

    Returns
    -------
    str
        HTML, to be written as UTF-8.
    """
    missing = _missing(report)
    left = MOST_MOVES
    rows = []
    for number, step in enumerate(report.steps, start=1):
        listed = len(step.moves) <= left
        left -= len(step.moves) if listed else 0
        rows.append((number, step, _moves(step) if listed else []))
    return render_page(
        "spares_slides.html.j2",
        styles=["slides.css"],
        scripts=[] if missing else ["slides_grid.js", "slides.js"],
        report=report,
        missing=missing,
        rows=rows,
        dimensions=len(report.shape),
        largest=largest_load(report),
        data=None if missing else Markup(script_json(slides_data(report))),
        colours={},
    )


def slides_data(report: SlidesReport) -> dict[str, object]:
    """Give the values that the page's script draws, short names and flat lists.

    Returns
    -------
    dict
        `shape`, `torus`, `ranks` (node of each), `loads` (by channel, or None), `largest` (over all steps), and `steps`
        with `failed`, `outcome`, `moves` (rank, from, to, ...), `loads` (channel, messages, ...), `text`.
    """
    return {
        "shape": list(report.shape),
        "torus": report.torus,
        "ranks": list(report.node_of_rank),
        "loads": None if report.loads is None else list(report.loads),
        "largest": largest_load(report),
        "before": report.collision_max,
        "steps": [
            {
                "failed": step.failed,
                "outcome": step.outcome,
                "moves": [value for move in step.moves for value in move],
                "loads": [value for change in step.loads for value in change],
                "text": step.sentence,
            }
            for step in report.steps
        ],
        "light": COLOURS,
        "dark": {name: DARK[colour] for name, colour in COLOURS.items()},
    }


def largest_load(report: SlidesReport) -> int:
    """Most messages on a channel at any step."""
    return max([report.collision_max, *(step.collision_max for step in report.steps)])


def _missing(report: SlidesReport) -> str:
    """Say why there is no picture; empty where there is one."""
    dimensions, nodes = len(report.shape), math.prod(report.shape)
    if dimensions > MOST_DIMENSIONS:
        return (
            f"There is no picture of a grid of {dimensions} dimensions; pictures are drawn of up to "
            f"{MOST_DIMENSIONS}. The table below has every step."
        )
    if nodes > MOST_NODES:
        return (
            f"There is no picture of {nodes:,} nodes; pictures are drawn of up to {MOST_NODES:,}. The table "
            "below has every step."
        )
    return ""


def _moves(step: SlideStep) -> Sequence[str]:
    """Write the moves; a single one is in the sentence."""
    if len(step.moves) == 1:
        return []
    return [f"rank {rank}: {before} to {after}" for rank, before, after in step.moves]
