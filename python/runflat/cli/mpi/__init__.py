"""`runflat mpi`: the recovery layer under MPI programs."""

from __future__ import annotations

import click

from runflat.cli.lazy import lazy

SUBCOMMANDS = {
    "build": "compile the recovery library with your mpicc",
    "run": "start a program under it, inject failures, judge the end",
}


@click.group(
    cls=lazy(__name__, SUBCOMMANDS), name="mpi", epilog="Example: runflat mpi build --json"
)
def command() -> None:
    """Recovery for MPI programs, on a stock Open MPI 5.0 with fault tolerance."""
