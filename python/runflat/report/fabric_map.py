"""Figure: the fabric with its failed parts struck out and its cables coloured by load.

One state of the machine a figure; the page offers several through a list. Nodes are one dot each
up to `DOTS_MAX` nodes and a count beyond.
"""

from collections.abc import Sequence

import plotly.graph_objects as go

from runflat.report.frame import figure, plain
from runflat.report.map_cables import SEPARATE_MAX, STROKES_MAX, Stroke, Strokes, strokes
from runflat.report.map_layout import MapLayout, lay_out, short_names
from runflat.report.model import FabricMap
from runflat.report.palette import FAILED, INK, LOAD_RAMP, MUTED, NODE, PAPER, SWITCH

DOTS_MAX = 200
NAMES_IN_ROW_MAX = 20
_WIDTH, _ROW_HEIGHT = 10.0, 3.4
_PLOT_PX, _LETTER_PX = 1_000, 7.2
_BIN_NAMES = ("up to 20 %", "to 40 %", "to 60 %", "to 80 %", "to 100 %")


def fabric_map_figure(fabric: FabricMap) -> go.Figure | None:
    """Draw one state of the fabric; None when it has no switch."""
    layout = lay_out(fabric)
    if not layout.positions:
        return None
    height = _ROW_HEIGHT * max(layout.rows - 1, 1) if layout.kind == "layered" else _WIDTH * 0.6
    positions = [(x * _WIDTH, y * height) for x, y in layout.positions]
    lines = strokes(fabric, positions, bow=0.11)
    fig = figure(_height_px(layout) + (90 if len(lines.strokes) > 100 else 0))
    _add_cables(fig, lines)
    _add_nodes(fig, fabric, positions, layout)
    _add_switches(fig, fabric, positions, layout)
    fig.update_xaxes(visible=False, fixedrange=False, range=[-0.4, _WIDTH + 0.4])
    below = 0.9 if layout.kind == "layered" else 0.7
    fig.update_yaxes(visible=False, fixedrange=False, range=[-below, height + 0.55])
    fig.update_layout(dragmode="zoom", hoverdistance=14)
    return fig


def map_note(fabric: FabricMap) -> str:
    """Sentence for the caption on what is merged or missing; empty when everything is drawn."""
    if len(fabric.cables) <= SEPARATE_MAX:
        return ""
    bundles = len({frozenset((cable.a, cable.b)) for cable in fabric.cables})
    notes = []
    if bundles < len(fabric.cables):
        notes.append("Parallel cables are one line, wider for more cables.")
    if bundles > STROKES_MAX:
        notes.append(
            f"Only {STROKES_MAX:,} of {bundles:,} connections are drawn: "
            "the failed and the most loaded."
        )
    return " ".join(notes)


def _height_px(layout: MapLayout) -> int:
    if layout.kind == "layered":
        return min(360 + 130 * max(layout.rows - 2, 0), 900)
    return 620


