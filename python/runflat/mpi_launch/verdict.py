"""Judges how a job ended: by what its processes noted, never by mpirun's exit status alone.

mpirun ends with 0 after it has lost a node's daemon and after processes have crashed. A job is done when mpirun ended with 0 and every
rank came to its end (`finalized`), but for those that were killed or stopped on purpose and those whose failure was reported by a
rank that itself came to its end. Ranks that only failed ranks complain about are not excused, so a job that mpirun tears down is
not taken for one that recovered.

Also tells who failed when, and how long detection and recovery took. Limits: times between ranks of several hosts are as good as
their clocks agree.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runflat.mpi_launch.attempt import Attempt
from runflat.mpi_launch.events import ENDING, Event

DONE, FINDING, LIMIT = 0, 1, 124
"""Exit statuses: as everywhere here, and as `timeout` gives it."""

ON_PURPOSE = ("killed", "stopped")
REPORTS = ("failure_detected", "fenced")

GAVE_UP = {"step_limit": "gave up", "exited": "exited"}
"""Ends that a rank came to by itself, and how they are called."""

TOGETHER_S = 0.01
"""Hosts that have failed within this time have failed together."""

REPAIRS = {"repaired": "recovered", "shrink": "shrunk"}
"""What ends a recovery: a repair, or where there is none, a shrink; and how it is called."""

REDUCED = "went on with fewer ranks"
"""A repair that had no spare for a failed rank."""

EXHAUSTED = "not repaired, as no spare was left"

LEFT_OUT = "a waiting spare, left out at the next repair"
"""Nobody had to recover: the others heard of it and went on until there was a reason to repair, at the latest in RF_End."""


@dataclass(frozen=True)
class Failure:
    """A rank that failed.

    Attributes
    ----------
    rank : int
        In the world.
    at : float
        When, in seconds since the epoch: the kill, or where nothing noted it, the first report.
    how : str
        `killed`, `stopped`, `gave up`, `exited` (with a status, before MPI_Finalize), or `failed` where it is not known.
    detected_ms : (float, float) or None
        From then to the first and the last report of another rank; None if none reported it, or the failure's time is not known.
    repaired_ms : float or None
        From then until the last rank had repaired; None if there was no repair, or it had nothing to wait for.
    repair : str
        `recovered`, `REDUCED`, `shrunk` where there was no more than that, `EXHAUSTED` where the job is to stop then, `LEFT_OUT` of a
        spare, or `not repaired`.
    """

    rank: int
    at: float
    how: str
    detected_ms: tuple[float, float] | None
    repaired_ms: float | None
    repair: str = "not repaired"


@dataclass(frozen=True)
class Verdict:
    """How a job ended.

    Attributes
    ----------
    status : int
        Exit status: 0 done, 1 a finding, 124 the limit ran out, 128 and more the signal by which the user ended it.
    outcome : str
        `done`, `recovered`, `failed`, `limit` or `interrupted`.
    reasons : sequence of str
        Why it is not done, most important first; empty if it is.
    failures : sequence of Failure
        By time.
    begun : float
        What times are counted from, in seconds since the epoch: the first end of an MPI_Init, else the launch.
    """

    status: int
    outcome: str
    reasons: Sequence[str]
    failures: Sequence[Failure]
    begun: float


def judge(world_size: int, attempt: Attempt, events: Sequence[Event]) -> Verdict:
    """Judge a job.

    Parameters
    ----------
    world_size : int
        Processes that were started.
    attempt : Attempt
        How mpirun ended.
    events : sequence of Event
        Of all processes and the launcher, by time.
    """
    failures = find_failures(events)
    begun = next((one.t for one in events if one.event == "started"), attempt.begun)
    reasons = _reasons(world_size, attempt, events)
    if attempt.signal is not None:
        name = signal.Signals(attempt.signal).name
        reasons.insert(0, f"interrupted by {name}; the job is ended")
        return Verdict(128 + attempt.signal, "interrupted", reasons[:1], failures, begun)
    if attempt.limit_s is not None:
        reasons.insert(0, f"the limit of {attempt.limit_s:g} s ran out; the job is ended")
        # How mpirun ends then is our doing.
        return Verdict(
            LIMIT, "limit", [one for one in reasons if one != _ended(attempt)], failures, begun
        )
    if reasons:
        return Verdict(FINDING, "failed", reasons, failures, begun)
    return Verdict(DONE, "recovered" if failures else "done", (), failures, begun)


def _reasons(world_size: int, attempt: Attempt, events: Sequence[Event]) -> list[str]:
    finalized = {one.rank for one in events if one.event == "finalized"}
    limit = [one for one in events if one.event == "step_limit"]
    # Who is in a call that waits for those who have given up ends the job with an error that they cause.
    until = limit[0].t if limit else math.inf
    aborted = list(
        dict.fromkeys(
            one.rank
            for one in events
            if one.event == "aborted" and one.rank is not None and one.t < until
        )
    )
    excused = {one.rank for one in events if one.event in ON_PURPOSE}
    excused |= {
        one.of
        for one in events
        if one.event in REPORTS and one.rank in finalized and one.of != one.rank
    }
    missing = [rank for rank in range(world_size) if rank not in finalized | excused]
    ended = _ended(attempt)
    # Of jobs that have started processes anew mpirun says now and then that one was killed, which is known.
    known = attempt.status == 128 + signal.SIGKILL and excused
    if attempt.status == 128 + signal.SIGKILL and not missing:
        ended += ", as when a process that the program has spawned was killed"
    reasons = [] if attempt.status == 0 or known else [ended]
    if aborted:
        others = f"; {named(sorted(aborted[1:]))} after it" if aborted[1:] else ""
        reasons.insert(
            0,
            f"{named(aborted[:1])} ended the job (MPI_Abort, or an error that is fatal){others}",
        )
        at = min(one.t for one in events if one.event == "aborted")
        dead = set(missing) - set(aborted)
        first = sorted(
            {one.of for one in events if one.event in REPORTS and one.of in dead and one.t <= at}
        )
        if first:
            reasons.insert(
                0,
                f"{named(first)} failed first (a crash, a signal, or an exit before MPI_Finalize)",
            )
    if any(one.event == "exhausted" for one in events):
        reasons.insert(
            0,
            "no spare was left for a failed rank, and the job stops then (--on-exhausted stop): give more --spares",
        )
    if limit:
        reasons.insert(0, _gave_up(world_size, limit, events, finalized | excused))
    all_the_same = f"; {ended} all the same" if attempt.status == 0 else ""
    if not any(one.rank is not None for one in events) and attempt.limit_s is not None:
        reasons.append("no rank had come through MPI_Init by then")
    elif not any(one.rank is not None for one in events):
        why = "a rank died in MPI_Init or before, the program does not call it (sessions are not watched), or it cannot be protected"
        if attempt.status != 0:
            why = f"mpirun could not start the program (what it said is above, if it said anything), or {why}"
        reasons.append(f"no rank noted anything: {why}{all_the_same}")
    elif missing:
        did = "did not come to its" if len(missing) == 1 else "did not come to their"
        reasons.append(f"{named(missing)} {did} end (no `finalized` event){all_the_same}")
    elif not finalized:
        reasons.append(f"no rank came to its end{all_the_same}")
    if attempt.left:
        count = len(attempt.left)
        names = ", ".join(sorted({one.name for one in attempt.left})[:3])
        some = "1 process" if count == 1 else f"{count} processes"
        reasons.append(f"{some} outlived mpirun and had to be ended: {names}")
    lost = _lost_hosts(events)
    if reasons and lost:
        reasons.insert(
            0,
            f"all ranks of {lost}: with its daemon a host takes the job along, which --supervise begins again elsewhere",
        )
    return [*reasons, *attempt.troubles]


def _lost_hosts(events: Sequence[Event]) -> str:
    """Say which hosts have lost all their ranks first, where some rank elsewhere has not failed, and which after them; empty: none.

    Where mpirun ends the others host by host, these fail as well.
    """
    on: dict[str, set[int]] = {}
    for one in events:
        if one.event == "started" and one.rank is not None and "host" in one.more:
            on.setdefault(str(one.more["host"]), set()).add(one.rank)
    failed = {one.rank: one.at for one in find_failures(events)}
    gone = {
        host: max(failed[rank] for rank in ranks)
        for host, ranks in on.items()
        if ranks <= failed.keys()
    }
    if not 0 < len(gone) < len(on):
        return ""
    until = min(gone.values()) + TOGETHER_S
    first = sorted(host for host, at in gone.items() if at <= until)
    later = sorted(gone.keys() - first)
    after = f", and then those of {', '.join(later)}, most likely ended by mpirun" if later else ""
    return f"{'host' if len(first) == 1 else 'hosts'} {', '.join(first)} failed{after}"


def _gave_up(
    world_size: int, limit: Sequence[Event], events: Sequence[Event], accounted: set[int | None]
) -> str:
    """Who gave up a step of a recovery, and who was not in it then."""
    there = accounted | {one.rank for one in limit}
    there |= {one.of for one in events if one.event in REPORTS and one.t <= limit[0].t}
    waited = sorted({one.rank for one in limit if one.rank is not None})
    absent = [rank for rank in range(world_size) if rank not in there]
    reason = f"{named(waited)} gave up a step of a recovery that took longer than its limit"
    if absent:
        reason += f"; {named(absent)} had not come to it (computes, or waits for something else?)"
    return reason


def _ended(attempt: Attempt) -> str:
    if attempt.status is None:
        return "mpirun had to be killed"
    if attempt.status < 0:
        return f"mpirun was ended by {signal.Signals(-attempt.status).name}"
    return f"mpirun ended with {attempt.status}"


def find_failures(events: Sequence[Event]) -> list[Failure]:
    """Find who failed, by time of failure; what the launcher ends has not failed."""
    until = next((one.t for one in events if one.event == ENDING), math.inf)
    events = [one for one in events if one.t < until or one.event in ON_PURPOSE]
    known: dict[int, tuple[float, str, bool]] = {}
    # Who has come to its end leaves, which another one may take for a failure.
    left = {one.rank: one.t for one in events if one.event == "finalized"}
    for one in events:
        if one.rank is not None and one.event in (*ON_PURPOSE, *GAVE_UP):
            how = GAVE_UP.get(one.event, one.event)
            known.setdefault(one.rank, (one.t, how, True))
    for one in events:
        if (
            one.event in REPORTS
            and one.of is not None
            and one.of != one.rank
            and one.t < left.get(one.of, math.inf)
        ):
            known.setdefault(one.of, (one.t, "failed", False))
    failures = []
    for rank, (at, how, is_exact) in known.items():
        reports = [
            one.t for one in events
            if one.event in REPORTS and one.of == rank and one.rank != rank and one.t >= at
        ]  # fmt: skip
        detected = None
        if is_exact and reports:
            detected = (1e3 * (min(reports) - at), 1e3 * (max(reports) - at))
        failures.append(Failure(rank, at, how, detected, *_repair(rank, at, events)))
    return sorted(failures, key=lambda one: (one.at, one.rank))


def _repair(rank: int, at: float, events: Sequence[Event]) -> tuple[float | None, str]:
    """Time until the last of the others had ended the first repair after the failure."""
    for kind, name in REPAIRS.items():
        ends = [one for one in events if one.event == kind]
        # All take part in a repair: who begins after its first end is in a later one. One that the rank itself has come through
        # was of an earlier failure.
        own = max((one.t for one in ends if one.rank == rank and one.t <= at), default=-math.inf)
        after = [one for one in ends if one.rank != rank and one.t >= at and _began(one) > own]
        if after:
            same = [one for one in after if _began(one) <= after[0].t]
            if _was_asleep(rank, at, events) and min(map(_began, same)) > at:
                return None, LEFT_OUT
            if any(_reduced_in(one, events) for one in same):
                name = REDUCED
            if kind == "shrink" and any(one.event == "exhausted" for one in events):
                return None, EXHAUSTED
            return 1e3 * (max(one.t for one in same) - at), name
    return None, "not repaired"


def _reduced_in(repair: Event, events: Sequence[Event]) -> bool:
    """Say whether a rank told in a repair that there are fewer ranks after it."""
    return any(
        one.event == "reduced" and one.rank == repair.rank and _began(repair) <= one.t <= repair.t
        for one in events
    )


def _was_asleep(rank: int, at: float, events: Sequence[Event]) -> bool:
    """Say whether it was a spare that had not taken over."""
    own = {one.event for one in events if one.rank == rank and one.t <= at}
    return "asleep" in own and "took_over" not in own


def _began(one: Event) -> float:
    return one.t - (one.ms or 0) / 1e3


def reduced(events: Sequence[Event]) -> list[str]:
    """Say that ranks were not replaced, if so; the last word of each rank that told it counts."""
    left = [one.more["ranks"] for one in events if one.event == "reduced" and "ranks" in one.more]
    if not left:
        return []
    return [
        f"no spare was left: the job went on with {left[-1]} rank{'' if left[-1] == 1 else 's'}"
    ]


def gone_on(events: Sequence[Event]) -> list[str]:
    """Say which version of an earlier attempt or job ranks have gone on from, if so."""
    found = [one.more["version"] for one in events if one.event == "restarted" and "version" in one.more]  # fmt: skip
    return [f"it had gone on from version {found[-1]} of files"] if found else []


def unused(spares: int, events: Sequence[Event]) -> list[str]:
    """Say that no process became a spare although some were asked for."""
    slept = any(one.event in ("asleep", "took_over", "repaired") for one in events)
    if spares == 0 or slept or not any(one.event == "started" for one in events):
        return []
    what = "the spare worked as a rank" if spares == 1 else f"the {spares} spares worked as ranks"
    return [
        f"the program did not come through RF_Init (in Python `runflat.mpi.start`), which splits ranks and spares: {what}"
    ]


def summary(verdict: Verdict) -> list[str]:
    """Write the failures and what became of them, those of one moment that went alike in one line; empty if nothing failed."""
    alike: dict[tuple[float, str, bool, str], list[Failure]] = {}
    for one in verdict.failures:
        kind = (one.at, one.how, one.detected_ms is None, one.repair)
        alike.setdefault(kind, []).append(one)
    lines = [
        f"{named(sorted(one.rank for one in group))} {_fate(group, verdict.begun)}"
        for group in list(alike.values())[:MOST_LINES]
    ]
    if len(alike) > MOST_LINES:
        lines.append(f"... and {len(alike) - MOST_LINES} more; --timeline has all")
    return lines


MOST_LINES = 12


def _fate(group: Sequence[Failure], begun: float) -> str:
    first = group[0]
    when = f"{first.how} at {first.at - begun:.3f} s"
    reports = [ms for one in group for ms in one.detected_ms or ()]
    repairs = [one.repaired_ms for one in group if one.repaired_ms is not None]
    if not reports and not repairs and first.how in ON_PURPOSE:
        # The program goes on by itself, or the job had come to its end.
        return f"{when}; no repair was asked for"
    detected = "first reported then" if first.how == "failed" else "reported by nobody"
    if reports:
        detected = f"detected after {span((min(reports), max(reports)))} ms"
    after = f" after {milliseconds(max(repairs))} ms" if repairs else ""
    return f"{when}; {detected}; {first.repair}{after}"


def span(ends: tuple[float, float]) -> str:
    """Write the ends of a span in ms, once if they read the same."""
    first, last = map(milliseconds, ends)
    return first if first == last else f"{first} to {last}"


def milliseconds(value: float) -> str:
    """Write a duration as precisely as it deserves."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def named(ranks: Sequence[int]) -> str:
    """Write sorted ranks as `rank 3` or `ranks 0-3, 7`."""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {ranges(ranks)}"


def ranges(numbers: Iterable[int]) -> str:
    """Write sorted numbers as `0-3, 7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)
