"""Tables from a file, as options of commands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from runflat import Machine, Routing
from runflat.cli.options import refuse_unused, show_warnings
from runflat.cli.route.inputs import EngineInputs

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class TableFiles:
    """Files that hold a routing.

    Attributes
    ----------
    lft, guid2lid, sl, sl2vl : str or None
        Forwarding tables, LIDs, service levels and SL-to-VL tables.
    """

    lft: str | None
    guid2lid: str | None
    sl: str | None
    sl2vl: str | None

    def read(self, machine: Machine) -> Routing:
        """Read them for a machine."""
        assert self.lft is not None, "commands ask for it"
        if self.sl2vl is not None and self.sl is None:
            raise click.UsageError("--sl2vl says what service levels become: give them with --sl")
        routing = Routing.read(
            machine, self.lft, guid2lid=self.guid2lid, sl=self.sl, sl2vl=self.sl2vl
        )
        show_warnings(routing.warnings)
        return routing


def table_files(
    *, required: bool, replaces_engine: bool = False, writes_lids: bool = False
) -> Callable[[Function], Function]:
    """Add the options; the command gets them as `files`. Where it writes LIDs, `--guid2lid` goes without `--lft` too."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def command(*args: Any, **rest: Any) -> Any:
            own = {name: rest.pop(name) for name in TableFiles.__dataclass_fields__}
            if own["lft"] is None:
                unused = ("sl", "sl2vl") if writes_lids else ("guid2lid", "sl", "sl2vl")
                refuse_unused(unused, "goes with tables from a file: give --lft, or leave it out")
            if not replaces_engine:
                return function(*args, files=TableFiles(**own), **rest)
            context = click.get_current_context()
            source = context.get_parameter_source("engine")
            if own["lft"] is not None and source is ParameterSource.COMMANDLINE:
                raise click.UsageError("give --engine or --lft: tables come from one of them")
            if own["lft"] is not None:
                inputs = EngineInputs.__dataclass_fields__
                refuse_unused(inputs, "goes with an engine: leave it out beside --lft")
            return function(*args, files=TableFiles(**own), **rest)

        options = [
            _file(
                "--lft", "Tables: opensm-lfts.dump, ibroute or dump_fts output, .fdbs.", required
            ),
            _file("--guid2lid", "OpenSM's LID file, for tables that name no port GUIDs."),
            _file("--sl", "Service levels (CSV as `route export` writes it); without: lane 0."),
            _file("--sl2vl", "SL-to-VL tables (CSV); without: lane = level."),
        ]
        for option in reversed(options):
            command = option(command)
        return command  # type: ignore[return-value]

    return decorate


def _file(name: str, text: str, required: bool = False) -> Callable[[Any], Any]:
    return click.option(name, type=click.Path(dir_okay=False), help=text, required=required)