def _add_cables(fig: go.Figure, lines: Strokes) -> None:
    many = len(lines.strokes) > 1_000
    thin = 1.0 if len(lines.strokes) <= 100 else 0.25 if many else 0.7
    intact = [s for s in lines.strokes if s.failed_count < s.cable_count]
    for load_bin, colour in enumerate(LOAD_RAMP):
        for width, part in _by_width([s for s in intact if s.load_bin == load_bin]):
            stroke_width = thin * (width + 0.4 * load_bin)
            _add_lines(fig, part, {"color": colour, "width": stroke_width}, 0.7 if many else 1.0)
        # Drawn apart from the lines so that the key shows every fifth, also the empty ones.
        fig.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                mode="lines",
                line={"color": colour, "width": 4},
                name=_BIN_NAMES[load_bin],
                legendgroup=f"load{load_bin}",
            )
        )
    broken = [s for s in lines.strokes if s.failed_count]
    _add_lines(fig, broken, {"color": FAILED, "width": 1 if many else 1.6, "dash": "4px,3px"})
    # Nearer to the leaf: in the middle of a dense map all the crosses would stand in one heap.
    marks: list[tuple[float | None, float | None]] = [
        (s.xs[0] * 0.7 + s.xs[-1] * 0.3, s.ys[0] * 0.7 + s.ys[-1] * 0.3) for s in broken
    ]
    if not lines.merged and len(lines.strokes) <= 100:
        marks = [(s.xs[len(s.xs) // 2], s.ys[len(s.ys) // 2]) for s in broken]
    marks = marks or [(None, None)]  # keeps the entry in the key
    fig.add_trace(
        go.Scatter(
            x=[x for x, _ in marks],
            y=[y for _, y in marks],
            mode="markers",
            marker={
                "symbol": "x-thin",
                "size": 7 if many else 11,
                "line": {"color": FAILED, "width": 1.6 if many else 2.4},
            },
            name="failed cable",
            hoverinfo="skip",
        )
    )
    _add_hover_points(fig, lines.strokes)


def _by_width(group: Sequence[Stroke]) -> list[tuple[float, list[Stroke]]]:
    """Split by line width: one plotly trace draws one width."""
    widths: dict[float, list[Stroke]] = {}
    for stroke in group:
        working = stroke.cable_count - stroke.failed_count
        width = 1.3 if working <= 1 else 2.0 if working <= 3 else 3.0 if working <= 8 else 4.2
        widths.setdefault(width, []).append(stroke)
    return sorted(widths.items())


def _add_lines(
    fig: go.Figure, group: Sequence[Stroke], line: dict[str, object], opacity: float = 1.0
) -> None:
    if not group:
        return
    xs: list[float | None] = []
    ys: list[float | None] = []
    for stroke in group:
        xs += [*stroke.xs, None]
        ys += [*stroke.ys, None]
    fig.add_trace(
        go.Scatter(
            x=xs,
            y=ys,
            mode="lines",
            line=line,
            opacity=opacity,
            hoverinfo="skip",
            showlegend=False,
        )
    )


def _add_hover_points(fig: go.Figure, drawn: Sequence[Stroke]) -> None:
    many = len(drawn) > 1_000
    spots = [
        (s.xs[at], s.ys[at], s.hover)
        for s in drawn
        for at in ([len(s.xs) // 2] if many or len(s.xs) < 10 else [3, 5, 7])
    ]
    fig.add_trace(
        go.Scatter(
            x=[x for x, _, _ in spots],
            y=[y for _, y, _ in spots],
            text=[text for _, _, text in spots],
            mode="markers",
            marker={"size": 12, "opacity": 0, "color": INK},
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
    )


def _add_switches(
    fig: go.Figure,
    fabric: FabricMap,
    positions: Sequence[tuple[float, float]],
    layout: MapLayout,
) -> None:
    names = short_names(fabric.switches, max(8, int(_PLOT_PX / layout.widest_row / _LETTER_PX)))
    names_px = layout.widest_row * (max(map(len, names)) * _LETTER_PX + 8)
    named = layout.widest_row <= NAMES_IN_ROW_MAX and names_px <= _PLOT_PX
    # The page drops the names again where the reader's window is narrower than that.
    fig.update_layout(meta={"names_px": names_px})
    size = 18 if named else max(5, min(14, round(700 / max(layout.widest_row, 1))))
    top = max((s.layer for s in fabric.switches), default=0)
    for failed, title in ((False, "switch"), (True, "failed switch")):
        chosen = [i for i, s in enumerate(fabric.switches) if s.failed == failed]
        if not chosen:
            continue
        colour = FAILED if failed else SWITCH
        fig.add_trace(
            go.Scatter(
                x=[positions[i][0] for i in chosen],
                y=[positions[i][1] for i in chosen],
                mode="markers+text" if named else "markers",
                text=[f"<b>{plain(names[i])}</b>" for i in chosen],
                textposition=[
                    "top center" if fabric.switches[i].layer == top else "bottom center"
                    for i in chosen
                ],
                textfont={"color": colour, "size": 12},
                customdata=[_switch_hover(fabric, i) for i in chosen],
                marker={
                    "symbol": "square-x-open" if failed else "square",
                    "size": size,
                    "color": colour,
                    "line": {
                        "color": FAILED if failed else PAPER,
                        "width": 2 if failed else int(named),
                    },
                },
                hovertemplate="%{customdata}<extra></extra>",
                name=title,
            )
        )


def _switch_hover(fabric: FabricMap, index: int) -> str:
    switch = fabric.switches[index]
    state = "<br>failed" if switch.failed else ""
    return f"<b>{plain(switch.name)}</b><br>{switch.nodes:,} nodes{state}"


def _add_nodes(
    fig: go.Figure,
    fabric: FabricMap,
    positions: Sequence[tuple[float, float]],
    layout: MapLayout,
) -> None:
    carrying = [i for i, s in enumerate(fabric.switches) if s.nodes]
    if not carrying or layout.widest_row > 2 * NAMES_IN_ROW_MAX:
        return
    total = sum(s.nodes for s in fabric.switches)
    layered = layout.kind == "layered"
    if layered and total <= DOTS_MAX and layout.widest_row <= NAMES_IN_ROW_MAX:
        dots = [spot for i in carrying for spot in _dots(positions[i], fabric.switches[i].nodes)]
        fig.add_trace(
            go.Scatter(
                x=[x for x, _ in dots],
                y=[y for _, y in dots],
                mode="markers",
                marker={"symbol": "circle", "size": 5, "color": NODE},
                hoverinfo="skip",
                name="node",
            )
        )
        return
    fig.add_trace(
        go.Scatter(
            x=[positions[i][0] for i in carrying],
            y=[positions[i][1] - (0.55 if layered else 0.42) for i in carrying],
            mode="text",
            text=[f"{fabric.switches[i].nodes:,}" for i in carrying],
            textfont={"color": MUTED, "size": 11},
            hoverinfo="skip",
            showlegend=False,
        )
    )


def _dots(under: tuple[float, float], count: int) -> list[tuple[float, float]]:
    """Rows of at most eight dots below a leaf's name."""
    spots = []
    for k in range(count):
        row, column = divmod(k, 8)
        in_row = min(8, count - 8 * row)
        x = under[0] + (column - (in_row - 1) / 2) * 0.12
        spots.append((x, under[1] - 0.52 - 0.13 * row))
    return spots
