"""`runflat spares`: how many spare nodes, who replaces whom, what it costs."""

from __future__ import annotations

import importlib

import click

SUBCOMMANDS = {
    "plan": "how many spare nodes a run needs, and where",
    "run": "a campaign from a plan, which goes on where it was",
    "study": "collisions after random failures: best, average, worst",
    "substitute": "which node replaces which failed one",
}


class _Lazy(click.Group):
    """Imports a command's file when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        command = importlib.import_module(f"runflat.cli.spares.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(
    cls=_Lazy,
    name="spares",
    epilog="Example: runflat spares plan --shape 36x36 --hours 72 --mtbf 26000",
)
def command() -> None:
    """Spare nodes: how many, who replaces whom, what it costs (Hori et al. 2016)."""
