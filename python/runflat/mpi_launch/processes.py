"""The processes of a job on this machine, found by parentage alone, and how they are ended.

While a job runs, this process adopts what its children leave behind (`PR_SET_CHILD_SUBREAPER`), so daemons that detach themselves
and processes whose parent was killed stay below it: what is below the launcher, or was adopted since it was started, belongs to the
job, and nothing else is touched. Processes on other machines are ended by mpirun's own daemons.

Source: prctl(2), proc_pid_stat(5).
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37

_PRCTL = ctypes.CDLL(None, use_errno=True).prctl
_PRCTL.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


@dataclass(frozen=True)
class Process:
    """A process as the kernel tells it.

    Attributes
    ----------
    pid, parent : int
        Its number and its parent's.
    name : str
        Of its program, at most 15 characters.
    state : str
        A letter: `R`, `S`, `T` stopped, `Z` ended but not yet waited for.
    """

    pid: int
    parent: int
    name: str
    state: str


def all_processes() -> dict[int, Process]:
    """Read all processes there are, by number."""
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                process = _read(int(entry.name))
                found[process.pid] = process
    return found


def _read(pid: int) -> Process:
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    # The name stands in brackets and may hold anything, brackets and spaces too.
    head, _, tail = text.rpartition(")")
    state, parent = tail.split()[:2]
    return Process(pid, int(parent), head.partition("(")[2], state)


def below(root: int, processes: dict[int, Process]) -> list[Process]:
    """Give the processes below one, parents before children; without itself."""
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [root]
    while waiting:
        mine = children.get(waiting.pop(), [])
        found += mine
        waiting += [process.pid for process in mine]
    return found


def environment_of(pid: int) -> dict[str, str]:
    """Give the environment that a process was started with; empty if it cannot be read."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    words = (word.partition(b"=") for word in raw.split(b"\0"))
    return {os.fsdecode(name): os.fsdecode(value) for name, equals, value in words if equals}


SENTINEL = b"process=$1 started=$2 allowed=$3"
"""In the words of the shell by which the library looks at a process (`mpi/src/guards/sentinel.c`); it ends with that, a moment later."""


def is_sentinel(process: Process) -> bool:
    """Say whether it is such a shell, or what one has started."""
    for pid in (process.pid, process.parent):
        with suppress(OSError):
            if SENTINEL in Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
    return False


def send(process: int, number: int) -> None:
    """Send a signal; to one that is gone it does nothing."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


class Family:
    """A launcher that was started here, and all that came from it on this machine."""

    def __init__(self, strangers: set[int]) -> None:
        self._strangers = strangers
        self.launcher: int | None = None

    def members(self) -> list[Process]:
        """Give those that still run, without the launcher itself."""
        processes = all_processes()
        own = os.getpid()
        found = []
        for child in processes.values():
            if child.parent != own or child.pid in self._strangers:
                continue
            if child.pid != self.launcher:
                found.append(child)
            found += below(child.pid, processes)
        self._reap(found)
        return [process for process in found if process.state not in "ZX"]

    def _reap(self, found: list[Process]) -> None:
        """Wait for adopted processes that have ended; those of others are theirs."""
        for process in found:
            if process.parent == os.getpid() and process.state == "Z":
                with suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)

    def end(self, grace_s: float) -> list[Process]:
        """End what still runs: ask, wait, then kill, until nothing is left.

        Parameters
        ----------
        grace_s : float
            Time to leave between SIGTERM and SIGKILL.

        Returns
        -------
        list of Process
            Those that had to be killed.
        """
        for process in self.members():
            send(process.pid, signal.SIGTERM)
            send(process.pid, signal.SIGCONT)
        self.await_end(grace_s)
        killed: dict[int, Process] = {}
        for _ in range(KILL_ROUNDS):
            left = self.members()
            if not left:
                break
            for process in left:
                killed[process.pid] = process
                send(process.pid, signal.SIGKILL)
            time.sleep(POLL_S)
        return list(killed.values())

    def await_end(self, seconds: float) -> bool:
        """Wait until none is left; say whether that came to be."""
        until = time.monotonic() + seconds
        while self.members():
            if time.monotonic() >= until:
                return False
            time.sleep(POLL_S)
        return True


POLL_S = 0.05
KILL_ROUNDS = 100
"""A process that the kernel does not let go (on a dead file system) must not keep us for ever."""


@contextmanager
def adopting() -> Iterator[Family]:
    """Adopt orphans of the job while it runs."""
    before = ctypes.c_int(0)
    _PRCTL(PR_GET_CHILD_SUBREAPER, ctypes.addressof(before), 0, 0, 0)
    _PRCTL(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    own = os.getpid()
    try:
        yield Family({process.pid for process in all_processes().values() if process.parent == own})
    finally:
        _PRCTL(PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def begin_launcher() -> None:
    """In a new child: ask for SIGTERM when the parent ends, however it does, and block SIGPIPE.

    The mpirun of Open MPI 5.0 ends the job at the 11th SIGPIPE, and writing to processes that have just died brings one each. What
    it starts gets the signal again.
    """
    _PRCTL(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
