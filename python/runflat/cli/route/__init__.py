"""`runflat route`: route a fabric and prove the tables; check, compare and export them."""

from __future__ import annotations

import importlib

import click
from click.shell_completion import CompletionItem

SUBCOMMANDS = {
    "check": "prove tables read from a file",
    "compare": "all engines on one fabric, side by side",
    "engines": "list the engines and their parameters",
    "export": "write tables that OpenSM loads",
    "update": "what re-routing after failures changes, in a safe order",
}


class _RouteOrMore(click.Group):
    """`runflat route FABRIC` routes; `check`, `compare` and `export` are subcommands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = cmd_name if cmd_name in SUBCOMMANDS else "one"
        command = importlib.import_module(f"runflat.cli.route.{name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in SUBCOMMANDS:
            return super().resolve_command(ctx, args)
        return None, self.get_command(ctx, ""), args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # Completed as a file where it begins no subcommand.
        return [CompletionItem(incomplete, type="file"), *super().shell_complete(ctx, incomplete)]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        one = self.get_command(ctx, "")
        assert one is not None, "routing is always there"
        one.format_usage(ctx, formatter)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        one = self.get_command(ctx, "")
        assert one is not None, "routing is always there"
        one.format_help_text(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        one = self.get_command(ctx, "")
        assert one is not None, "routing is always there"
        one.format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(
    name="route",
    cls=_RouteOrMore,
    # Options of plain `route` may come before the fabric.
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: runflat route fabric.txt --engine updn",
)
def command() -> None:
    """Route a fabric and prove the tables."""
