"""What is to run and how it is to recover; refuses what does not fit together.

Ranks work, spares wait on top of them. They stand on a line, spares last, or on a grid as `runflat spares` has it, in which each
process is a node.

Limits: whether there are slots enough is not known here (`line`, and mpirun itself).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runflat._core import check_substitution_policy
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.injection import Injection, check_ranks
from runflat.spares import Job as SpareJob
from runflat.spares import read_shape

MOST_PROCESSES = 1 << 20

COUNTS = ("-n", "-np", "-c", "--n", "--np")
"""How mpirun is told how many processes to start."""


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
        if self.shape is not None and self.allocation is not None:
            return self._spares_of_the_grid(self.shape, self.allocation)
        if self.shape is not None:
            read_shape(self.shape)
            raise MpiError(
                f"--shape {self.shape} needs --alloc, which says where spares are, as 2D(1,1)"
            )
        if self.allocation is not None:
            raise MpiError(
                f"--alloc {self.allocation} needs --shape, the grid that ranks and spares stand on, as 4x3"
            )
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

    def _spares_of_the_grid(self, shape: str, allocation: str) -> int:
        grid = SpareJob(read_shape(shape), allocation, torus=self.torus)
        if grid.is_pair:
            raise MpiError(f"--alloc {allocation}: mpirun starts one job, the boundary has two")
        if self.policy is not None:
            check_substitution_policy(self.policy, len(grid.shape))
        spares = grid.spares if self.spares is None else self.spares
        if (self.ranks, spares) != (grid.ranks, grid.spares):
            given = f"{self.ranks} ranks" if self.spares is None else f"{self.ranks} and {spares}"
            raise MpiError(
                f"{shape} with {allocation} has room for {grid.ranks} ranks and {grid.spares} spares, "
                f"got {given}: a node of the shape is a process"
            )
        return spares
