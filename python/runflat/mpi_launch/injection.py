"""Failures on purpose, as they are asked for on the command line.

`RANK@SECONDS` is a rank some seconds after the last MPI_Init of the job has ended, `RANK@PHASE` its first phase of that name, `RANK@PHASE:2` its
second, either with `+SECONDS` behind it, `node-of:RANK@...` the host of that rank then, with its daemon: these are carried out by the
library inside the process (RUNFLAT_KILL, RUNFLAT_STOP). `node:HOST@SECONDS` is a host's daemon with all its processes,
`ranks:HOST@SECONDS` its processes alone, counted from the first end of an MPI_Init: these are carried out from outside, by `attempt`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import Event
from runflat.mpi_launch.hosts import is_this_machine, read_hosts

PHASES = ("checkpoint", "shrink", "agree", "repair", "reload", "restore", "join", "finalize")
"""Phases that the library knows."""


@dataclass(frozen=True)
class Injection:
    """A signal that a process sends itself: its rank in the world, and when, as the library reads it; or that ends its host."""

    rank: int
    when: str
    node: bool = False

    def __str__(self) -> str:
        return f"{'node-of:' if self.node else ''}{self.rank}@{self.when}"


@dataclass(frozen=True)
class NodeKill:
    """Processes of a host that are killed from outside.

    Attributes
    ----------
    host : str
        As in the hostfile.
    seconds : float
        After the first process has ended its MPI_Init.
    daemon : bool
        The host's daemon as well, which is what the loss of a node looks like.
    """

    host: str
    seconds: float
    daemon: bool

    def __str__(self) -> str:
        return f"{'node' if self.daemon else 'ranks'}:{self.host}@{self.seconds:g}"


def read_kill(text: str) -> Injection | NodeKill:
    """Read `3@1.5`, `5@shrink+0.002`, `5@restore:2`, `node-of:3@shrink`, `node:n7@2` or `ranks:n7@2`.

    Raises
    ------
    MpiError
        If it is none of these.
    """
    match = re.fullmatch(r"(node|ranks):([^@\s]+)@(.+)", text.strip())
    if match is None:
        of_rank = text.strip().removeprefix("node-of:")
        more = ", either with node-of: before it, node:HOST@SECONDS or ranks:HOST@SECONDS"
        return replace(_injection(of_rank, "--kill", more), node=of_rank != text.strip())
    seconds = _seconds(match[3])
    if seconds is None:
        raise MpiError(f"--kill takes {match[1]}:HOST@SECONDS, got {text!r}")
    if match[1] == "node" and is_this_machine(match[2]):
        raise MpiError(
            f"--kill node:{match[2]}: mpirun runs on that host and ends with it; ranks:{match[2]}@{match[3]} "
            f"kills its ranks alone"
        )
    return NodeKill(match[2], seconds, match[1] == "node")


def read_stop(text: str) -> Injection:
    """Read `3@1.5`, `5@shrink+0.002` or `5@restore:2`.

    Raises
    ------
    MpiError
        If it is neither.
    """
    return _injection(text, "--stop", "")


def check_ranks(injections: Sequence[Injection], world_size: int) -> None:
    """Refuse ranks that a job does not have."""
    for one in injections:
        if one.rank >= world_size:
            raise MpiError(
                f"there is no rank {one.rank} ({one}): the job has ranks 0 to {world_size - 1}, spares included"
            )


def check_hosts(kills: Sequence[NodeKill], hostfile: Path | None, *, elsewhere: bool) -> None:
    """Refuse to kill hosts that a job does not have, as far as its hosts are known before it runs.

    Parameters
    ----------
    kills : sequence of NodeKill
        What is to be killed from outside.
    hostfile : Path, optional
        Names all hosts.
    elsewhere : bool
        Without it mpirun may still know other hosts than this machine.

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
        if not known and not elsewhere and not is_this_machine(one.host):
            raise MpiError(
                f"--kill {one}: without --hostfile this machine is the only host, and mpirun itself its daemon; "
                f"name {one.host} in a hostfile"
            )


def _injection(text: str, option: str, more: str) -> Injection:
    match = re.fullmatch(r"(\d+)@(.+)", text.strip())
    if match is not None:
        if (seconds := _seconds(match[2])) is not None:
            return Injection(int(match[1]), f"{seconds:.9g}")
        of_phase = re.fullmatch(r"([a-z]+)(?::([1-9]\d{0,8}))?(?:\+(.+))?", match[2])
        if of_phase is not None and of_phase[1] not in PHASES:
            raise MpiError(
                f"{option} {text}: there is no phase {of_phase[1]!r}; there are {', '.join(PHASES)}"
            )
        if of_phase is not None and (after := _seconds(of_phase[3] or "0")) is not None:
            nth = "" if of_phase[2] in (None, "1") else f":{of_phase[2]}"
            return Injection(int(match[1]), f"{of_phase[1]}{nth}+{after:.9g}")
    raise MpiError(
        f"{option} takes RANK@SECONDS, RANK@PHASE or RANK@PHASE:2 (the second time), these with or without +SECONDS{more}; got {text!r}"
    )


def _seconds(text: str) -> float | None:
    """Read a number of seconds from 0 on."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def missed(planned: Sequence[Injection], events: Sequence[Event]) -> list[str]:
    """Tell of failures on request that have not come; where no rank has begun there is nothing to tell."""
    if not any(one.rank is not None for one in events):
        return []
    came = {one.rank for one in events if one.event in ("killed", "stopped")}
    return [
        f"nothing came of {str(one).removesuffix('+0')}: rank {one.rank} had ended by then, or never came there"
        for one in planned
        if one.rank not in came
    ]
