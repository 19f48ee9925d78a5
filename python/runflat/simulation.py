"""Throughput of a workload over given routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Congestion:
    """What a workload gets out of the fabric under max-min fair sharing.

    Attributes
    ----------
    outcome : str
        `steady` (messages go on for ever) or `complete` (all have arrived).
    throughput_gb_s : float
        Aggregate at the sinks, in GB/s (10**9 bytes per second).
    received_gb_s : (ranks,) array of float64
        What each rank receives, in GB/s.
    simulated_ns : float
        Time until the last message of a finite workload arrived; 0 for steady ones.
    messages, unrouted_messages : int
        Messages posted, and those of them without a route.
    collision_max : int
        Most messages that share one channel at a time.
    load : (channels,) array of uint64
        Messages over each channel, all phases together.
    """

    outcome: str
    throughput_gb_s: float
    received_gb_s: NDArray[np.float64]
    simulated_ns: float
    messages: int
    unrouted_messages: int
    collision_max: int
    load: NDArray[np.uint64]
