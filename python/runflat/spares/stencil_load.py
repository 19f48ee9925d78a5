"""Messages on every channel under a stencil, so that they can be drawn.

Does not decide anything: collisions are counted by the core, and what is computed here must have the same largest value.
Knows the stencil alone; other workloads are not known outside the core.

Source: Hori et al. 2016 (static XY routing; a torus goes the shorter way, both being as long upwards).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Messages = tuple["NDArray[np.int64]", "NDArray[np.int64]"]
"""Sending and receiving rank of each message."""


def stencil_messages(
    traffic: str, params: Mapping[str, str], job_shape: Sequence[int]
) -> Messages | None:
    """List who sends to whom.

    Parameters
    ----------
    traffic : str
        A workload.
    params : mapping of str to str
        Its parameters: `points`, `periodic`, `shape`; others do not matter.
    job_shape : sequence of int
        Ranks along each dimension, x first, where `params` has no `shape`.

    Returns
    -------
    (messages,) array of int64, (messages,) array of int64; or None
        None if this is not the stencil.
    """
    if traffic.strip().lower() != "stencil":
        return None
    shape = tuple(int(word) for word in re.findall(r"\d+", params.get("shape", ""))) or job_shape
    full = params.get("points", "star").removesuffix("P") in ("box", "9", "27")
    periodic = params.get("periodic", "false") == "true"
    ranks = np.arange(math.prod(shape))
    at = np.array(np.unravel_index(ranks, shape, order="F"))
    lengths = np.array(shape)[:, None]
    pairs = []
    for offset in itertools.product((-1, 0, 1), repeat=len(shape)):
        apart = sum(map(abs, offset))
        if apart == 0 or (apart > 1 and not full):
            continue
        to = at + np.array(offset)[:, None]
        if periodic:
            to %= lengths
        inside = ((to >= 0) & (to < lengths)).all(axis=0)
        targets = np.ravel_multi_index(tuple(to[:, inside]), shape, order="F")
        pairs.append(np.stack([ranks[inside], targets]))
    found = np.unique(np.concatenate(pairs, axis=1), axis=1)
    found = found[:, found[0] != found[1]]
    return found[0], found[1]


def channel_loads(
    shape: Sequence[int], torus: bool, node_of_rank: Sequence[int], messages: Messages
) -> NDArray[np.int64]:
    """Count the messages on each channel.

    Parameters
    ----------
    shape : sequence of int
        Nodes along each dimension, x first.
    torus : bool
        Whether the network closes around.
    node_of_rank : sequence of int
        Node of each rank.
    messages : Messages
        Who sends to whom.

    Returns
    -------
    (nodes, dimensions, 2) array of int64
        Messages that leave a node along a dimension, to higher and to lower coordinates.
    """
    nodes = np.asarray(node_of_rank, dtype=np.int64)
    source = np.array(np.unravel_index(nodes[messages[0]], shape, order="F"))
    target = np.array(np.unravel_index(nodes[messages[1]], shape, order="F"))
    counts = np.zeros((math.prod(shape), len(shape), 2), dtype=np.int64)
    for dimension, length in enumerate(shape):
        # Lower dimensions are behind a message, higher ones ahead of it.
        line = np.concatenate([target[:dimension], source[dimension:]])
        steps = target[dimension] - source[dimension]
        if torus:
            steps = steps % length
            steps = np.where(2 * steps <= length, steps, steps - length)
        for way, up in enumerate((True, False)):
            goes = steps > 0 if up else steps < 0
            first = line[:, goes].copy()
            last = first[dimension] + steps[goes]
            # To lower coordinates a channel stands at the node that it leaves, one above the one it enters.
            begin, end = (first[dimension], last) if up else (last + 1, first[dimension] + 1)
            counts[:, dimension, way] = _runs(shape, dimension, first, begin, end)
    return counts


def _runs(
    shape: Sequence[int],
    dimension: int,
    line: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count how many runs from `begin` to before `end` along a dimension cover each node."""
    length = shape[dimension]
    # Positions from -length to 2 length: beyond the ends are those around them.
    changes = np.zeros([3 * side + 1 if at == dimension else side for at, side in enumerate(shape)])
    for position, change in ((begin, 1), (end, -1)):
        place = list(line)
        place[dimension] = position + length
        np.add.at(changes, tuple(place), change)
    covered = np.moveaxis(changes.cumsum(axis=dimension), dimension, 0)[:-1]
    folded = np.moveaxis(covered.reshape(3, length, *covered.shape[1:]).sum(axis=0), 0, dimension)
    counts: NDArray[np.int64] = folded.reshape(-1, order="F").astype(np.int64)
    return counts
