"""Composes the launch line of a job: mpirun, what it needs for recovery, and the variables that the library reads.

| variable | from | meaning to the library |
| --- | --- | --- |
| `RUNFLAT_SPARES` | `--spares` | processes of the world that wait to take over |
| `RUNFLAT_SHAPE`, `RUNFLAT_TORUS`, `RUNFLAT_ALLOCATION` | `--shape --torus --alloc` | where ranks and spares stand; torus is `1` |
| `RUNFLAT_POLICY`, `RUNFLAT_POLICY_LIBRARY` | `--policy` | who takes over; the library that says so |
| `RUNFLAT_SITES` | `--machine` | file with the switches above each host: which spare is the nearest |
| `RUNFLAT_ON_EXHAUSTED` | `--on-exhausted` | `shrink` or `stop` |
| `RUNFLAT_KILL`, `RUNFLAT_STOP` | `--kill`, `--stop` | `3@1.5,5@shrink+0.002` |
| `RUNFLAT_REFILL` | `--refill` | `1`: new spares may be started for dead processes |
| `RUNFLAT_PARITY` | `--parity` | ranks of a parity group; without it whole second copies |
| `RUNFLAT_WATCH_MS` | `--watch` | how often a thread looks for failures in ms, or `events` |
| `RUNFLAT_EVENTS` | `--events`, else a folder of the run | where each process writes `rank-N.jsonl` |
| `RUNFLAT_STEP_LIMIT_S` | `--step-limit` | the longest a step of a recovery may take |
| `RUNFLAT_STORE` | `--supervise`, `--store` | folder of each host for checkpoints |
| `RUNFLAT_SEGMENTS` | `--supervise` | folder of each host for Open MPI's shared memory |
| `RUNFLAT_JOB` | `--supervise` | which files there are this job's |
| `RUNFLAT_RESTART` | `--resume`; `--supervise`, from the second attempt on | `1`: go on from the checkpoints there |

An option wins over a variable of the environment; variables that begin with `RUNFLAT_` and have no option here go along as they are.

Limits: whether a job needs more slots than there are is known for this machine and for hostfiles that give slots; an allocation of a
scheduler is left to mpirun.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runflat.mpi_launch.hosts import core_count, may_be_elsewhere, read_hosts, slots_of
from runflat.mpi_launch.job import Job


@dataclass(frozen=True)
class Folders:
    """Where each host puts what outlives its processes; both may be other folders of these names on each.

    Attributes
    ----------
    checkpoints : Path
        For files that a job begins again from.
    segments : Path
        For Open MPI's shared memory, which a daemon that is killed leaves behind.
    job : str
        What files for checkpoints are of: a job that begins again leaves out others that lie there.
    resumes : bool
        It goes on from what lies there, whatever job has left it.
    """

    checkpoints: Path
    segments: Path
    job: str
    resumes: bool = False


@dataclass(frozen=True)
class Line:
    """A launch line.

    Attributes
    ----------
    words : sequence of str
        The command.
    exported : mapping of str to str
        Variables that the processes get, also part of the words.
    """

    words: Sequence[str]
    exported: Mapping[str, str]

    def __str__(self) -> str:
        """As it is typed into a shell."""
        return shlex.join(self.words)


def compose(
    job: Job,
    mpirun: Path,
    library: Path,
    *,
    events: Path | None = None,
    policy_library: Path | None = None,
    folders: Folders | None = None,
    sites: Path | None = None,
    again: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Line:
    """Compose the launch line.

    Parameters
    ----------
    job : Job
        What is to run.
    mpirun : Path
        The launcher.
    library : Path
        `librunflat_mpi.so`, at this path on all hosts.
    events : Path, optional
        Folder for event files, seen by all hosts.
    policy_library : Path, optional
        `librunflat_policy.so`, at this path on all hosts; needed for spares.
    folders : Folders, optional
        Where each host puts its checkpoints and its shared memory.
    sites : Path, optional
        File with the switches above each host (`sites`), seen by all hosts.
    again : bool
        Go on from the checkpoints that an earlier job has left there.
    environment : mapping, optional
        By default that of this process.
    """
    given = os.environ if environment is None else environment
    # Who goes on from what lies there takes it as it is.
    by_hand = given.get("RUNFLAT_RESTART", "0") not in ("", "0")
    resumes = folders is not None and (folders.resumes or by_hand)
    exported = _exported(job, given, library) | {
        name: str(value)
        for name, value in {
            "RUNFLAT_POLICY_LIBRARY": policy_library,
            "RUNFLAT_STORE": folders and folders.checkpoints,
            "RUNFLAT_SEGMENTS": folders and folders.segments,
            "RUNFLAT_JOB": None if folders is None or resumes else folders.job,
            "RUNFLAT_SITES": sites,
            "RUNFLAT_RESTART": 1 if again or resumes else None,
            "RUNFLAT_EVENTS": events,
        }.items()
        if value is not None
    }
    words = [str(mpirun), "--with-ft", "ulfm"]
    if os.geteuid() == 0:
        words.append("--allow-run-as-root")
    if job.hostfile is not None:
        words += ["--hostfile", str(job.hostfile), *_unless_given(job, "--map-by", "slot")]
    if is_oversubscribed(job, given):
        words += ["--oversubscribe", *_unless_given(job, "--bind-to", "none")]
    if job.refill:
        # Else the death of a process that was started later ends the job.
        words.append("--enable-recovery")
    if job.host_timeout_s is not None:
        words += _silence(job.host_timeout_s)
    words += job.mpirun_options
    for name, value in sorted(exported.items()):
        words += ["-x", f"{name}={value}"]
    words += ["-n", str(job.world_size), *job.program]
    return Line(words, exported)


def _exported(job: Job, given: Mapping[str, str], library: Path) -> dict[str, str]:
    """Give what the job says to its processes, beside what the environment does."""
    exported = {name: value for name, value in given.items() if name.startswith("RUNFLAT_")}
    exported["RUNFLAT_SPARES"] = str(job.spare_count)
    optional = {
        "RUNFLAT_SHAPE": job.shape,
        "RUNFLAT_TORUS": "1" if job.torus else None,
        "RUNFLAT_ALLOCATION": job.allocation,
        "RUNFLAT_POLICY": job.policy,
        "RUNFLAT_ON_EXHAUSTED": job.on_exhausted,
        "RUNFLAT_KILL": ",".join(map(str, job.kills)) or None,
        "RUNFLAT_STOP": ",".join(map(str, job.stops)) or None,
        "RUNFLAT_PARITY": None if job.parity is None else str(job.parity),
        "RUNFLAT_REFILL": "1" if job.refill else None,
        "RUNFLAT_WATCH_MS": job.watch,
        "RUNFLAT_STEP_LIMIT_S": None if job.step_limit_s is None else f"{job.step_limit_s:g}",
    }
    exported |= {name: value for name, value in optional.items() if value is not None}
    before = [word for word in re.split(r"[\s:]+", given.get("LD_PRELOAD", "")) if word]
    exported["LD_PRELOAD"] = ":".join([str(library), *before])
    return exported


def _silence(seconds: float) -> list[str]:
    """Let mpirun and its daemons ask each other for a sign of life after half the time, five times in the other half.

    A host that loses power says no word, and TCP waits for it as long as nothing is to be sent.
    """
    first = int(seconds / 2)
    between = max(int(seconds / 10), 1)
    asked = {"time": first, "intvl": between, "probes": max(int((seconds - first) / between), 1)}
    return [
        word
        for name, value in asked.items()
        for word in ("--prtemca", f"oob_tcp_keepalive_{name}", str(value))
    ]


def _unless_given(job: Job, option: str, value: str) -> list[str]:
    """Give an option that the user may have given otherwise; mpirun refuses it twice."""
    is_given = any(word.partition("=")[0] == option for word in job.mpirun_options)
    return [] if is_given else [option, value]


def is_oversubscribed(job: Job, environment: Mapping[str, str]) -> bool:
    """Say whether more processes are started than there are cores, as far as that is known.

    Raises
    ------
    MpiError
        If the hostfile cannot be read or names no host.
    """
    if job.hostfile is not None:
        slots = slots_of(read_hosts(job.hostfile))
        return slots is not None and job.world_size > slots
    if may_be_elsewhere(job.mpirun_options, environment):
        return False
    return job.world_size > core_count()
