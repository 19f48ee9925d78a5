"""`runflat route`: route a fabric and prove the tables."""

from __future__ import annotations

import time

import click

from runflat import Refusal
from runflat.cli.options import (
    FABRIC_HELP,
    break_fabric,
    fabric_argument,
    faults_option,
    json_option,
    print_json,
    read_fabric,
)
from runflat.cli.route.inputs import EngineInputs, engine_inputs, engine_option, title
from runflat.cli.route.verdict import show_check
from runflat.outcome import CHECK_KEYS


class _Unnamed(click.Context):
    """Knows no name of its own: the command is called as its group."""

    @property
    def command_path(self) -> str:
        return super().command_path.rstrip()


class _One(click.Command):
    context_class = _Unnamed


@click.command(
    name="route",
    cls=_One,
    epilog="Example: runflat route fabric.txt --engine updn",
    help=f"""\
Route a fabric and prove the tables: every pair walked, every lane searched for a credit loop.

Exit status 1 if the engine refuses, a pair has no route or a credit loop exists.

{FABRIC_HELP}""",
)
@fabric_argument
@engine_option
@engine_inputs
@faults_option
@json_option
def command(
    fabric: str,
    engine: str,
    inputs: EngineInputs,
    faults_path: str | None,
    as_json: bool,
) -> int:
    machine = break_fabric(read_fabric(fabric), faults_path)
    started = time.monotonic()
    routing = inputs.route(machine, engine)
    seconds = time.monotonic() - started
    if isinstance(routing, Refusal):
        if as_json:
            refused = {"engine": engine, "reason": routing.reason, "switch": routing.switch}
            refused["layers"] = None
            print_json("refused", refused | dict.fromkeys(CHECK_KEYS) | {"seconds": seconds})
        else:
            click.echo(f"{title(engine)} refuses {machine.name}: {routing}")
        return 1
    check = routing.check()
    if as_json:
        routed = {"engine": engine, "reason": None, "switch": None, "layers": routing.layers}
        print_json("routed", routed | check.summary() | {"seconds": seconds})
    else:
        layers = routing.layers
        lanes = [("of these for deadlock freedom", layers)] if layers != check.vls else []
        rows = [*lanes, ("routing time", f"{seconds:.3f} s")]
        show_check(f"{title(engine)} on {machine.name}", check, machine.plane_count, rows)
    return 0 if check.verdict == "ok" else 1
