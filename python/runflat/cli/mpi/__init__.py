"""`runflat mpi`: the recovery layer under MPI programs."""

from __future__ import annotations

import importlib

import click

SUBCOMMANDS = {
    "build": "compile the recovery library with your mpicc",
    "run": "start a program under it, inject failures, judge the end",
}


class _Lazy(click.Group):
    """Imports a command's file when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        command = importlib.import_module(f"runflat.cli.mpi.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(cls=_Lazy, name="mpi", epilog="Example: runflat mpi build --json")
def command() -> None:
    """Recovery for MPI programs, on a stock Open MPI 5 with fault tolerance."""
