"""Composes the launch line of a job: mpirun, what it needs for recovery, and the variables that the library reads.

| variable | from | meaning to the library |
| --- | --- | --- |
| `RUNFLAT_SPARES` | `--spares` | processes of the world that wait to take over |
| `RUNFLAT_SHAPE`, `RUNFLAT_TORUS`, `RUNFLAT_ALLOCATION` | `--shape --torus --alloc` | where ranks and spares stand; torus is `1` |
| `RUNFLAT_POLICY`, `RUNFLAT_POLICY_LIBRARY` | `--policy` | who takes over; the library that says so |
| `RUNFLAT_ON_EXHAUSTED` | `--on-exhausted` | `shrink` or `stop` |
| `RUNFLAT_KILL`, `RUNFLAT_STOP` | `--kill`, `--stop` | `3@1.5,5@shrink+0.002` |
| `RUNFLAT_REFILL` | `--refill` | `1`: new spares may be started for dead processes |
| `RUNFLAT_EVENTS` | `--events`, else a folder of the run | where each process writes `rank-N.jsonl` |
| `RUNFLAT_STEP_LIMIT_S` | `--step-limit` | the longest a step of a recovery may take |

An option wins over a variable of the environment; variables that begin with `RUNFLAT_` and have no option here go along as they are.

Limits: whether a job needs more slots than there are is known for this machine and for hostfiles that give slots; an allocation of a
scheduler is left to mpirun.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runflat._core import check_substitution_policy
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.injection import Injection, check_ranks
from runflat.spares import Job as SpareJob
from runflat.spares import read_shape

SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "FLUX_URI")
"""A variable of each scheduler whose allocation mpirun takes its slots from."""

MOST_PROCESSES = 1 << 20


COUNTS = ("-n", "-np", "-c", "--n", "--np")
"""How mpirun is told how many processes to start."""

NAMES_HOSTS = ("-H", "--host", "-host", "--machinefile", "-machinefile", "--hostfile", "-hostfile")


def check_options(options: Sequence[str]) -> None:
    """Refuse words for mpirun that say how many processes there are, which is for `-n` and `--spares` to say."""
    for word in options:
        if word.partition("=")[0] in COUNTS:
            raise MpiError(
                f"--mpirun-option {word}: how many processes mpirun starts is what -n and --spares say: leave it out"
            )


def check_watch(watch: str) -> None:
    """Refuse what is neither a time nor `events`."""
    if watch != "events" and (not re.fullmatch(r"\d*\.?\d+", watch) or float(watch) == 0):
        raise MpiError(f"--watch takes a time in ms (10) or `events`, got {watch}")


@dataclass(frozen=True)
class Job:
    """What is to run, and how it is to recover.

    Attributes
    ----------
    program : sequence of str
        The program and its arguments.
    ranks : int
        Ranks that work, at least 1.
    spares : int or None
        Processes on top that wait; None: as many as the allocation has, or none.
    shape, allocation : str or None
        The grid that ranks and spares stand on, as `4x3`, and where the spares are, as `2D(1,1)`. Each process is a node of it.
    torus : bool
        The grid closes around.
    policy : str or None
        Who takes over, as `hybrid(all)`; by default the nearest spare. Without a grid processes stand on a line, spares last.
    on_exhausted : str or None
        `shrink` or `stop`.
    hostfile : Path or None
        Hosts, as mpirun reads them.
    kills, stops : sequence of Injection
        Signals that processes send themselves.
    step_limit_s : float or None
        The longest a step of a recovery may take.
    mpirun_options : sequence of str
        Words handed to mpirun as they are.
    parity : int or None
        Ranks of a parity group, of fewer ranks one group, which are at least 2; None: whole second copies.
    watch : str or None
        In ms how often a thread looks for failures, or `events`: when the launcher tells of one.
    refill : bool
        The program may start new spares for processes that have died.
    host_timeout_s : float or None
        The longest silence of a host's daemon, at least 2; None: mpirun's own, 8 minutes.
    """

    program: Sequence[str]
    ranks: int
    spares: int | None = None
    shape: str | None = None
    allocation: str | None = None
    torus: bool = False
    policy: str | None = None
    on_exhausted: str | None = None
    hostfile: Path | None = None
    kills: Sequence[Injection] = ()
    stops: Sequence[Injection] = ()
    step_limit_s: float | None = None
    mpirun_options: Sequence[str] = ()
    parity: int | None = None
    watch: str | None = None
    refill: bool = False
    host_timeout_s: float | None = None
    spare_count: int = field(init=False)

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        if not self.program:
            raise MpiError("there is no program to run")
        if not 1 <= self.ranks <= MOST_PROCESSES:
            raise MpiError(f"a job has 1 to {MOST_PROCESSES:,} ranks, got {self.ranks}")
        if (self.spares or 0) < 0:
            raise MpiError(f"a job has 0 spares or more, got {self.spares}")
        object.__setattr__(self, "spare_count", self._counted_spares())
        if self.watch is not None:
            check_watch(self.watch)
        if self.refill and not self.spare_count:
            raise MpiError("--refill starts spares anew: add --spares, or --shape and --alloc")
        if self.parity is not None and self.ranks < 2:
            raise MpiError(
                f"--parity keeps what others can give back: a job needs at least 2 ranks for it, got {self.ranks}"
            )
        check_options(self.mpirun_options)
        check_ranks([*self.kills, *self.stops], self.world_size)

    @property
    def world_size(self) -> int:
        """Processes that are started: ranks and spares."""
        return self.ranks + self.spare_count

    def _counted_spares(self) -> int:
        if self.shape is None or self.allocation is None:
            if self.shape is not None or self.allocation is not None:
                raise MpiError("--shape and --alloc go together: where ranks and spares stand")
            if self.torus:
                raise MpiError("--torus is for a grid: add --shape and --alloc")
            if self.policy is not None:
                if not self.spares:
                    raise MpiError(
                        "--policy says which spare takes over: add --spares, or --shape and --alloc"
                    )
                # Without a grid the processes stand on a line, the spares at its end.
                check_substitution_policy(self.policy, 1)
            return self.spares or 0
        grid = SpareJob(read_shape(self.shape), self.allocation, torus=self.torus)
        if grid.is_pair:
            raise MpiError(
                f"--alloc {self.allocation}: mpirun starts one job, the boundary has two"
            )
        if self.policy is not None:
            check_substitution_policy(self.policy, len(grid.shape))
        spares = grid.spares if self.spares is None else self.spares
        if (self.ranks, spares) != (grid.ranks, grid.spares):
            raise MpiError(
                f"{self.shape} with {self.allocation} has room for {grid.ranks} ranks and {grid.spares} spares, "
                f"got {self.ranks} and {spares}: a node of the shape is a process"
            )
        return spares


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
    store: Path | None = None,
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
    store : Path, optional
        Folder for checkpoints on each host, which may be another one there.
    again : bool
        Go on from the checkpoints that an earlier job has left there.
    environment : mapping, optional
        By default that of this process.
    """
    given = os.environ if environment is None else environment
    exported = _exported(job, given, library) | {
        name: str(value)
        for name, value in {
            "RUNFLAT_POLICY_LIBRARY": policy_library,
            "RUNFLAT_STORE": store,
            "RUNFLAT_RESTART": 1 if again else None,
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
    return [] if _is_given(job, (option,)) else [option, value]


def _is_given(job: Job, names: Sequence[str]) -> bool:
    """Say whether one of these options is among the words for mpirun, as `--host a` or as `--host=a`."""
    return any(word.partition("=")[0] in names for word in job.mpirun_options)


def is_oversubscribed(job: Job, environment: Mapping[str, str]) -> bool:
    """Say whether more processes are started than there are cores, as far as that is known."""
    if job.hostfile is not None:
        slots = hostfile_slots(job.hostfile)
        return slots is not None and job.world_size > slots
    if _is_given(job, NAMES_HOSTS) or any(name in environment for name in SCHEDULERS):
        return False
    return job.world_size > core_count()


def host_lines(path: Path) -> list[str]:
    """Read the lines of a hostfile that name hosts.

    Raises
    ------
    MpiError
        If the file cannot be read or names no host.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise MpiError(f"{path}: cannot be read: {error.strerror}") from error
    hosts = [text for line in lines if (text := line.partition("#")[0].strip())]
    if not hosts:
        raise MpiError(f"{path}: names no host")
    return hosts


def hostfile_slots(path: Path) -> int | None:
    """Add up the slots of a hostfile; None where a host does not give them.

    Raises
    ------
    MpiError
        If the file cannot be read or names no host.
    """
    counts = [re.search(r"\bslots\s*=\s*(\d+)", host) for host in host_lines(path)]
    return sum(int(count[1]) for count in counts if count) if all(counts) else None


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
