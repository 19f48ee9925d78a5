"""Spare nodes that cost nothing: the gap between the nodes a job asks for and those it is granted.

Schedulers of Cartesian machines hand out nodes in blocks, so a job often gets more than it asked for: 11x11x11 nodes of the K
computer come as 12x12x12.

Source: Hori et al. 2016, "Spare Node Allocation" (K: Tofu units of twelve nodes; BG/Q: a power of two of nodes; Cray XK7: blocks
of four nodes). The paper calls what 11x11x11 leaves of 12x12x12 3D(2,1); three sides are left, 3D(3,1).
Left out: the sizes of queues, and how a scheduler turns or packs jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from runflat._core import SparesError

SYSTEMS = {
    "k": "K computer: units of 2x3x2 nodes",
    "bgq": "Blue Gene/Q: a power of two along each dimension",
    "xk7": "Cray XK7: blocks of four nodes",
}
"""Systems by name, and what they grant."""

TOFU_UNIT = (2, 3, 2)


def granted(job: Sequence[int], system: str) -> tuple[int, ...]:
    """Shape of the nodes that a job of some shape is granted.

    Parameters
    ----------
    job : sequence of int
        Nodes asked for along each dimension, x first.
    system : str
        One of `SYSTEMS`.

    Raises
    ------
    SparesError
        If the system is not known, or grants no such shape.
    """
    if system == "k":
        if len(job) != len(TOFU_UNIT):
            raise SparesError(
                f"on K, units are known for jobs of 3 dimensions, this one has {len(job)}"
            )
        return tuple(-(-length // unit) * unit for length, unit in zip(job, TOFU_UNIT, strict=True))
    if system == "bgq":
        return tuple(1 << (length - 1).bit_length() for length in job)
    if system == "xk7":
        first = job[0]
        while first * prod(job[1:]) % 4:
            first += 1
        return (first, *job[1:])
    raise SparesError(f"systems are {', '.join(SYSTEMS)}; got {system!r}")
