"""What comes of routing a machine: a refusal, the proof of tables, the order in which they replace others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from runflat._core import Table


@dataclass(frozen=True)
class Refusal:
    """An engine does not route this fabric: a result, not an error.

    Attributes
    ----------
    reason : str
        Why, in words.
    switch : str or None
        The switch at which it was noticed.
    """

    reason: str
    switch: str | None = None
    outcome: str = "refused"

    def __str__(self) -> str:
        return self.reason + (f" (at {self.switch})" if self.switch else "")


@dataclass(frozen=True)
class Check:
    """What walking every route found.

    Attributes
    ----------
    verdict : str
        `ok`, `deadlock` (a lane's channel dependency graph has a cycle) or `incomplete` (a pair has no route).
    pairs, unreachable_pairs, cut_pairs, looping_pairs, nonminimal_pairs : int
        (source node, destination LID) pairs: all; without a route; of those, joined by no cable; of those, circling; longer
        than the shortest way.
    hops_max, hops_mean : int, float
        Length of routes in switch-switch channels.
    forwarding_index_max, forwarding_index_mean : int, float
        Routes over a switch-switch channel; unused channels count in the mean.
    forwarding_index : (channels,) array of uint64
        The same for each channel.
    vls : int
        Virtual lanes in use.
    cycle : list of str or None
        A credit loop: the channels around it by name.
    cycle_vls : list of int or None
        The lane of each of them; all the same unless the routing changes lanes on the way.
    unreachable : list of (str, str)
        The first few pairs without a route.
    """

    verdict: str
    pairs: int
    unreachable_pairs: int
    cut_pairs: int
    looping_pairs: int
    nonminimal_pairs: int
    hops_max: int
    hops_mean: float
    forwarding_index_max: int
    forwarding_index_mean: float
    forwarding_index: NDArray[np.uint64]
    vls: int
    cycle: list[str] | None
    cycle_vls: list[int] | None
    unreachable: list[tuple[str, str]]

    @property
    def left_out_pairs(self) -> int:
        """Pairs without a route although cables join them."""
        return self.unreachable_pairs - self.cut_pairs

    @property
    def joined_verdict(self) -> str:
        """The verdict on the pairs that cables join: those that failures cut off are nobody's fault."""
        if self.left_out_pairs:
            return "incomplete"
        return "ok" if self.cycle is None else "deadlock"

    @property
    def cycle_vl(self) -> int | None:
        """The lane that the credit loop closes in; None if there is none or it spans several."""
        return self.cycle_vls[0] if self.cycle_vls and len(set(self.cycle_vls)) == 1 else None

    def summary(self) -> dict[str, Any]:
        """Return the fields that `runflat route --json` prints."""
        return {name: getattr(self, name) for name in CHECK_KEYS}


CHECK_KEYS = (
    "verdict", "vls", "cycle", "cycle_vl", "cycle_vls", "pairs", "unreachable_pairs", "cut_pairs",
    "left_out_pairs", "joined_verdict", "looping_pairs", "nonminimal_pairs", "unreachable", "hops_max", "hops_mean",
    "forwarding_index_max", "forwarding_index_mean",
)  # fmt: skip
"""The fields of a `Check` that `runflat route --json` prints; null where an engine refuses."""


@dataclass(frozen=True)
class Update:
    """A safe way from the tables in force to those of a re-routed fabric.

    At no moment does a packet run in circles, and a pair that both tables serve keeps its way.

    Attributes
    ----------
    changed_entries : int
        Table entries of living switches that differ.
    changed_levels : int
        Service levels of (source switch, LID) that differ: sources ask for their paths anew. No order of writes covers these.
    changed_blocks : int
        Blocks of 64 LIDs with such entries: what a subnet manager sends.
    rounds : int
        Writes of a round may go out together once those of the rounds before have arrived.
    extra_writes : int
        Writes beyond one a changed block: the price of the order.
    dropped_entries : int
        Entries without a route for a while, since the new tables lead them nowhere.
    credit_cycle : list of str or None
        Channels around which packets of old and new routes together could wait for each other; None: no deadlock in
        flight. Counts every mixture of old and new entries, so it may warn where the order never makes one.
    writes : Table
        A row a write, in order: round, switch, block, entries set, entries cleared; with `blocks=True` also the switch's
        GUID and the block's 64 ports after the write, as 128 hexadecimal digits.
    """

    changed_entries: int
    changed_levels: int
    changed_blocks: int
    rounds: int
    extra_writes: int
    dropped_entries: int
    credit_cycle: list[str] | None
    writes: Table
