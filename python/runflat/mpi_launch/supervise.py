"""The second tier: a job that mpirun has given up begins again on the hosts that are left.

The loss of a host's daemon ends an MPI job whatever its processes do. Their checkpoints lie in files of each host (RUNFLAT_STORE), a
rank's own and its partner's on two hosts, so the next job goes on from the last version of which all ranks have a copy.

Which hosts are left is asked of each: a command that does nothing is started there as mpirun starts daemons. Limits: a host that
answers is used again, whatever it did; a grid of ranks and spares (`--shape`) has a fixed number of places, so it cannot begin
again with fewer.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runflat.mpi_launch.attempt import run
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.injection import NodeKill
from runflat.mpi_launch.line import Job, host_lines

ANSWER_S = 40.0
"""For a host to answer."""

A_MOMENT = ("sleep", "1")
"""Open MPI 5.0's mpirun does not always end when its command ends at once (2 of 8 with `true`, 0 of 16 after half a second)."""


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
    found = []
    for line in host_lines(path):
        slots = re.search(r"\bslots\s*=\s*(\d+)", line)
        found.append(Host(line.split()[0], None if slots is None else int(slots[1]), line))
    return found


def check_kills(kills: Sequence[NodeKill], hostfile: Path | None) -> None:
    """Refuse to kill hosts that a hostfile does not name.

    Raises
    ------
    MpiError
        If there is one.
    """
    known = [] if hostfile is None else [host.name for host in read_hosts(hostfile)]
    for one in kills:
        if known and one.host not in known:
            raise MpiError(
                f"--kill {one}: there is no host {one.host}; {hostfile} names {', '.join(known)}"
            )


def answers(host: Host, job: Job, mpirun: Path, folder: Path) -> bool:
    """Say whether a host can be used: it runs a command that does nothing; `folder` is an empty one."""
    return _run_silently(job, mpirun, folder, ["--host", f"{host.name}:1", "-n", "1", *A_MOMENT])


def _run_silently(job: Job, mpirun: Path, folder: Path, words: Sequence[str]) -> bool:
    """Run words under the job's mpirun, to the end of all that it starts; say whether that went well."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    silent = ["sh", "-c", 'exec "$@" </dev/null >/dev/null 2>&1', "sh"]
    attempt = run(
        [*silent, str(mpirun), *root, *job.mpirun_options, *words], folder, limit_s=ANSWER_S
    )
    return attempt.status == 0 and attempt.limit_s is None


def fit(job: Job, hosts: Sequence[Host], hostfile: Path) -> Job:
    """Return the job on fewer hosts, which are written to a hostfile: the same ranks, as many spares as there is room for.

    Raises
    ------
    MpiError
        If the ranks have no room any more, or stand on a grid.
    """
    room = sum(host.slots or 0 for host in hosts) if all(host.slots for host in hosts) else None
    if not hosts:
        raise MpiError("no host answers any more; the job cannot begin again")
    hostfile.write_text("".join(f"{host.line}\n" for host in hosts), encoding="utf-8")
    again = replace(job, hostfile=hostfile, kills=(), stops=())
    if room is None or room >= job.world_size:
        return again
    if job.shape is not None:
        raise MpiError(
            f"the hosts that answer ({len(hosts)}) have {room} slots and the grid {job.shape} has {job.world_size} places; "
            "without --shape spares would make up for lost hosts"
        )
    if room < job.ranks:
        raise MpiError(
            f"the hosts that answer ({len(hosts)}) have {room} slots for {job.ranks} ranks; the job cannot begin again"
        )
    spares = room - job.ranks
    return replace(again, spares=spares, refill=job.refill and spares > 0)


def clear(store: Path, job: Job, mpirun: Path, folder: Path) -> None:
    """Delete the checkpoints of all hosts of a job that needs them no more."""
    if job.hostfile is not None:
        hosts = ",".join(f"{host.name}:1" for host in read_hosts(job.hostfile))
        words = [
            "--host",
            hosts,
            "--map-by",
            "ppr:1:node",
            "sh",
            "-c",
            'rm -rf "$1"; exec sleep 1',
            "sh",
            str(store),
        ]
        _run_silently(job, mpirun, folder, words)
    shutil.rmtree(store, ignore_errors=True)
