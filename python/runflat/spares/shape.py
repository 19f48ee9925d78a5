"""Shapes and nodes of a grid as people write them: `24x24x24`, `17`, `(3,4)`; and which of them no grid has.

Coordinates count from 0, x first, and node numbers run x fastest, as everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from runflat._core import SparesError

Node = int | Sequence[int]
"""A node by number, counted from 0 with x fastest, or by its coordinates, x first."""

MOST_NODES = 1 << 24
"""Nodes of the largest grid."""


def check_shape(shape: Sequence[int]) -> None:
    """Refuse a shape that no grid has."""
    if not shape or not all(length >= 1 for length in shape):
        raise SparesError(
            f"a machine has at least 1 node along each dimension, got {written(shape) or 'none'}"
        )
    if math.prod(shape) > MOST_NODES:
        raise SparesError(
            f"a grid has at most {MOST_NODES:,} nodes, {written(shape)} are {math.prod(shape):,}"
        )


def read_shape(text: str) -> tuple[int, ...]:
    """Read `36x36` or `24x24x24`."""
    words = re.split(r"[x,]", text.strip().lower())
    if not all(word.strip().isdigit() for word in words):
        raise SparesError(f"a shape is written as 24x24x24, x first; got {text!r}")
    return tuple(int(word) for word in words)


def read_nodes(text: str) -> list[int | tuple[int, ...]]:
    """Read `17,(3,4),90`: nodes by number or by coordinates, x first."""
    found: list[int | tuple[int, ...]] = []
    for word in re.findall(r"\([^()]*\)|[^,\s]+", text):
        parts = word.strip("()").split(",")
        if not all(part.strip().isdigit() for part in parts):
            raise SparesError(f"a node is a number, as 17, or coordinates, as (3,4); got {word!r}")
        numbers = tuple(int(part) for part in parts)
        found.append(numbers if word.startswith("(") else numbers[0])
    return found


def written(shape: Sequence[int]) -> str:
    """Write `24x24x24`."""
    return "x".join(map(str, shape))
