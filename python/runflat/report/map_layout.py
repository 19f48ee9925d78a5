"""Where the switches of a fabric map stand, and the short names written beside them.

Three layouts: given coordinates; layers, leaves at the bottom, each row ordered by barycentre
sweeps to reduce crossings; a circle when switches of one layer are connected to each other (grids
and random graphs without coordinates). It depends on the structure alone, never on failures or
load, so that all maps of one machine keep their places.

Source: the barycentre order is that of Sugiyama, Tagawa, Toda, IEEE Trans. SMC 11(2), 1981.
Limits: a local optimum; ties keep the order of the input.
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runflat.report.model import FabricMap, MapSwitch

Kind = Literal["given", "layered", "circular"]


@dataclass(frozen=True)
class MapLayout:
    """Positions in the unit square, one for each switch.

    Parameters
    ----------
    kind : {"given", "layered", "circular"}
        Which layout was used.
    positions : sequence of (float, float)
        Horizontal 0 to 1 from the left, vertical 0 to 1 from the bottom.
    rows : int
        Layers drawn; 1 when not layered.
    widest_row : int
        Switches in the fullest row (all of them when not layered).
    """

    kind: Kind
    positions: Sequence[tuple[float, float]]
    rows: int
    widest_row: int


def lay_out(fabric: FabricMap) -> MapLayout:
    """Place every switch of a map.

    Notes
    -----
    O(sweeps x (switches log switches + cables)), 12 sweeps.
    """
    switches = fabric.switches
    if not switches:
        return MapLayout("layered", [], 0, 0)
    given = [(s.x, s.y) for s in switches if s.x is not None and s.y is not None]
    if len(given) == len(switches):
        return MapLayout("given", _into_unit_square(given), 1, len(switches))
    inside = sum(switches[c.a].layer == switches[c.b].layer for c in fabric.cables)
    if inside * 4 > len(fabric.cables):
        return MapLayout("circular", _circle(len(switches)), 1, len(switches))
    rows = _ordered_rows(fabric)
    positions = [(0.5, 0.5)] * len(switches)
    for level, row in enumerate(rows):
        height = level / (len(rows) - 1) if len(rows) > 1 else 0.5
        for place, switch in enumerate(row):
            positions[switch] = ((place + 0.5) / len(row), height)
    return MapLayout("layered", positions, len(rows), max(map(len, rows)))


def short_names(switches: Sequence[MapSwitch], length: int) -> list[str]:
    """Names without the words that all of them share, cut in the middle to `length` characters.

    ``MF0;ib1:SX6036/U1``, ``MF0;ib2:SX6036/U1`` become ``ib1``, ``ib2``.
    """
    names = [s.name for s in switches]
    if len(names) > 1:
        words = [re.findall(r"[^\W_]+|[\W_]", name) for name in names]
        head = _shared(words)
        tail = _shared([list(reversed(w[head:])) for w in words])
        names = ["".join(w[head : len(w) - tail]) for w in words]
        names = [name.strip(" ;:/-_") for name in names]
        if not all(names):
            names = [s.name for s in switches]
    return [_cut(name, length) for name in names]


def _shared(words: Sequence[Sequence[str]]) -> int:
    same = 0
    for column in zip(*words, strict=False):
        if len(set(column)) > 1:
            break
        same += 1
    return same


def _cut(name: str, length: int) -> str:
    if len(name) <= length:
        return name
    left = (length - 1) // 2
    return name[:left] + "…" + name[left + 1 - length :]


def _circle(count: int) -> list[tuple[float, float]]:
    turns = [index / count for index in range(count)]
    return [(0.5 + 0.5 * math.sin(math.tau * t), 0.5 + 0.5 * math.cos(math.tau * t)) for t in turns]


def _into_unit_square(given: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    left, bottom = min(x for x, _ in given), min(y for _, y in given)
    width = max(x for x, _ in given) - left
    height = max(y for _, y in given) - bottom
    return [
        ((x - left) / width if width else 0.5, (y - bottom) / height if height else 0.5)
        for x, y in given
    ]


def _ordered_rows(fabric: FabricMap) -> list[list[int]]:
    layers = sorted({s.layer for s in fabric.switches})
    rows = [[i for i, s in enumerate(fabric.switches) if s.layer == layer] for layer in layers]
    row_of = [layers.index(s.layer) for s in fabric.switches]
    # Sets: a bundle with one cable missing must not pull its spine aside.
    neighbours: dict[int, set[int]] = defaultdict(set)
    for cable in fabric.cables:
        if row_of[cable.a] != row_of[cable.b]:
            neighbours[cable.a].add(cable.b)
            neighbours[cable.b].add(cable.a)
    place = {s: (k + 0.5) / len(row) for row in rows for k, s in enumerate(row)}
    for sweep in range(12):
        upward = sweep % 2 == 0
        levels = range(1, len(rows)) if upward else range(len(rows) - 2, -1, -1)
        for level in levels:
            fixed = level - 1 if upward else level + 1
            centre = {
                s: _mean([place[n] for n in sorted(neighbours[s]) if row_of[n] == fixed], place[s])
                for s in rows[level]
            }
            rows[level].sort(key=lambda s, centre=centre: (round(centre[s], 9), place[s]))  # type: ignore[misc]
            for k, s in enumerate(rows[level]):
                place[s] = (k + 0.5) / len(rows[level])
    return rows


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
