"""`runflat route compare`: all engines on one fabric, side by side."""

from __future__ import annotations

import re
import time
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from runflat import Machine, Refusal, Routing, _core, engine_names, plugins
from runflat._core import RunflatError, WorkloadError
from runflat.cli.options import (
    FABRIC_HELP,
    break_fabric,
    fabric_argument,
    faults_option,
    json_option,
    print_json,
    read_fabric,
    seed_option,
    show_table,
)
from runflat.cli.route.inputs import EngineInputs, engine_inputs, title

KEYS = (
    "engine", "outcome", "reason", "switch", "verdict", "joined_verdict", "cycle", "unreachable_pairs",
    "cut_pairs", "hops_max", "hops_mean",
    "forwarding_index_max", "forwarding_index_mean", "vls", "layers", "throughput_gb_s", "seconds",
    "changed_entries", "lost_paths",
)  # fmt: skip
"""What a row of `--json` has; null where it does not apply."""

SAID = {"refused": "refuses: ", "failed": "failed: "}


@click.command(
    epilog="Example: runflat route compare fabric.txt --faults failed.json",
    help=f"""\
Route one fabric with every engine and show what comes of it, the best expected throughput first.

With --faults also what an outage costs: paths lost until the fabric is re-routed, and table entries that change.

Exit status 1 if no engine gives tables that serve every pair that cables join and are free of credit loops.

{FABRIC_HELP}""",
)
@fabric_argument
@click.option("--engines", help="Engines, commas between them.  [default: all]")
@click.option("--traffic", default="uniform", show_default=True, help="Workload for throughput.")
@engine_inputs
@seed_option
@faults_option
@json_option
def command(
    fabric: str,
    engines: str | None,
    traffic: str,
    inputs: EngineInputs,
    seed: int,
    faults_path: str | None,
    as_json: bool,
) -> int:
    intact = read_fabric(fabric)
    machine = break_fabric(intact, faults_path)
    names = engine_names() if engines is None else split_engines(engines)
    if plugins.find("workload", traffic) is None:
        _core.check_workload(traffic, {})
    rows = []
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("routing", total=len(names))
        for name in names:
            progress.update(task, description=title(name))
            try:
                before = None if faults_path is None else inputs.route(intact, name)
                rows.append(compared(machine, name, inputs, before, traffic, seed))
            except RunflatError as error:
                # A plug-in's mistake is shown in its row; one in the command concerns all.
                if name not in plugins.names("engine"):
                    raise
                failed = {"engine": name, "outcome": "failed", "reason": str(error)}
                rows.append(dict.fromkeys(KEYS) | failed)
            progress.advance(task)
    safe = [row for row in rows if row["joined_verdict"] == "ok"]
    if as_json:
        values = {"machine": machine.name, "traffic": traffic, "rows": rows}
        print_json("compared", values, seed=seed)
        return 0 if safe else 1
    show(machine, rows, traffic, broken=faults_path is not None, lmc=inputs.lmc)
    return 0 if safe else 1


def compared(
    machine: Machine,
    engine: str,
    inputs: EngineInputs,
    before: Routing | Refusal | None,
    traffic: str,
    seed: int,
) -> dict[str, Any]:
    """Route with one engine; `before` are its tables of the intact machine."""
    row: dict[str, Any] = dict.fromkeys(KEYS)
    row["engine"] = engine
    started = time.monotonic()
    routing = inputs.route(machine, engine)
    row["seconds"] = time.monotonic() - started
    row["outcome"] = routing.outcome
    if isinstance(before, Routing):
        row["lost_paths"] = before.lost_paths(machine)
    if isinstance(routing, Refusal):
        return row | {"reason": routing.reason, "switch": routing.switch}
    if isinstance(before, Routing):
        row["changed_entries"] = before.changed_entries(routing)
    check = routing.check()
    row |= {name: getattr(check, name) for name in KEYS if hasattr(check, name)}
    row["layers"] = routing.layers
    try:
        row["throughput_gb_s"] = routing.simulate(traffic, seed=seed).throughput_gb_s
    except WorkloadError as error:
        row["reason"] = str(error)
    return row


def show(
    machine: Machine, rows: list[dict[str, Any]], traffic: str, *, broken: bool, lmc: int
) -> None:
    """Print the table, safe engines first, by throughput."""
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in ("engine", "outcome"):
        table.add_column(name)
    numbers = ["hops", "hops mean", "index", "index mean", "lanes", "GB/s", "ms"]
    if broken:
        numbers += ["changed", "lost"]
    for name in numbers:
        table.add_column(name, justify="right")
    for row in sorted(rows, key=rank):
        cells = [
            number(row["hops_max"]), number(row["hops_mean"], ".2f"),
            number(row["forwarding_index_max"]), number(row["forwarding_index_mean"], ",.0f"),
            number(row["vls"]), number(row["throughput_gb_s"], ",.1f"), number(None if row["seconds"] is None else 1000 * row["seconds"], ",.1f"),
        ]  # fmt: skip
        if broken:
            cells += [number(row["changed_entries"]), number(row["lost_paths"])]
        table.add_row(title(row["engine"]), row["joined_verdict"] or row["outcome"], *cells)
    click.echo(f"Engines on {machine.name}, {traffic} traffic")
    show_table(table)
    cut = max((row["cut_pairs"] or 0 for row in rows), default=0)
    if cut:
        click.echo(
            f"{cut:,} pairs are cut off by the failures: no cable joins them, whatever the engine"
        )
    for row in rows:
        if row["reason"] is not None:
            at = f" (at {row['switch']})" if row["switch"] else ""
            said = SAID.get(row["outcome"], "gives no throughput: ")
            click.echo(f"{title(row['engine'])} {said}{row['reason']}{at}")
    if lmc > 0:
        click.echo(
            "GB/s: traffic goes to the first of the LIDs of each node, as applications' does"
        )
    click.echo(
        "hops: switch-switch channels of a route, longest and mean; index: routes over a channel, "
        "largest and mean" + ("; changed: table entries; lost: paths until then" if broken else "")
    )


def split_engines(text: str) -> list[str]:
    """Split a list of engines at `;`, or at `,` outside of brackets."""
    parts = text.split(";") if ";" in text else re.split(r",(?![^(]*\))", text)
    return [part.strip() for part in parts if part.strip()]


def rank(row: dict[str, Any]) -> tuple[int, float, float]:
    """Order rows: safe ones by throughput, then deadlocking, incomplete and refused ones."""
    order = ["ok", "deadlock", "incomplete", None]
    index = row["forwarding_index_max"] or 0
    return order.index(row["joined_verdict"]), -(row["throughput_gb_s"] or 0), index


def number(value: float | None, form: str = ",") -> str:
    """Write a number, or a dash for none."""
    return "-" if value is None else format(value, form)
