"""Hosts of one machine: each process sees the name of the host that its daemon was started for.

Stands for ssh: a remote shell that starts a daemon in a namespace with another host name. A host that is lost has started its
last daemon; the shell refuses another one, as ssh does, and what the host kept in the folder `store` is gone.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from opensm.missing import Missing

PORTS = 200
"""More than the processes of a job."""

SHELL = """#!/bin/bash
# Drops options, takes the host, runs the rest under its name.
while [[ $1 == -* ]]; do shift; done
host=$1; shift
here=$(dirname "$0")
if [ -e "$here/down-$host" ]; then
  rm -rf "$here/store/$host"
  echo "$host: no route to host" >&2
  exit 255
fi
[ -e "$here/last-$host" ] && mv "$here/last-$host" "$here/down-$host"
# What a daemon that is killed leaves goes with the folder.
mkdir -p "$here/tmp"
export TMPDIR=$here/tmp
exec ENTER unshare --uts bash -c "hostname $host; $*"
"""


OWN_MEMORY = """unshare --mount bash -c "mkdir -p $here/memory/$host
mount --bind $here/memory/$host /dev/shm
exec \\"\\$@\\"" own-memory"""
"""Words of `enter` by which each host has a /dev/shm of its own, in the folder `memory`."""


@dataclass(frozen=True)
class Hosts:
    """Hosts with the same number of slots each."""

    folder: Path
    names: tuple[str, ...]
    slots: int
    within: tuple[str, ...] = ()
    """Words before a command that is to run beside them, on their network."""
    ports: int = 0
    """First of a range of their own: else who connects to a process that has died may meet one of another job of this machine."""

    @property
    def hostfile(self) -> Path:
        """As mpirun reads it."""
        return self.folder / "hosts"

    @property
    def shell(self) -> Path:
        """What mpirun starts daemons with."""
        return self.folder / "shell"

    @property
    def settings(self) -> list[str]:
        """How mpirun starts daemons; and that processes share cores, which it does not see from the slots."""
        agent = ["--prtemca", "plm_ssh_agent", str(self.shell)]
        ports = [
            ["--mca", f"btl_tcp_{what}_{kind}", str(value)]
            for kind in ("v4", "v6")
            for what, value in (("port_min", self.ports), ("port_range", PORTS))
        ]
        own = [word for setting in ports for word in setting] if self.ports else []
        return [*agent, *own, "-x", "OMPI_MCA_mpi_yield_when_idle=1"]

    @property
    def options(self) -> list[str]:
        """What tells mpirun of them."""
        return [*self.settings, "--hostfile", str(self.hostfile), "--map-by", "slot"]

    @property
    def store(self) -> Path:
        """Where hosts keep checkpoints."""
        return self.folder / "store"

    def lose(self, name: str) -> None:
        """Let a host start one more daemon, and never another one."""
        (self.folder / f"last-{name}").touch()

    def allocation(self) -> dict[str, str]:
        """Give the variables by which a scheduler (PBS) tells mpirun of them; daemons are started as otherwise."""
        nodes = self.folder / "nodes"
        lines = [f"{name}\n" * self.slots for name in self.names]
        nodes.write_text("".join(lines), encoding="utf-8")
        return {
            "PBS_JOBID": "1.stand-in",
            "PBS_ENVIRONMENT": "PBS_BATCH",
            "PBS_NODEFILE": str(nodes),
            "PRTE_MCA_plm": "ssh",
        }

    def clear(self) -> None:
        """Delete the shared memory of Open MPI that killed daemons have left; whoever else has hosts of these names loses theirs."""
        for name in self.names:
            for segment in Path("/dev/shm").glob(f"sm_segment.{name}.*"):
                segment.unlink(missing_ok=True)


def make_hosts(
    folder: Path,
    count: int,
    slots: int,
    *,
    within: tuple[str, ...] = (),
    enter: str = "",
    name: str = "fake",
    ports: int = 0,
) -> Hosts:
    """Make hosts, called by the name and a letter; `enter` stands before what runs on a host, whose name is in the variable `host`.

    Raises
    ------
    Missing
        If `unshare --uts` is not installed or not allowed here.
    """
    tool = shutil.which("unshare")
    if (
        tool is None
        or subprocess.run([tool, "--uts", "true"], check=False, capture_output=True).returncode
    ):
        raise Missing("unshare --uts: not installed or not allowed")
    folder.mkdir(parents=True, exist_ok=True)
    made = Hosts(
        folder, tuple(f"{name}{letter}" for letter in "ABCDEFGH"[:count]), slots, within, ports
    )
    made.hostfile.write_text(
        "".join(f"{name} slots={slots}\n" for name in made.names), encoding="utf-8"
    )
    made.shell.write_text(SHELL.replace("ENTER", enter), encoding="utf-8")
    made.shell.chmod(0o755)
    return made
