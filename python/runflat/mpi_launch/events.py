"""What happened when, as the processes of a job noted it.

Each process writes a file `rank-N.jsonl`, N its rank in the world, a JSON object a line:

    {"t": 1760000000.25, "rank": 3, "event": "repaired", "ms": 12.5}

`t` is the time of writing in seconds since the epoch; with `ms`, the event took so long and ended at `t`. `of` is another rank that
the event is about. The library notes:

| event | when |
| --- | --- |
| `started` | end of MPI_Init; `host` |
| `killed`, `stopped` | on purpose, written before the signal |
| `failure_detected` | MPI tells of a failure; `of`: who failed, an event each |
| `fenced` | a process that hung was killed, `of`: which one |
| `interrupted` | a failure in the error range of a communicator interrupts this rank |
| `shrink`, `repaired` | end of a shrink, of a repair |
| `asleep`, `took_over` | this process is a spare and waits; has become rank `as` |
| `refilled` | a new process is a spare in place `of` a dead one |
| `checkpoint`, `restored`, `restarted` | a version counts; is back; was found in files of an earlier job; `version` |
| `brought` | within a repair so many `copies` have come to a rank, in that time |
| `changed` | a copy is not what it was, and is left out; `version` |
| `reduced`, `exhausted` | no spare was left, and the job goes on with so many `ranks`; stops then |
| `step_limit`, `exited`, `aborted` | this process gave up a step of a recovery; ended with a status; ended the job |
| `finalized` | MPI_Finalize |

Other events are kept and drawn. What the launcher adds (`launched`, `ending`, `ended`, `killed`) has no rank (null) or the rank of a process that
it killed.

Limits: clocks of different hosts are taken as they are. A line cut short by the end of its process is left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENDING = "ending"
"""The launcher begins to end the job: the limit has run out, or a signal has come."""


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes
    ----------
    t : float
        Seconds since the epoch; of an interval its end.
    rank : int or None
        Rank in the world; None is the launcher.
    event : str
        What it was.
    ms : float or None
        How long it took.
    of : int or None
        The rank that it is about, where that is another one.
    more : dict
        Fields that have no meaning here.
    """

    t: float
    rank: int | None
    event: str
    ms: float | None = None
    of: int | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give the fields as they were written."""
        values: dict[str, Any] = {"t": self.t, "rank": self.rank, "event": self.event}
        if self.ms is not None:
            values["ms"] = self.ms
        if self.of is not None:
            values["of"] = self.of
        return values | self.more


def read_events(folder: Path) -> list[Event]:
    """Read the files of all processes, merged by time; equal times by rank, then as written."""
    found: list[Event] = []
    for path in sorted(folder.glob("rank-*.jsonl")):
        if re.fullmatch(r"rank-\d+", path.stem):
            found += _read_file(path)
    return merged(found)


def merged(events: Sequence[Event]) -> list[Event]:
    """Sort by time; the launcher comes first among equals."""
    return sorted(events, key=lambda one: (one.t, -1 if one.rank is None else one.rank))


def _read_file(path: Path) -> list[Event]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    rank = int(path.stem.removeprefix("rank-"))
    return [event for line in lines if (event := _read_line(line, rank)) is not None]


def _read_line(line: str, rank: int) -> Event | None:
    try:
        values = json.loads(line)
        event = Event(
            float(values.pop("t")), int(values.pop("rank", rank)), str(values.pop("event")),
            _number(values.pop("ms", None)), _rank(values.pop("of", None)), values,
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return event if math.isfinite(event.t) else None


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and value >= 0 else None  # type: ignore[arg-type, operator]


def _rank(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def first_start(folder: Path) -> float | None:
    """Give the first end of an MPI_Init, in seconds since the epoch; None if there was none yet."""
    return next((one.t for one in read_events(folder) if one.event == "started"), None)
