"""Runs one launch line to its end: limit, kills from outside, signals, and nothing left behind.

The program's input and output are those of this process, untouched, unless its output is to go elsewhere. Whoever relaunches a job
after the loss of a node (`supervise`) calls `run` again with another line and judges each attempt by itself.

Limits: a host is killed by its processes on this machine, so hosts that are other machines cannot be (test beds that give one
machine several host names can). If this process itself is killed outright, mpirun gets SIGTERM and ends the job by its own means.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import ENDING, Event, first_start
from runflat.mpi_launch.injection import NodeKill
from runflat.mpi_launch.interrupt import Interrupted, Stop
from runflat.mpi_launch.processes import (
    Family,
    Process,
    adopting,
    all_processes,
    begin_launcher,
    below,
    environment_of,
    is_sentinel,
    send,
)

LINGER_S = 2.0
"""For processes that are still about to leave when mpirun has ended."""

STOP_S = 5.0
"""For mpirun to end a job in order."""

TERM_S = 2.0
"""Between SIGTERM and SIGKILL for what mpirun has left."""

POLL_S = 0.02


@dataclass
class Attempt:
    """How a launch line ended.

    Attributes
    ----------
    status : int or None
        Of mpirun, negative for a signal; None if it had to be killed.
    begun : float
        When it was started, in seconds since the epoch.
    seconds : float
        How long it ran.
    limit_s : float or None
        The limit, if it ran out.
    signal : int or None
        The signal by which the user ended it.
    left : sequence of Process
        Processes that outlived mpirun and were ended here.
    events : list of Event
        What was done from outside.
    troubles : list of str
        Kills that could not be carried out.
    """

    status: int | None = None
    begun: float = 0.0
    seconds: float = 0.0
    limit_s: float | None = None
    signal: int | None = None
    left: Sequence[Process] = ()
    events: list[Event] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


def run(
    words: Sequence[str],
    events: Path,
    *,
    limit_s: float | None = None,
    kills: Sequence[NodeKill] = (),
    output: int | None = None,
) -> Attempt:
    """Run a launch line.

    Parameters
    ----------
    words : sequence of str
        The command.
    events : Path
        Folder that the processes write their events to.
    limit_s : float, optional
        The longest it may take; then it is ended.
    kills : sequence of NodeKill
        What is killed from outside.
    output : int, optional
        The file number that its output goes to; by default this process's own.

    Returns
    -------
    Attempt
        How it ended; nothing of it runs any more on this machine.

    Raises
    ------
    MpiError
        If it cannot be started.
    """
    attempt = Attempt(begun=time.time())
    since = time.monotonic()
    stop = Stop()
    with stop.listening(), adopting() as family:
        try:
            # In one process group with us: a program may read the terminal, and Ctrl-C reaches mpirun too.
            launcher = subprocess.Popen(list(words), stdout=output, preexec_fn=begin_launcher)
        except OSError as error:
            raise MpiError(f"{words[0]} cannot be started: {error.strerror}") from error
        family.launcher = launcher.pid
        attempt.events.append(Event(attempt.begun, None, "launched"))
        try:
            stop.arm()
            _Watch(launcher, events, attempt).until_end(since, limit_s, kills)
            stop.armed = False
        except Interrupted as interrupted:
            attempt.signal = interrupted.number
        finally:
            if launcher.poll() is None:
                attempt.events.append(Event(time.time(), None, ENDING))
            _clean_up(launcher, family, attempt)
    attempt.seconds = time.monotonic() - since
    attempt.events.append(Event(time.time(), None, "ended"))
    return attempt


class _Watch:
    """Waits for mpirun, and kills what is to be killed when its time has come."""

    def __init__(self, launcher: subprocess.Popen[bytes], events: Path, attempt: Attempt) -> None:
        self.launcher = launcher
        self.events = events
        self.attempt = attempt

    def until_end(self, since: float, limit_s: float | None, kills: Sequence[NodeKill]) -> None:
        """Return when mpirun has ended or the limit has run out."""
        deadline = None if limit_s is None else since + limit_s
        waiting = sorted(kills, key=lambda one: one.seconds)
        started: float | None = None
        while self.launcher.poll() is None:
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                self.attempt.limit_s = limit_s
                return
            if waiting and started is None and (at := first_start(self.events)) is not None:
                started = now - max(time.time() - at, 0.0)
            while waiting and started is not None and now >= started + waiting[0].seconds:
                self._kill(waiting.pop(0))
            self._wait(now, deadline, waiting, started)
        self.attempt.troubles += [f"{one}: the job ended before" for one in waiting]

    def _wait(
        self, now: float, deadline: float | None, waiting: list[NodeKill], started: float | None
    ) -> None:
        ends = [] if deadline is None else [deadline]
        if waiting:
            ends.append(now + POLL_S if started is None else started + waiting[0].seconds)
        try:
            self.launcher.wait(max(min(ends) - now, 0.0) if ends else None)
        except subprocess.TimeoutExpired:
            return

    def _kill(self, what: NodeKill) -> None:
        """Kill a host's processes, and its daemon."""
        processes = all_processes()
        ranks: dict[int, int] = {}
        daemons: set[int] = set()
        for process in below(self.launcher.pid, processes):
            environment = environment_of(process.pid)
            rank = environment.get("OMPI_COMM_WORLD_RANK", "")
            if rank.isdigit() and _same_host(environment.get("PMIX_HOSTNAME", ""), what.host):
                ranks[process.pid] = int(rank)
                if (parent := _daemon_above(process, processes)) is not None:
                    daemons.add(parent)
        if not ranks:
            self.attempt.troubles.append(f"{what}: no process of that host runs on this machine")
            return
        if what.daemon and (not daemons or self.launcher.pid in daemons):
            self.attempt.troubles.append(f"{what}: mpirun itself is that host's daemon")
            return
        now = time.time()
        for number in [*(daemons if what.daemon else ()), *ranks]:
            send(number, signal.SIGKILL)
        by = {"by": str(what)}
        self.attempt.events += [
            Event(now, rank, "killed", more=dict(by)) for rank in sorted(set(ranks.values()))
        ]


def _same_host(one: str, other: str) -> bool:
    return one == other or one.partition(".")[0] == other


def _daemon_above(process: Process, processes: dict[int, Process]) -> int | None:
    """Find the process that starts the ranks of a host: prted, or mpirun itself, whose name is prterun."""
    above = processes.get(process.parent)
    while above is not None:
        if above.name in ("prted", "prterun", "mpirun", "prte"):
            return above.pid
        above = processes.get(above.parent)
    return None


def _clean_up(launcher: subprocess.Popen[bytes], family: Family, attempt: Attempt) -> None:
    """End mpirun if it still runs, then all that it has left."""
    # After Ctrl-C mpirun has had the signal from the terminal; a second one makes it give up its processes.
    grace_s = STOP_S / 2 if attempt.signal == signal.SIGINT else 0.0
    if not _ended(launcher, grace_s):
        send(launcher.pid, signal.SIGTERM)
        _ended(launcher, STOP_S)
    if launcher.poll() is None:
        launcher.kill()
        launcher.wait()
    else:
        attempt.status = launcher.returncode
    asked = attempt.limit_s is not None or attempt.signal is not None
    if asked or not family.await_end(LINGER_S):
        left = [] if asked else [one for one in family.members() if not is_sentinel(one)]
        family.end(TERM_S)
        attempt.left = left


def _ended(launcher: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        launcher.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
