"""Throughput of a workload over given routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING

from runflat._core import FlitError, WorkloadError

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


@dataclass(frozen=True)
class FlitOptions:
    """How the flit simulation is done.

    Attributes
    ----------
    preset : str
        What hosts, switches and cables are like: `sc14` (the public model of the fail-in-place study), `qdr`, `edr`,
        `ndr`, `own` (every cable at its own rate).
    parameters : mapping of str to str
        Parameters that differ from the preset, as `cable_ns`; `runflat simulate --list-flit` says what they are.
    precision : float
        Of workloads without end: half the width that the 99 % interval of a node's bandwidth may have, relative to the
        mean over all nodes.
    most_us : float
        Most time to simulate, in microseconds.
    """

    preset: str = "sc14"
    parameters: Mapping[str, str] = field(default_factory=dict)
    precision: float = 0.05
    most_us: float = 100_000.0


def check_work(traffic: object, seed: object) -> None:
    """Refuse a workload's name and a seed that are none."""
    if not isinstance(traffic, str):
        raise WorkloadError(f"`traffic` is the name of a workload, got {traffic!r}")
    if not isinstance(seed, Integral) or not 0 <= int(seed) < SEEDS:
        raise WorkloadError(f"`seed` is a whole number from 0 to 2**64 - 1, got {seed!r}")


def check_options(options: object) -> FlitOptions:
    """Return options of a flit simulation, or refuse them; names and values of parameters are for the core to judge."""
    if not isinstance(options, FlitOptions):
        raise FlitError(
            f"`options` is a FlitOptions, as FlitOptions('qdr', precision=0.1), got {options!r}"
        )
    if not isinstance(options.preset, str):
        raise FlitError(f"`preset` is a name, as 'sc14', got {options.preset!r}")
    if not isinstance(options.parameters, Mapping) or not all(
        isinstance(name, str) for name in options.parameters
    ):
        raise FlitError(f"`parameters` is a dict of names and values, got {options.parameters!r}")
    if not isinstance(options.precision, Real) or not 0 < options.precision < 1:
        raise FlitError(f"`precision` is a number from 0 to 1, got {options.precision!r}")
    if not isinstance(options.most_us, Real) or not 0 < options.most_us <= MOST_US:
        raise FlitError(f"`most_us` is a time from 0 to {MOST_US:g} us, got {options.most_us}")
    return options


SEEDS = 2**64
"""How many seeds there are."""

MOST_US = 1e7
"""Longest time to simulate: ten seconds."""


@dataclass(frozen=True)
class Flit:
    """What a workload gets out of the fabric, flit by flit.

    Attributes
    ----------
    outcome : str
        `steady` (rates are known), `complete` (all messages have arrived), `deadlock`, `stuck` (nothing is under way any
        more, and ranks wait for what will never come), `saturated` (packets move, but rates did not become certain in the
        time allowed) or `cut_short`.
    cycle : list of str or None
        Of a deadlock: the channels around it, each of whose packets waits for the next.
    cycle_vls : list of int or None
        The lane of each.
    stuck : str or None
        Who waits for what, if the outcome is that.
    throughput_gb_s : float or None
        Aggregate payload at the sinks, in GB/s (10**9 bytes per second); None unless steady or complete.
    half_width_gb_s : float or None
        Half of its 99 % interval, where steady.
    received_gb_s : (ranks,) array of float64
        What each rank receives, in GB/s; as far as the simulation went, where there is no throughput.
    simulated_ns, warm_up_ns : float
        Time simulated (until the last message of a complete workload), and what of it was left out at the beginning.
    latency_ns_mean, latency_ns_median, latency_ns_p99 : float or None
        How long messages took, from when a host began to make one until its last flit was consumed; where steady, after the
        warm-up, which is rounded up by a quarter at most. Quantiles to 0.4 %. None where there is no throughput.
    memory_bytes : int
        What the simulation could take at the most, beside the fabric and its tables.
    messages, unrouted_messages : int
        Messages that arrived, and those without a route.
    delivered_flits, flit_hops, events : int
        Flits that arrived, flits times channels crossed (node channels too), and events of the simulator.
    """

    outcome: str
    cycle: list[str] | None
    cycle_vls: list[int] | None
    stuck: str | None
    throughput_gb_s: float | None
    half_width_gb_s: float | None
    received_gb_s: NDArray[np.float64]
    simulated_ns: float
    warm_up_ns: float
    latency_ns_mean: float | None
    latency_ns_median: float | None
    latency_ns_p99: float | None
    memory_bytes: int
    messages: int
    unrouted_messages: int
    delivered_flits: int
    flit_hops: int
    events: int
