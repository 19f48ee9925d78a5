"""Draws Figures 5 to 8 from their records, as the paper has them, on one page.

    python papers/bouteiller-2022/plot.py [FOLDER with figure5.csv ...] [--into out/bouteiller-2022/figures.html]

All show medians, 5 and 6 of what rounds have beside the first case of the same round.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from runflat.report.frame import FONT
from runflat.report.palette import GRID, INK, MUTED

COLOURS = ("#0072b2", "#d55e00", "#009e73")

ROOT = Path(__file__).parents[2]
RECORDS = Path(__file__).parent

Row = dict[str, str]
Line = tuple[str, list[float], list[float]]
"""Name, and where its points are."""

TITLES = (
    "Figure 5: range group, time over that without fault tolerance",
    "Figure 6: uniform calls, time over that of local",
    "Figure 7: several shrinks at once, 8 ranks",
    "Figure 8: reload beside a shrink, 4 ranks",
)
AXES = (
    ("bytes", "times"),
    ("bytes", "times"),
    ("communicators", "ms a communicator"),
    ("bytes", "ms from the death"),
)
TICKS: tuple[dict[str, object], ...] = (
    {"dtick": 1},
    {"dtick": 1},
    {"tickvals": [1, 2, 4, 8, 16]},
    {"dtick": 1},
)
LEGENDS = (
    (0.45, "right", 0.59, "bottom"),
    (1.0, "right", 1.0, "top"),
    (0.01, "left", 0.2, "middle"),
    (0.57, "left", 0.25, "middle"),
)
"""Where they hide nothing."""

HEAD = "<!doctype html><meta charset='utf-8'><title>Figures 5 to 8</title><style>body{margin:0}</style>"

CALLS = ("ping_pong", "bcast", "allreduce")


def rows(folder: Path, number: int) -> list[Row]:
    """Read a record."""
    with (folder / f"figure{number}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ratios(table: list[Row], case: str) -> Iterator[Line]:
    """Give a case over the first one, by bytes, for each number of ranks and call."""
    for ranks in ("2", "8"):
        for call in CALLS:
            own = [
                one for one in table
                if (one["ranks"], one["call"], one["case"]) == (ranks, call, case)
            ]  # fmt: skip
            yield (
                f"{call}, {ranks} ranks",
                [float(one["bytes"]) for one in own],
                [float(one["times"]) for one in own],
            )


def shrinks(table: list[Row]) -> Iterator[Line]:
    """Give milliseconds a communicator, from the death and once more with the death known."""
    for way in ("blocking", "nonblocking"):
        for time, words in (("first_ms", "from the death"), ("again_ms", "death known")):
            own = [one for one in table if (one["shrink"], one["time"]) == (way, time)]
            yield (
                f"{way}, {words}",
                [float(one["communicators"]) for one in own],
                [float(one["median"]) for one in own],
            )


def reloads(table: list[Row]) -> Iterator[Line]:
    """Give milliseconds until the copy is there, by its size."""
    for way in ("alone", "serial", "overlapped"):
        own = [one for one in table if one["reload"] == way]
        yield way, [float(one["bytes"]) for one in own], [float(one["median"]) for one in own]


def draw(folder: Path) -> go.Figure:
    """Draw the four."""
    lines = (
        list(ratios(rows(folder, 5), "group")),
        list(ratios(rows(folder, 6), "uniform")),
        list(shrinks(rows(folder, 7))),
        list(reloads(rows(folder, 8))),
    )
    fig = make_subplots(2, 2, subplot_titles=TITLES, horizontal_spacing=0.09, vertical_spacing=0.13)
    for at, own in enumerate(lines):
        row, column = at // 2 + 1, at % 2 + 1
        for index, (name, x, y) in enumerate(own):
            # The second half of the lines of a figure are the first ones' partners.
            pairs = (len(own) + 1) // 2 if len(own) > 3 else len(own)
            dash = "solid" if index < pairs else "dash"
            style = {"color": COLOURS[index % pairs], "width": 2, "dash": dash}
            fig.add_scatter(
                x=x, y=y, name=name, mode="lines+markers", line=style, legend=f"legend{at + 1}", row=row, col=column
            )  # fmt: skip
        fig.update_xaxes(title=AXES[at][0], type="log", row=row, col=column, **TICKS[at])
        fig.update_yaxes(
            title=AXES[at][1], type="linear" if at == 0 else "log", dtick=None if at == 0 else 1, row=row, col=column
        )  # fmt: skip
        place = dict(zip(("x", "xanchor", "y", "yanchor"), LEGENDS[at], strict=True))
        fig.update_layout({f"legend{at + 1}": place | {"font": {"size": 11}}})
    fig.update_yaxes(range=[0, 1.3], row=1, col=1)
    # 1G, where the default is 1B for 10**9.
    fig.update_xaxes(gridcolor=GRID, linecolor=MUTED, showline=True, exponentformat="SI")
    fig.update_yaxes(gridcolor=GRID, linecolor=MUTED)
    fig.update_layout(
        template="none", width=1200, height=900, font={"family": FONT, "size": 12, "color": INK},
        margin={"l": 60, "r": 20, "t": 40, "b": 50},
    )  # fmt: skip
    return fig


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=RECORDS)
    parser.add_argument("--into", type=Path, default=ROOT / "out/bouteiller-2022/figures.html")
    given = parser.parse_args()
    given.into.parent.mkdir(parents=True, exist_ok=True)
    # Without the toolbar, which covers a title, and as large as the figure.
    page = draw(given.folder).to_html(full_html=False, config={"displayModeBar": False})
    given.into.write_text(HEAD + page, encoding="utf-8")
    print(f"wrote {given.into}")


if __name__ == "__main__":
    main()
