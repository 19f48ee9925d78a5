"""What else one can do about failed nodes: leave out whole rows and columns.

Without spares, a job can go on on the lines of nodes that have no failed node: neighbours stay neighbours, no messages collide, but
every node left has more work.

Source: Hori et al. 2016, Figure 1 (the row and the column of the failed node are left out: 25 of 36 nodes stay).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WAYS_MAX = 100_000
"""The most ways to leave lines out that are all tried; beyond that, the best line first."""


@dataclass(frozen=True)
class LinesLeftOut:
    """A grid without the lines of failed nodes.

    Attributes
    ----------
    left_out : list of list of int
        By dimension, x first: coordinates left out.
    shape : list of int
        Nodes along each dimension that stay.
    nodes : int
        Nodes that stay.
    work : float
        Work of each, in times of that before; infinite if none stays.
    """

    left_out: list[list[int]]
    shape: list[int]
    nodes: int
    work: float


def leave_out_all(shape: Sequence[int], failed: Iterable[Sequence[int]]) -> LinesLeftOut:
    """Leave out the lines of each failed node along every dimension, as Figure 1 of the paper does."""
    out: list[set[int]] = [set() for _ in shape]
    for node in failed:
        for dimension, at in enumerate(node):
            out[dimension].add(at)
    return _without(shape, out)


def leave_out_fewest(shape: Sequence[int], failed: Iterable[Sequence[int]]) -> LinesLeftOut:
    """Leave out lines so that no failed node is left, and as many nodes as possible are.

    All ways are tried while they are few (`WAYS_MAX`); of many failures the line with the most failed nodes for the nodes it costs
    goes first, which need not be the best.
    """
    nodes = sorted({tuple(node) for node in failed})
    if len(shape) ** min(len(nodes), 64) > WAYS_MAX:
        return _greedy(shape, nodes)
    best: LinesLeftOut | None = None
    stack: list[tuple[tuple[int, int], ...]] = [()]
    while stack:
        lines = stack.pop()
        out = [{at for along, at in lines if along == dimension} for dimension in range(len(shape))]
        found = _without(shape, out)
        if best is not None and found.nodes <= best.nodes:
            continue
        left = next((node for node in nodes if not _is_out(node, out)), None)
        if left is None:
            best = found
        else:
            # The last one pushed is tried first: x.
            stack += [(*lines, (along, at)) for along, at in reversed(list(enumerate(left)))]
    return best or _without(shape, [set(range(length)) for length in shape])


def _greedy(shape: Sequence[int], nodes: Sequence[tuple[int, ...]]) -> LinesLeftOut:
    out: list[set[int]] = [set() for _ in shape]
    left = list(nodes)
    while left:
        counts: dict[tuple[int, int], int] = {}
        for node in left:
            for line in enumerate(node):
                counts[line] = counts.get(line, 0) + 1
        # A line along a long dimension costs the smaller share of the nodes.
        along, at = min(
            counts, key=lambda line: (-counts[line] * (shape[line[0]] - len(out[line[0]])), line)
        )
        out[along].add(at)
        left = [node for node in left if not _is_out(node, out)]
    return _without(shape, out)


def _is_out(node: Sequence[int], out: Sequence[set[int]]) -> bool:
    return any(at in coordinates for at, coordinates in zip(node, out, strict=True))


def _without(shape: Sequence[int], out: Sequence[set[int]]) -> LinesLeftOut:
    left = [length - len(gone) for length, gone in zip(shape, out, strict=True)]
    nodes = math.prod(left)
    work = math.prod(shape) / nodes if nodes else math.inf
    return LinesLeftOut([sorted(gone) for gone in out], left, nodes, work)
