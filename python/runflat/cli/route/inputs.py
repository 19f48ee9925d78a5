"""What an engine is given on the command line: OpenSM's own inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from runflat import Machine, Refusal, Routing, _core, plugins
from runflat._core import FormatError

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class EngineInputs:
    """The inputs that engines share, read from their files.

    Attributes
    ----------
    roots, compute_nodes, io_nodes, routing_order : list of str
        GUIDs or names.
    lmc, max_vl : int
        LID mask count and virtual lanes.
    compat : str or None
        Whose order breaks ties.
    """

    roots: list[str]
    compute_nodes: list[str]
    io_nodes: list[str]
    routing_order: list[str]
    lmc: int
    max_vl: int
    compat: str | None

    def route(self, machine: Machine, engine: str) -> Routing | Refusal:
        """Route a machine by an engine's name or notation."""
        return machine.route(engine, **vars(self))


def engine_inputs(function: Function) -> Function:
    """Add the options; the command gets them as `inputs`."""

    @functools.wraps(function)
    def command(
        *args: Any,
        roots: str | None,
        cn: str | None,
        io: str | None,
        routing_order: str | None,
        **rest: Any,
    ) -> Any:
        shared = {name: rest.pop(name) for name in ("lmc", "max_vl", "compat")}
        inputs = EngineInputs(
            roots=read_guids(roots, "root switch"),
            compute_nodes=read_guids(cn, "compute node"),
            io_nodes=read_guids(io, "I/O node"),
            routing_order=read_guids(routing_order, "destination"),
            **shared,
        )
        return function(*args, inputs=inputs, **rest)

    options = [
        _file("--roots", "Root GUID file (opensm -a), one a line."),
        _file("--cn", "Compute node GUID file (opensm -u)."),
        _file("--io", "I/O node GUID file (opensm -G)."),
        _file("--routing-order", "Port GUIDs balanced first (opensm -X)."),
        click.option(
            "--lmc", type=click.IntRange(0, 7), default=0, show_default=True,
            help="LID mask count: 2^LMC LIDs a node port.",
        ),
        click.option(
            "--max-vl", type=click.IntRange(1, 15), default=8, show_default=True,
            help="Virtual lanes.",
        ),
        click.option(
            "--compat", type=click.Choice(["opensm"]),
            help="Break ties as OpenSM 3.3.23 does, for its very tables.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command  # type: ignore[return-value]


def engine_names() -> list[str]:
    """Return all engines, built-in ones first."""
    return [part["name"] for part in _core.engines()] + plugins.names("engine")


ENGINE_HELP = (
    f"{', '.join(part['name'] for part in _core.engines())}, a plug-in, or with parameters: "
    '"dfsssp(layering=online)".'
)

engine_option = click.option("--engine", default="minhop", show_default=True, help=ENGINE_HELP)


def title(engine: str) -> str:
    """Return what tables call an engine."""
    titles = {part["name"]: part["title"] for part in _core.engines()}
    name, bracket, params = engine.partition("(")
    return titles.get(name.strip(), name) + bracket + params


def read_guids(path: str | None, what: str) -> list[str]:
    """Read a GUID file as OpenSM takes it: one a line, `#` begins a comment."""
    if path is None:
        return []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(
            f"{path}: cannot be read: {error}; give one GUID or name a line"
        ) from error
    found = [line.split("#")[0].strip() for line in lines]
    found = [text for text in found if text]
    if not found:
        raise FormatError(f"{path}: names no {what}; give one GUID or name a line")
    return found


def _file(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(name, type=click.Path(dir_okay=False), help=text)
