"""Asks hosts, side by side, whether they can be used, and deletes there what a job has left.

A host is asked by starting a command there as mpirun starts daemons, each by an mpirun of its own: one mpirun for several hosts gives
up all of them for one. So many run at once; all that they start is a family of this process (`processes`), and nothing outlives the
question.

Limits: a host that answers is used again, whatever it did. Families are of a whole process: jobs and questions come one after the
other, not in threads.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runflat.mpi_launch.hosts import Host, is_this_machine, may_be_elsewhere
from runflat.mpi_launch.interrupt import Interrupted, Stop
from runflat.mpi_launch.job import Job
from runflat.mpi_launch.processes import Family, adopting, begin_launcher, send

ANSWER_S = 40.0
"""For a host to answer."""

SILENT_S = 15.0
"""A host about which mpirun has no answer for so long says nothing; it is not asked again."""

STOP_S = 5.0
"""For an mpirun to end in order."""

LINGER_S = 2.0
"""For processes that are still about to leave when mpirun has ended."""

AT_ONCE = 16
"""Hosts that are asked at once: each costs a few processes here."""

POLL_S = 0.02

A_MOMENT = ("sleep", "1")
"""Open MPI 5.0's mpirun does not always end when its command ends at once (2 of 8 with `true`, 0 of 16 after half a second)."""

PLACING = ("--map-by", "--rank-by", "--bind-to")
"""Options that say where the processes of a job go, which need not hold for one process a host."""


def answering(hosts: Sequence[Host], job: Job, mpirun: Path) -> list[Host]:
    """Give the hosts that can be used: they run a command that does nothing.

    Those that seem not to, and are not silent, are asked once more: mpirun itself gives up now and then on a busy machine.

    Raises
    ------
    Interrupted
        If a signal ends the program meanwhile.
    """
    lines = [_line(job, mpirun, [host], A_MOMENT) for host in hosts]
    answers = _run_all(lines)
    unsure = [at for at, one in enumerate(answers) if not (one.is_good or one.is_silent)]
    for at, again in zip(unsure, _run_all([lines[at] for at in unsure]), strict=True):
        answers[at] = again
    return [host for host, one in zip(hosts, answers, strict=True) if one.is_good]


def listed(
    folder: Path, hosts: Sequence[Host], job: Job, mpirun: Path, into: Path
) -> dict[str, list[str]]:
    """Ask each host what is in the folders of a folder, as NAME/FILE; hosts are called what they call themselves.

    Parameters
    ----------
    folder : Path
        Of each host.
    hosts : sequence of Host
        Which to ask; empty: all that mpirun would start the job on, or this machine.
    job, mpirun
        The job, whose settings of mpirun count, and the launcher.
    into : Path
        A folder that all hosts see, for their answers.

    Raises
    ------
    Interrupted
        If a signal ends the program meanwhile.
    """
    are_here = all(is_this_machine(host.name) for host in hosts)
    if are_here and not may_be_elsewhere(job.mpirun_options, os.environ):
        return {os.uname().nodename: [str(one.relative_to(folder)) for one in folder.glob("*/*")]}
    look = 'cd "$1" && ls -d */* > "$2/$(uname -n).left"; exec sleep 1'
    _run_all([_line(job, mpirun, hosts, ("sh", "-c", look, "sh", str(folder), str(into)))])
    return {one.stem: one.read_text(encoding="utf-8").split("\n") for one in into.glob("*.left")}


def clear(folder: Path, hosts: Sequence[Host], job: Job, mpirun: Path) -> None:
    """Delete what a job needs no more, on its hosts and on this machine."""
    erase = ("sh", "-c", 'rm -rf "$1"; exec sleep 1', "sh", str(folder))
    others = [host for host in hosts if not is_this_machine(host.name)]
    try:
        all_at_once = [_line(job, mpirun, others, erase)] if others else []
        if not all(one.is_good for one in _run_all(all_at_once)) and len(others) > 1:
            # With one host that is gone mpirun starts nothing on the others.
            _run_all([_line(job, mpirun, [host], erase) for host in others])
    except Interrupted:
        pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _line(job: Job, mpirun: Path, hosts: Sequence[Host], command: Sequence[str]) -> list[str]:
    """Compose the line that runs a command once on each host, under the job's own settings of mpirun."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    named = ",".join(f"{host.name}:1" for host in hosts)
    once = [*(["--host", named] if hosts else []), "--map-by", "ppr:1:node"]
    return [str(mpirun), *root, *_settings(job.mpirun_options), *once, *command]


def _settings(words: Sequence[str]) -> list[str]:
    """Leave out what says where processes go; mpirun refuses it twice."""
    kept: list[str] = []
    waiting = deque(words)
    while waiting:
        word = waiting.popleft()
        if word.partition("=")[0] not in PLACING:
            kept.append(word)
        elif "=" not in word and waiting:
            waiting.popleft()
    return kept


@dataclass(frozen=True)
class _Answer:
    """Whether a line went well in time; else whether nothing was heard for long."""

    is_good: bool
    is_silent: bool


def _run_all(lines: Sequence[Sequence[str]]) -> list[_Answer]:
    """Run lines in silence, so many at once, to the end of all that they start."""
    stop = Stop()
    with stop.listening(), adopting() as family:
        asked = _Asked(lines)
        try:
            stop.arm()
            while asked.goes_on():
                time.sleep(POLL_S)
        finally:
            stop.armed = False
            _end(family, in_order=asked.is_done)
    return [asked.answers[index] for index in range(len(lines))]


def _end(family: Family, *, in_order: bool) -> None:
    """End what still runs; where all mpiruns have ended it is about to leave by itself."""
    if not in_order or not family.await_end(LINGER_S):
        family.end(STOP_S)


@dataclass
class _Question:
    """An mpirun that runs, until when it may, and whether it has been told to end."""

    launcher: subprocess.Popen[bytes]
    began: float
    until: float
    is_over: bool = False

    def look(self) -> bool:
        """Say whether it has ended; when its time is over tell it to, once, then end it."""
        if self.launcher.poll() is not None:
            return True
        if time.monotonic() >= self.until:
            send(self.launcher.pid, signal.SIGKILL if self.is_over else signal.SIGTERM)
            self.is_over = True
            self.until += STOP_S
        return False


class _Asked:
    """Launch lines of which so many run at once, and what became of them."""

    def __init__(self, lines: Sequence[Sequence[str]]) -> None:
        self.answers: dict[int, _Answer] = {}
        self._waiting = deque(enumerate(lines))
        self._running: dict[int, _Question] = {}

    @property
    def is_done(self) -> bool:
        return not self._waiting and not self._running

    def goes_on(self) -> bool:
        """Start what there is room for, look who has ended; say whether there are more."""
        while self._waiting and len(self._running) < AT_ONCE:
            index, words = self._waiting.popleft()
            launcher = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=begin_launcher,
            )  # fmt: skip
            now = time.monotonic()
            self._running[index] = _Question(launcher, now, now + ANSWER_S)
        for index, one in list(self._running.items()):
            if one.look():
                is_good = one.launcher.returncode == 0 and not one.is_over
                took = time.monotonic() - one.began
                self.answers[index] = _Answer(is_good, one.is_over or took >= SILENT_S)
                del self._running[index]
        return not self.is_done
