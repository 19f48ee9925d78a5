"""What an engine is given on the command line: OpenSM's own inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from runflat import Machine, Refusal, Routing, _core, engine_names
from runflat._core import FormatError, RoutingError
from runflat.cli.options import show_warnings
from runflat.inputs import read_file
from runflat.routing import engine_name

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class EngineInputs:
    """The inputs that engines share.

    Attributes
    ----------
    roots, cn, io, routing_order, torus_conf : str or None
        GUID files, and the configuration of Torus-2QoS.
    lmc, max_vl : int
        LID mask count and virtual lanes.
    compat : str or None
        Whose order breaks ties.
    """

    roots: str | None
    cn: str | None
    io: str | None
    routing_order: str | None
    torus_conf: str | None
    lmc: int
    max_vl: int
    compat: str | None

    def route(self, machine: Machine, engine: str) -> Routing | Refusal:
        """Route a machine by an engine's name or notation."""
        torus_conf = self.torus_conf_text()
        try:
            return self._route(machine, engine, torus_conf)
        except RoutingError as error:
            if torus_conf is None or not str(error).startswith("line "):
                raise
            raise FormatError(f"{self.torus_conf}: {error}") from error

    def _route(self, machine: Machine, engine: str, torus_conf: str | None) -> Routing | Refusal:
        return machine.route(
            engine,
            roots=self._guids(machine, self.roots, "switches"),
            compute_nodes=self._guids(machine, self.cn, "endpoints"),
            io_nodes=self._guids(machine, self.io, "endpoints"),
            routing_order=self._guids(machine, self.routing_order, "owners"),
            lmc=self.lmc,
            max_vl=self.max_vl,
            compat=self.compat,
            torus_conf=torus_conf,
        )

    def torus_conf_text(self) -> str | None:
        """Return the configuration of Torus-2QoS, if a file was given."""
        if self.torus_conf is None:
            return None
        data, label = read_file(self.torus_conf)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{label}: is no text: {error}; give a torus-2QoS.conf") from error

    def _guids(self, machine: Machine, path: str | None, kind: str) -> list[str]:
        if path is None:
            return []
        found, warnings = _core.read_guids(machine._core, read_file(path), kind)
        show_warnings([f"{label}:{line}: {text}" for label, line, text in warnings])
        return found


def engine_inputs(function: Function) -> Function:
    """Add the options; the command gets them as `inputs`."""

    @functools.wraps(function)
    def command(*args: Any, **rest: Any) -> Any:
        own = {name: rest.pop(name) for name in EngineInputs.__dataclass_fields__}
        return function(*args, inputs=EngineInputs(**own), **rest)

    options = [
        _file("--roots", "Root GUID file (opensm -a), one a line."),
        _file("--cn", "Compute node GUID file (opensm -u)."),
        _file("--io", "I/O node GUID file (opensm -G)."),
        _file("--routing-order", "Port GUIDs balanced first (opensm -X)."),
        _file("--torus-conf", "torus-2QoS.conf; without: coordinates of a generated grid."),
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


ENGINE_HELP = (
    f"{', '.join(part['name'] for part in _core.engines())}, a plug-in, or with parameters: "
    '"dfsssp(layering=online)".'
)

engine_option = click.option(
    "--engine",
    default="minhop",
    show_default=True,
    help=ENGINE_HELP,
    shell_complete=lambda _context, _param, begun: [
        name for name in engine_names() if name.startswith(begun)
    ],
)


def title(engine: str) -> str:
    """Return what tables call an engine."""
    titles = {part["name"]: part["title"] for part in _core.engines()}
    name, bracket, params = engine.partition("(")
    return titles.get(engine_name(engine), name.strip()) + bracket + params


def _file(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(name, type=click.Path(dir_okay=False), help=text)
