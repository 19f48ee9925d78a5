"""`runflat machine`: import, make, show, compare and export fabrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from runflat import _core, make, plugins
from runflat.cli.options import (
    FABRIC_HELP,
    fabric_argument,
    facts,
    json_option,
    print_json,
    read_fabric,
    show_table,
    write_output,
)
from runflat.machine import Machine

FORMATS = [part["name"] for part in _core.formats()]
MOST_NAMES = 6


@click.group(name="machine", epilog="Example: runflat machine show fabric.ibnetdiscover")
def command() -> None:
    """Import, make, show, compare and export fabrics."""


@command.command(name="import", epilog="Example: runflat machine import fabric.txt -o fabric.json")
@click.argument("file")
@click.option("-o", "output", type=click.Path(dir_okay=False), help="Write our JSON here.")
@json_option
def import_(file: str, output: str | None, as_json: bool) -> None:
    """Read FILE in any format known, say what is in it and keep it as JSON.

    Known are ibnetdiscover dumps, ibsim files, our JSON and Slurm's topology.conf.
    """
    machine = read_fabric(file)
    if output is not None:
        write_output(output, machine.write("json"))
    _show(machine, as_json)


@command.command(
    epilog="Example: runflat machine show fabric.ibnetdiscover",
    help=f"""\
Say what is in a fabric: counts, planes, unbalanced leaves, degraded links, distances.

{FABRIC_HELP}""",
)
@fabric_argument
@json_option
def show(fabric: str, as_json: bool) -> None:
    _show(read_fabric(fabric), as_json)


@command.command(
    epilog="Example: runflat machine export fabric.txt --to slurm-tree",
    help=f"""\
Write a fabric in another format.

{FABRIC_HELP}""",
)
@fabric_argument
@click.option("--to", "format_", required=True, type=click.Choice(FORMATS), help="The format.")
@click.option("-o", "output", type=click.Path(dir_okay=False), help="File; default: stdout.")
def export(fabric: str, format_: str, output: str | None) -> None:
    write_output(output, read_fabric(fabric).write(format_))


@command.command(epilog="Example: runflat machine diff planned.json found.ibnetdiscover")
@click.argument("expected")
@click.argument("found")
@json_option
def diff(expected: str, found: str, as_json: bool) -> int:
    """Compare two fabrics: missing, extra and wrongly plugged cables. Exit status 1 if they differ."""
    differences = read_fabric(expected).diff(read_fabric(found))
    sentences = differences["differences"]
    if as_json:
        print_json("different" if sentences else "same", differences)
    elif not sentences:
        click.echo("The fabrics are the same.")
    else:
        click.echo(f"{len(sentences)} differences:")
        for sentence in sentences:
            click.echo(f"  {sentence}")
    return 1 if sentences else 0


class _Generators(click.Group):
    """A subcommand a generator, with its parameters as options; also reads the papers' notation."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [part["name"] for part in _core.generators()] + plugins.names("generator")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = cmd_name.split("(")[0].strip().lower()
        known = {part["name"]: part for part in _core.generators()}
        if "-ary" in name:
            name = "kary-ntree"
        if name in known:
            return _generator_command(cmd_name, known[name])
        if plugins.find("generator", cmd_name) is not None:
            return _generator_command(cmd_name, {"summary": "", "params": []})
        return None


@command.command(cls=_Generators, name="make", subcommand_metavar="GENERATOR [OPTIONS]")
def make_() -> None:
    """Generate a machine by name and options, or in a paper's notation.

    Examples: runflat machine make torus --shape 4x4x4 -o torus.json;
    runflat machine make "XGFT(2; 16,16; 1,16)"
    """


def _generator_command(text: str, part: Mapping[str, Any]) -> click.Command:
    notation = text != part.get("name")
    options: list[click.Parameter] = [
        click.Option(
            [f"--{param['name'].replace('_', '-')}", f"param_{param['name']}"],
            required=param["default"] is None and not notation,
            metavar="VALUE",
            help=_param_help(param),
        )
        for param in part["params"]
    ]
    options += [
        click.Option(["-o", "output"], type=click.Path(dir_okay=False), help="Write it here."),
        click.Option(
            ["--to", "format_"], type=click.Choice(FORMATS), default="json", help="Format of -o.",
            show_default=True,
        ),
        click.Option(["--seed"], type=click.IntRange(0, 2**64 - 1), default=1, show_default=True),
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."),
    ]  # fmt: skip

    def run(output: str | None, format_: str, seed: int, as_json: bool, **values: Any) -> None:
        given = {name.removeprefix("param_"): v for name, v in values.items() if v is not None}
        machine = make(text, seed=seed, **given)
        if output is not None:
            write_output(output, machine.write(format_))
        _show(machine, as_json, seed=seed)

    return click.Command(text, callback=run, params=options, help=part["summary"])


def _param_help(param: dict[str, Any]) -> str:
    kind = "" if param["kind"] == "a text" else f" ({param['kind']})"
    default = f"  [default: {param['default']}]" if param["default"] else ""
    return f"{param['doc']}{kind}{default}"


def _show(machine: Machine, as_json: bool, *, seed: int | None = None) -> None:
    summary = machine.summary()
    if as_json:
        print_json("ok", {"name": machine.name} | summary, seed=seed)
        return
    click.echo(f"{machine.name}{' (synthetic)' if machine.synthetic else ''}")
    rows: list[tuple[str, object]] = [
        ("nodes", summary["nodes"]),
        ("switches", summary["switches"]),
        ("switch-switch links", summary["links"]),
        ("node links", summary["node_links"]),
        ("planes", summary["planes"]),
        ("leaf switches", summary["leaf_switches"]),
        (
            "unbalanced leaves",
            _some(summary["unbalanced_leaves"], summary["unbalanced_leaf_names"]),
        ),
        ("degraded links", _some(summary["degraded_links"], summary["degraded_link_names"])),
        ("rates", ", ".join(f"{count:,} x {rate}" for rate, count in summary["rates"])),
    ]
    if summary["aggregation_nodes"]:
        rows.append(("aggregation nodes", summary["aggregation_nodes"]))
    sampled = " (sampled)" if summary["distances_sampled"] else ""
    if summary["diameter"] is not None:
        rows.append(("diameter", f"{summary['diameter']} hops between switches{sampled}"))
        rows.append(("mean distance", f"{summary['distance_mean']:.2f} hops{sampled}"))
    if summary["bisection_gb_s"] is not None:
        rows.append(
            (
                "bisection, at most",
                f"{summary['bisection_gb_s']:,.0f} GB/s over {summary['bisection_links']:,} links",
            )
        )
    show_table(facts(rows))


def _some(count: int, names: list[str]) -> str:
    if count == 0:
        return "none"
    shown = ", ".join(names[:MOST_NAMES])
    return f"{count}: {shown}{', ...' if count > MOST_NAMES else ''}"
