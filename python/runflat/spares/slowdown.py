"""How much longer an exchange takes when messages collide.

A node that sends all its messages at once needs some times the time of one message, less than their number where its network
controller sends several side by side. As long as fewer messages meet on a channel, nobody waits for the channel: on the K computer
five messages on one channel make the exchange 5 / 1.7, about 3 times as long.

Source: Hori et al. 2016, Table 2 and the text about it. Left out: latency, hops, and what messages of different sizes do.
"""

from __future__ import annotations

from collections.abc import Sequence

from runflat._core import SparesError

SEND_TIMES: dict[str, dict[int, float]] = {
    "k": {2: 1.7, 3: 3.7},
    "bgq": {2: 1.1, 3: 1.3},
    "tsubame": {2: 4.0, 3: 6.0},
}
"""By system and dimensions of the stencil (5P, 7P): sending all messages at once, in times of one message (Table 2).

Measured by the authors on K and BG/Q, estimated for TSUBAME 2.5, whose node sends one message at a time.
"""


def read_send_time(text: str, dimensions: int) -> float:
    """Read `k`, `bgq`, `tsubame`, or a number of 1 or more.

    Raises
    ------
    SparesError
        If it is neither, or the system was not measured in so many dimensions.
    """
    measured = SEND_TIMES.get(text.strip().lower())
    if measured is not None:
        if dimensions not in measured:
            raise SparesError(
                f"Table 2 has {text} for stencils of 2 and 3 dimensions, the job has {dimensions}: give a number"
            )
        return measured[dimensions]
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value < float("inf"):
        raise SparesError(
            f"the time to send all messages is {', '.join(SEND_TIMES)}, or in times of one message, 1 or more; "
            f"got {text!r}"
        )
    return value


def slowdown(collisions: float, send_time: float, before: float = 1) -> float:
    """How many times as long an exchange takes after a substitution as before it.

    Parameters
    ----------
    collisions, before : float
        Messages on the busiest channel, after and before.
    send_time : float
        Sending all messages of a node at once, in times of one message.
    """
    return max(collisions, send_time) / max(before, send_time)


def mean_slowdown(sequences: Sequence[int], send_time: float, before: float = 1) -> float | None:
    """Mean of the same over sequences of failures, given how many had each largest collision; None for none."""
    total = sum(sequences)
    if not total:
        return None
    longer = (
        count * slowdown(value, send_time, before) for value, count in enumerate(sequences) if count
    )
    return sum(longer) / total
