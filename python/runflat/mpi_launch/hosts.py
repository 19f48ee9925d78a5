"""Which hosts a job may use and has used: of a hostfile, or as its processes noted where they started.

A host here is what mpirun calls one: a name and a number of slots. Limits: mpirun may know other hosts without being told on its
line, from an allocation of a scheduler; of those only the ones that processes started on become known, with as many slots as
processes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import Event

SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "FLUX_URI")
"""A variable of each scheduler whose allocation mpirun takes its slots from."""

NAMES_HOSTS = (
    "-H", "--host", "-host", "--machinefile", "-machinefile", "--hostfile", "-hostfile",
    "--default-hostfile", "-default-hostfile",
)  # fmt: skip
"""How mpirun is told of hosts."""

DEFAULT_HOSTFILE = "prte_default_hostfile"
"""The setting of mpirun that names hosts where its line does not."""


@dataclass(frozen=True)
class Host:
    """A line of a hostfile.

    Attributes
    ----------
    name : str
        As mpirun knows it.
    slots : int or None
        Processes it takes; None where the line does not say.
    line : str
        As it was written.
    """

    name: str
    slots: int | None
    line: str


def read_hosts(path: Path) -> list[Host]:
    """Read the hosts of a hostfile.

    Raises
    ------
    MpiError
        If the file cannot be read or names no host.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise MpiError(f"{path}: cannot be read: {error.strerror}") from error
    found = []
    for text in lines:
        if line := text.partition("#")[0].strip():
            slots = re.search(r"\bslots\s*=\s*(\d+)", line)
            found.append(Host(line.split()[0], None if slots is None else int(slots[1]), line))
    if not found:
        raise MpiError(f"{path}: names no host")
    return found


def write_hosts(path: Path, hosts: Sequence[Host]) -> None:
    """Write a hostfile.

    Raises
    ------
    MpiError
        If it cannot be written.
    """
    try:
        path.write_text("".join(f"{host.line}\n" for host in hosts), encoding="utf-8")
    except OSError as error:
        raise MpiError(f"{path}: cannot be written: {error.strerror}") from error


def started_hosts(events: Sequence[Event]) -> list[Host]:
    """Give the hosts that processes noted their start on, by their first rank; the slots are how many started there first."""
    host_of: dict[int, str] = {}
    for one in events:
        if one.event == "started" and one.rank is not None and one.more.get("host"):
            host_of.setdefault(one.rank, str(one.more["host"]))
    counts = Counter(host_of[rank] for rank in sorted(host_of))
    return [Host(name, count, f"{name} slots={count}") for name, count in counts.items()]


def slots_of(hosts: Sequence[Host]) -> int | None:
    """Add up the slots of hosts; None where one does not give them."""
    counts = [host.slots for host in hosts if host.slots is not None]
    return sum(counts) if len(counts) == len(hosts) else None


def is_this_machine(name: str) -> bool:
    """Say whether a host is the one that mpirun is started on."""
    own = os.uname().nodename
    return name in (own, own.partition(".")[0], "localhost")


def naming_hosts(words: Sequence[str]) -> str | None:
    """Give the first of these words for mpirun that names hosts, as `--host` of `--host a` or of `--host=a`."""
    names = (word.partition("=")[0] for word in words)
    return next((name for name in names if name in NAMES_HOSTS), None)


def may_be_elsewhere(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Say whether mpirun may start processes on other hosts without a hostfile of ours: its words or its surroundings name them."""
    return (
        naming_hosts(words) is not None
        or DEFAULT_HOSTFILE in words
        or f"PRTE_MCA_{DEFAULT_HOSTFILE}" in environment
        or any(name in environment for name in SCHEDULERS)
    )


def core_count() -> int:
    """Count the cores that this process may use, hardware threads of one core once: what mpirun counts as slots."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(siblings.read_text())
        except OSError:
            cores.add(str(cpu))
    return len(cores)
