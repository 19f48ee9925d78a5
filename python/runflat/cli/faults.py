"""`runflat faults`: draw failures."""

from __future__ import annotations

import json
from typing import Any

import click

from runflat import __version__, _core
from runflat.cli.options import (
    FABRIC_HELP,
    fabric_argument,
    json_option,
    params_option,
    print_json,
    read_fabric,
    read_params,
    seed_option,
    show_parts,
    write_output,
)

MOST_NAMES = 20


@click.group(name="faults", epilog="Example: runflat faults draw fabric.txt --links 1% -o f.json")
def command() -> None:
    """Draw failures, the same for every recovery that is compared."""


@command.command(
    epilog="Example: runflat faults draw fabric.txt --links 5 --seed 7",
    help=f"""\
Draw what fails in a fabric. The first k failures of a sample are among its first k+1.

{FABRIC_HELP}""",
)
@fabric_argument
@click.option("--links", help="Switch-switch cables: a number or a per cent (rounded down).")
@click.option("--switches", help="Switches: a number or a per cent.")
@click.option("--nodes", help="Nodes: a number or a per cent.")
@click.option("--keep-connected", is_flag=True, help="Pass over failures that would cut nodes off.")
@click.option(
    "--model", default="random", show_default=True, help="Fault model; `faults models` lists them."
)
@params_option
@seed_option
@click.option("--sample", type=click.IntRange(0), default=0, show_default=True, help="Which draw.")
@click.option("-o", "output", type=click.Path(dir_okay=False), help="Write the fault file here.")
@json_option
def draw(
    fabric: str,
    links: str | None,
    switches: str | None,
    nodes: str | None,
    keep_connected: bool,
    model: str,
    params: tuple[str, ...],
    seed: int,
    sample: int,
    output: str | None,
    as_json: bool,
) -> int:
    given: dict[str, Any] = dict(read_params(params))
    named = {"links": links, "switches": switches, "nodes": nodes}
    given |= {name: value for name, value in named.items() if value is not None}
    if keep_connected:
        given["keep_connected"] = True
    machine = read_fabric(fabric)
    broken = machine.fail(model=model, seed=seed, sample=sample, **given)
    faults, cut = broken.faults, broken.cut_nodes()
    values = {
        "failed_links": faults.links,
        "failed_switches": faults.switches,
        "failed_nodes": faults.nodes,
        "cut_nodes": cut,
        "sample": sample,
        "machine": machine.name,
    }
    if output is not None:
        head = {"version": __version__, "seed": seed}
        write_output(output, json.dumps(head | values, indent=2, ensure_ascii=False) + "\n")
    if as_json:
        print_json("drawn", values, seed=seed)
        return 1 if cut else 0
    click.echo(
        f"{len(faults.links)} links, {len(faults.switches)} switches, {len(faults.nodes)} nodes "
        f"of {machine.name} fail (seed {seed}, sample {sample})"
    )
    for kind, names in (
        ("link", faults.links),
        ("switch", faults.switches),
        ("node", faults.nodes),
        ("cut off", cut),
    ):
        for name in names[:MOST_NAMES]:
            click.echo(f"  {kind}: {name}")
        if len(names) > MOST_NAMES:
            click.echo(f"  ... and {len(names) - MOST_NAMES} more")
    return 1 if cut else 0


@command.command(epilog="Example: runflat faults models")
@json_option
def models(as_json: bool) -> None:
    """List the fault models and their parameters."""
    show_parts(_core.fault_models(), "fault model", as_json=as_json)
