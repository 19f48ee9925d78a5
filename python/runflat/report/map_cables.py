"""Cables of a fabric map as strokes: separate curves when few, merged bundles when many.

Limits: beyond `STROKES_MAX` strokes only the most loaded are drawn; failed ones come first, and
the caption says so.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from runflat.report.frame import plain
from runflat.report.model import FabricMap, MapCable
from runflat.report.palette import LOAD_RAMP

SEPARATE_MAX = 400
STROKES_MAX = 5_000
NAMES_IN_HOVER = 4


@dataclass(frozen=True)
class Stroke:
    """One line on the map: a cable, or all parallel cables between two switches.

    Parameters
    ----------
    xs, ys : sequence of float
        Points of the line.
    hover : str
        Escaped text for the reader.
    cable_count, failed_count : int
        Cables it stands for, and how many of them failed.
    load : float
        Highest load among its working cables, 0 to 1.
    """

    xs: Sequence[float]
    ys: Sequence[float]
    hover: str
    cable_count: int
    failed_count: int
    load: float

    @property
    def load_bin(self) -> int:
        """Fifth of the load it belongs to, 0 to 4."""
        return min(int(self.load * len(LOAD_RAMP)), len(LOAD_RAMP) - 1)


@dataclass(frozen=True)
class Strokes:
    """All lines to draw.

    Parameters
    ----------
    strokes : sequence of Stroke
        Least loaded first, so that hot and failed ones lie on top.
    merged : bool
        True when parallel cables became one line.
    """

    strokes: Sequence[Stroke]
    merged: bool


def strokes(fabric: FabricMap, positions: Sequence[tuple[float, float]], bow: float) -> Strokes:
    """Turn cables into lines.

    Parameters
    ----------
    fabric : FabricMap
        The map.
    positions : sequence of (float, float)
        Place of each switch.
    bow : float
        Distance between the middles of two parallel cables, in units of `positions`.
    """
    bundles: dict[tuple[int, int], list[MapCable]] = defaultdict(list)
    for cable in fabric.cables:
        bundles[min(cable.a, cable.b), max(cable.a, cable.b)].append(cable)
    merged = len(fabric.cables) > SEPARATE_MAX
    drawn: list[Stroke] = []
    for (a, b), bundle in bundles.items():
        if merged:
            drawn.append(_bundle_stroke(positions[a], positions[b], bundle))
        else:
            aside = 3 * bow if _runs_over_a_switch(a, b, positions) else 0.0
            drawn += _parallel_strokes(positions[a], positions[b], bundle, bow, aside)
    drawn.sort(key=lambda s: (s.failed_count > 0, s.load))
    return Strokes(drawn[-STROKES_MAX:], merged)


def _runs_over_a_switch(a: int, b: int, positions: Sequence[tuple[float, float]]) -> bool:
    """Whether the straight line meets a third switch, as the wrap-around cables of a torus do."""
    (x0, y0), (x1, y1) = positions[a], positions[b]
    square = (x1 - x0) ** 2 + (y1 - y0) ** 2
    for index, (x, y) in enumerate(positions):
        if index in (a, b) or not square:
            continue
        along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / square
        across = abs((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0))
        if 0 < along < 1 and across < 1e-6 * square:
            return True
    return False


def _parallel_strokes(
    start: tuple[float, float],
    end: tuple[float, float],
    bundle: Sequence[MapCable],
    bow: float,
    aside: float,
) -> list[Stroke]:
    result = []
    for index, cable in enumerate(bundle):
        offset = (index - (len(bundle) - 1) / 2) * bow + aside
        xs, ys = _curve(start, end, offset)
        hover = f"<b>{plain(cable.ends_text)}</b><br>{_state(cable)}"
        load = 0.0 if cable.failed else _share(cable.load)
        result.append(Stroke(xs, ys, hover, 1, int(cable.failed), load))
    return result


def _bundle_stroke(
    start: tuple[float, float], end: tuple[float, float], bundle: Sequence[MapCable]
) -> Stroke:
    failed = sum(cable.failed for cable in bundle)
    ranked = sorted(bundle, key=lambda cable: (not cable.failed, -cable.load))
    lines = [f"{plain(c.ends_text)}: {_state(c)}" for c in ranked[:NAMES_IN_HOVER]]
    if len(bundle) > NAMES_IN_HOVER:
        lines.append(f"and {len(bundle) - NAMES_IN_HOVER} more")
    if len(bundle) > 1:
        lines.insert(0, f"<b>{len(bundle)} parallel cables, {failed} failed</b>")
    load = max((_share(c.load) for c in bundle if not c.failed), default=0.0)
    xs, ys = _curve(start, end, 0.0)
    return Stroke(xs, ys, "<br>".join(lines), len(bundle), failed, load)


def _state(cable: MapCable) -> str:
    if cable.failed:
        return "failed"
    return f"{cable.routes:,} routes, {_share(cable.load):.0%} of the busiest"


def _share(load: float) -> float:
    return min(max(load, 0.0), 1.0) if math.isfinite(load) else 0.0


def _curve(
    start: tuple[float, float], end: tuple[float, float], offset: float
) -> tuple[list[float], list[float]]:
    """Quadratic Bezier whose middle stands `offset` beside the straight line; straight at 0."""
    (x0, y0), (x1, y1) = start, end
    length = math.hypot(x1 - x0, y1 - y0)
    if not offset or not length:
        return [x0, (x0 + x1) / 2, x1], [y0, (y0 + y1) / 2, y1]
    # The middle of the curve is half way to its control point, hence twice the offset.
    cx = (x0 + x1) / 2 - 2 * offset * (y1 - y0) / length
    cy = (y0 + y1) / 2 + 2 * offset * (x1 - x0) / length
    steps = [k / 10 for k in range(11)]
    xs = [(1 - t) ** 2 * x0 + 2 * t * (1 - t) * cx + t * t * x1 for t in steps]
    ys = [(1 - t) ** 2 * y0 + 2 * t * (1 - t) * cy + t * t * y1 for t in steps]
    return xs, ys
