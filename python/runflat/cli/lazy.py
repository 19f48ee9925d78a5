"""Groups of commands, each in a file of its own."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click


class LazyGroup(click.Group):
    """A group that imports the file of a command when it is used, so that `--help` and completion are quick.

    Attributes
    ----------
    files
        What each command is for, by name, in the order of `--help`.
    package
        Where the files are; each has a `command`.
    """

    files: Mapping[str, str] = {}
    package = ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of `--help`."""
        return list(self.files)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the file of a command and return it; None: there is no such one."""
        if cmd_name not in self.files:
            return None
        command = importlib.import_module(f"{self.package}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command is for without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.files.items()))


def lazy(package: str, files: Mapping[str, str]) -> type[LazyGroup]:
    """Return the class of a group whose commands are the files of a package."""
    return type("Group", (LazyGroup,), {"files": files, "package": package})
