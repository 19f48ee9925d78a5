"""`runflat route`: route a fabric and prove the tables."""

from __future__ import annotations

import time

import click

from runflat import Check, Refusal, _core
from runflat.cli.options import (
    FABRIC_HELP,
    break_fabric,
    facts,
    faults_option,
    json_option,
    print_json,
    read_fabric,
    read_roots,
    show_table,
)
from runflat.routing import CHECK_KEYS

VERDICTS = {
    "ok": "every pair has a route, no credit loop",
    "deadlock": "every pair has a route, but a credit loop can close",
    "incomplete": "some pairs have no route",
}


@click.command(
    name="route",
    epilog="Example: runflat route fabric.txt --engine updn",
    help=f"""\
Route a fabric and prove the tables: every pair walked, every lane searched for a credit loop.

Exit status 1 if the engine refuses, a pair has no route or a credit loop exists.

{FABRIC_HELP}""",
)
@click.argument("fabric")
@click.option("--engine", default="minhop", show_default=True, help="minhop, updn or a plug-in.")
@click.option("--roots", type=click.Path(dir_okay=False), help="Root GUID file, one a line.")
@click.option(
    "--max-vl", type=click.IntRange(1, 15), default=8, show_default=True, help="Virtual lanes."
)
@faults_option
@json_option
def command(
    fabric: str,
    engine: str,
    roots: str | None,
    max_vl: int,
    faults_path: str | None,
    as_json: bool,
) -> int:
    machine = break_fabric(read_fabric(fabric), faults_path)
    started = time.monotonic()
    routing = machine.route(engine, roots=read_roots(roots), max_vl=max_vl)
    seconds = time.monotonic() - started
    if isinstance(routing, Refusal):
        if as_json:
            refused = {"engine": engine, "reason": routing.reason, "switch": routing.switch}
            print_json("refused", refused | dict.fromkeys(CHECK_KEYS) | {"seconds": seconds})
        else:
            at = f" (at {routing.switch})" if routing.switch else ""
            click.echo(f"{title(engine)} refuses {machine.name}: {routing.reason}{at}")
        return 1
    check = routing.check()
    if as_json:
        routed = {"engine": engine, "reason": None, "switch": None}
        print_json("routed", routed | check.summary() | {"seconds": seconds})
    else:
        click.echo(f"{title(engine)} on {machine.name}: {VERDICTS[check.verdict]}")
        planes = machine.plane_count
        apart = [("planes, each by itself", planes)] if planes > 1 else []
        show_table(facts([*apart, *check_rows(check), ("routing time", f"{seconds:.3f} s")]))
        show_trouble(check)
    return 0 if check.verdict == "ok" else 1


def title(engine: str) -> str:
    """Return what tables call an engine."""
    titles = {part["name"]: part["title"] for part in _core.engines()}
    return titles.get(engine, engine)


def check_rows(check: Check) -> list[tuple[str, object]]:
    """Lay out a check for people."""
    return [
        ("pairs", check.pairs),
        ("without a route", check.unreachable_pairs),
        ("hops, longest", check.hops_max),
        ("hops, mean", f"{check.hops_mean:.3f}"),
        ("not the shortest way", check.nonminimal_pairs),
        ("forwarding index, largest", check.forwarding_index_max),
        ("forwarding index, mean", f"{check.forwarding_index_mean:.1f}"),
        ("virtual lanes", check.vls),
    ]


def show_trouble(check: Check) -> None:
    """Print a credit loop and the first unreachable pairs."""
    if check.cycle is not None:
        one = "" if check.cycle_vl is None else f" on lane {check.cycle_vl}"
        click.echo(f"credit loop{one}: each channel waits for the next")
        for channel, vl in zip(check.cycle, check.cycle_vls or [], strict=True):
            click.echo(f"  {channel}" if one else f"  {channel} (lane {vl})")
    if check.unreachable_pairs:
        cut = check.cut_pairs
        click.echo(
            f"{check.unreachable_pairs:,} pairs have no route"
            + (f", {cut:,} of them because no cable joins them" if cut else "")
        )
        for source, target in check.unreachable:
            click.echo(f"  from {source} to {target}")
