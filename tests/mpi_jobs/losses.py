"""Whether a job of the kill matrix rightly began again: had somebody's data gone down with all processes that held them?

A rank's data are at its process and at that of its partner, or in the blocks of its parity group (`mpi/src/data/ring.c`, `parity.h`). They
are lost if processes of both, or of two of a group, die before there is a new checkpoint of all.

Limits: on a grid live ranks move as well, which nobody notes, so that after a repair there any two deaths may lose data. A rank that two
processes have held counts as lost where either is dead and the other one may have had the data: too wide, never too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Event = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """Where ranks begin, and where their copies are."""

    processes: Sequence[int]
    """Of each rank, in the beginning."""
    slots: int | None = None
    """Processes of a host; None: all are on one."""
    parity: int = 0
    """Ranks of a parity group; 0: partners keep whole copies."""
    moves: bool = False
    """Live ranks move in a repair."""


def may_be_lost(layout: Layout, events: Sequence[Event], until: float) -> bool:
    """Say whether some rank's data may have been lost by the deaths before a moment."""
    ranks = len(layout.processes)
    before = sorted((one for one in events if one["t"] < until), key=lambda one: one["t"])
    roster = list(layout.processes)
    held = [{process} for process in roster]
    shifts = {best_shift(roster, layout.slots)}
    dead: set[int] = set()
    kept: set[int] = set()
    was_repaired = was_repaired_before = False
    for one in before:
        if one["event"] == "killed":
            dead.add(one["rank"])
            was_repaired_before = was_repaired
            kept.clear()
        elif one["event"] == "took_over":
            roster[one["as"]] = one["rank"]
            held[one["as"]].add(one["rank"])
            shifts.add(best_shift(roster, layout.slots))
        elif one["event"] == "repaired":
            was_repaired = True
        elif one["event"] == "checkpoint" and dead:
            kept.add(one["rank"])
            if len(kept) >= ranks:
                dead.clear()
                held = [{process} for process in roster]
                shifts = {best_shift(roster, layout.slots)}
    if layout.moves and dead and was_repaired_before:
        return len(dead) > 1
    hurt = [rank for rank in range(ranks) if held[rank] & dead]
    if layout.parity:
        groups = [rank % max(ranks // layout.parity, 1) for rank in hurt]
        return len(set(groups)) < len(groups)
    return any((rank + shift) % ranks in hurt for rank in hurt for shift in shifts)


def best_shift(roster: Sequence[int], slots: int | None) -> int:
    """From a rank to its partner: most of the copies are on another host; the smallest of several."""
    ranks = len(roster)
    host = [0 if slots is None else process // slots for process in roster]

    def apart(shift: int) -> int:
        return sum(host[rank] != host[(rank + shift) % ranks] for rank in range(ranks))

    return max(range(1, ranks), key=lambda shift: (apart(shift), -shift)) if ranks > 1 else 0
