"""What commands share: reading a fabric, common options, JSON output, tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from rich.console import Console
from rich.table import Table

from runflat import Faults, Machine, __version__, _core, load, make, plugins
from runflat._core import FaultError, RunflatError
from runflat.study.results import write_whole

Function = TypeVar("Function", bound=Callable[..., Any])

FABRIC_HELP = (
    "FABRIC is an ibnetdiscover dump or ibsim file, our JSON, a Slurm topology.conf, "
    'or a notation such as "16-ary 2-tree".'
)


def complete_file(
    _context: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave the completion to the shell, which knows its files."""
    return [CompletionItem(incomplete, type="file")]


def complete_policy(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete policies of spares as they are mostly wanted; any other one can be written."""
    return [name for name in POLICIES if name.startswith(incomplete)]


POLICIES = ("0D", "1D", "2D", "3D", "hybrid(all)", "hybrid(-1D)", "hybrid(-2D)", "optimal")
"""Policies that complete."""

fabric_argument = click.argument("fabric", shell_complete=complete_file)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True, help="The one seed."
)
faults_option = click.option(
    "--faults",
    "faults_path",
    type=click.Path(dir_okay=False),
    help="Failed parts, as `runflat faults draw -o` writes them.",
)
params_option = click.option(
    "--param",
    "-p",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the part chosen; may be repeated.",
)


def read_fabric(text: str, *, quiet: bool = False) -> Machine:
    """Read a fabric file, or generate what a notation says."""
    is_file = Path(text).exists() or not _is_notation(text)
    machine = load(text) if is_file else make(text)
    if not quiet:
        show_warnings(machine.warnings)
    return machine


def show_warnings(warnings: Sequence[str]) -> None:
    """Say what was odd in a file, the first few times."""
    for warning in warnings[:MOST_WARNINGS]:
        click.echo(f"warning: {warning}", err=True)
    if len(warnings) > MOST_WARNINGS:
        click.echo(f"warning: and {len(warnings) - MOST_WARNINGS} more", err=True)


MOST_WARNINGS = 10


def _is_notation(text: str) -> bool:
    known = [part["name"] for part in _core.generators()] + plugins.names("generator")
    return "(" in text or "-ary" in text or text in known


def break_fabric(machine: Machine, faults_path: str | None) -> Machine:
    """Apply a fault file, if one is given."""
    if faults_path is None:
        return machine
    faults = Faults.read(faults_path)
    try:
        return machine.fail(faults)
    except FaultError as error:
        raise FaultError(f"{faults_path}: {error}") from error


def read_params(texts: tuple[str, ...], option: str = "--param") -> dict[str, str]:
    """Read `NAME=VALUE` options, each name once."""
    params: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"{option} takes NAME=VALUE, got {text!r}")
        if name.strip() in params:
            raise click.UsageError(f"{option} {name.strip()} is given twice: give one value")
        params[name.strip()] = value.strip()
    return params


def print_json(outcome: str, values: dict[str, Any], *, seed: int | None = None) -> None:
    """Print the one JSON object of a command."""
    head: dict[str, Any] = {"version": __version__, "outcome": outcome}
    if seed is not None:
        head["seed"] = seed
    click.echo(json.dumps(head | values, ensure_ascii=False))


def refuse_unused(names: Iterable[str], advice: str) -> None:
    """Refuse options given on the command line that would change nothing."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} {advice}")


def write_output(path: str | None, text: str, *, quiet: bool = False) -> None:
    """Write text to a file in one piece, or to stdout."""
    if path is None or path == "-":
        click.echo(text, nl=not text.endswith("\n"))
        return
    target = Path(path)
    if not target.resolve().parent.is_dir():
        raise RunflatError(
            f"{path}: cannot be written: there is no folder {str(target.parent)!r}; make it first"
        )
    try:
        if target.exists() and not target.is_file():
            # A pipe or a device, as /dev/stdout, is written to; a file is replaced in one piece.
            target.write_text(text, encoding="utf-8")
        else:
            write_whole(target.resolve(), text.encode())
    except OSError as error:
        raise RunflatError(f"{path}: cannot be written: {error.strerror}") from error
    if not quiet:
        click.echo(f"wrote {path}", err=True)


def show_table(table: Table) -> None:
    """Print a table as wide as the terminal; plain where stdout is none."""
    console = Console(width=None if Console().is_terminal else 120, highlight=False)
    console.print(table)


def show_parts(parts: Sequence[Mapping[str, Any]], kind: str, *, as_json: bool) -> None:
    """List registered parts with their parameters, then those of plug-ins."""
    if as_json:
        registered: list[Mapping[str, Any]]
        registered = [{"name": name, "summary": None, "params": []} for name in plugins.names(kind)]
        print_json("listed", {"parts": [*parts, *registered]})
        return
    for part in parts:
        click.echo(f"{part['name']}: {part['summary']}")
        for param in part["params"]:
            default = f", default {param['default']}" if param["default"] else ""
            click.echo(f"  {param['name']}: {param['doc']} ({param['kind']}{default})")
    for name in plugins.names(kind):
        click.echo(f"{name}: registered")


def facts(rows: list[tuple[str, object]]) -> Table:
    """Lay out labels and values without lines."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in rows:
        table.add_row(label, f"{value:,}" if isinstance(value, int) else str(value))
    return table
