"""`runflat simulate`: throughput of a workload over given routes."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

from runflat import Refusal, Routing, _core
from runflat.cli.options import (
    FABRIC_HELP,
    break_fabric,
    fabric_argument,
    facts,
    faults_option,
    json_option,
    params_option,
    print_json,
    read_fabric,
    read_params,
    seed_option,
    show_table,
)
from runflat.cli.route.inputs import EngineInputs, engine_inputs, engine_option, title
from runflat.cli.route.tables import TableFiles, table_files

WORKLOADS = ", ".join(part["name"] for part in _core.workloads())


RESULTS: dict[str, Any] = dict.fromkeys(
    (
        "verdict", "cycle", "throughput_gb_s", "simulated_ns", "delivered_flits", "flit_hops",
        "cpu_seconds", "messages", "unrouted_messages", "collision_max", "received_gb_s_min",
        "received_gb_s_max",
    )
)  # fmt: skip
"""What `--json` prints of a result, null where the engine refuses or the mode does not know it."""


FEWEST_RANKS = 2


@click.command(
    name="simulate",
    epilog="Example: runflat simulate fabric.txt --engine updn",
    help=f"""\
Run a workload over the routes of an engine, or of tables from a file, and say what the fabric delivers.

The congestion mode shares channels max-min fairly; latency, buffers and deadlock are left out.

{FABRIC_HELP}""",
)
@fabric_argument
@engine_option
@engine_inputs
@table_files(required=False, replaces_engine=True)
@click.option("--traffic", default="uniform", show_default=True, help=f"Workload: {WORKLOADS}.")
@params_option
@click.option("--mode", type=click.Choice(["congestion"]), default="congestion", show_default=True)
@click.option("--injection-gb-s", type=float, help="Most that one node port injects, in GB/s.")
@click.option("--stats", is_flag=True, help="Also the spread over nodes and the hottest channels.")
@seed_option
@faults_option
@json_option
def command(
    fabric: str,
    engine: str,
    inputs: EngineInputs,
    files: TableFiles,
    traffic: str,
    params: tuple[str, ...],
    mode: str,
    injection_gb_s: float | None,
    stats: bool,
    seed: int,
    faults_path: str | None,
    as_json: bool,
) -> int:
    machine = break_fabric(read_fabric(fabric), faults_path)
    routing: Routing | Refusal
    routing = inputs.route(machine, engine) if files.lft is None else files.read(machine)
    made_by = engine if files.lft is None else None
    head = {"engine": made_by, "lft": files.lft, "mode": mode, "traffic": traffic}
    name = title(engine) if files.lft is None else files.lft
    if machine.rank_count < FEWEST_RANKS:
        # Nothing is left that could talk: a result of the failures, not a mistake in the command.
        routing = Refusal(f"{machine.rank_count} nodes are left that can send or receive")
    if isinstance(routing, Refusal):
        if as_json:
            print_json("refused", head | {"reason": routing.reason} | RESULTS, seed=seed)
        else:
            click.echo(f"No throughput of {name} on {machine.name}: {routing}")
        return 1
    check = routing.check()
    started = time.process_time()
    result = routing.simulate(
        traffic, seed=seed, injection_gb_s=injection_gb_s, **read_params(params)
    )
    cpu_seconds = time.process_time() - started
    received = result.received_gb_s
    finding = int(check.verdict != "ok" or result.unrouted_messages > 0)
    if as_json:
        values = RESULTS | {
            "verdict": check.verdict,
            "cycle": check.cycle,
            "throughput_gb_s": result.throughput_gb_s,
            "simulated_ns": result.simulated_ns,
            "cpu_seconds": cpu_seconds,
            "messages": result.messages,
            "unrouted_messages": result.unrouted_messages,
            "collision_max": result.collision_max,
            "received_gb_s_min": float(received.min()) if received.size else None,
            "received_gb_s_max": float(received.max()) if received.size else None,
        }
        print_json(result.outcome, head | {"reason": None} | values, seed=seed)
        return finding
    click.echo(f"{traffic} over {name} on {machine.name}: {result.throughput_gb_s:,.1f} GB/s")
    rows: list[tuple[str, object]] = [
        ("ranks", int(received.size)),
        ("messages", result.messages),
        ("without a route", result.unrouted_messages),
        ("largest collision", f"{result.collision_max:,} messages on one channel"),
    ]
    if result.outcome == "complete":
        rows.append(("time", f"{result.simulated_ns / 1000:,.3f} us"))
    if received.size:
        low, mid, high = np.quantile(received, [0, 0.5, 1])
        rows.append(
            ("received per node", f"{low:.3f} / {mid:.3f} / {high:.3f} GB/s (min / median / max)")
        )
    if routing.lmc > 0:
        rows.append(("LIDs in use", "the first of each node, as applications do"))
    if stats:
        rows.append(("processor time", f"{cpu_seconds:.3f} s"))
        rows += [("hot channel", text) for text in machine._core.hottest(result.load.tolist(), 5)]
    show_table(facts(rows))
    loop = (
        ", and that a credit loop can close" if check.cycle and check.verdict != "deadlock" else ""
    )
    if check.verdict != "ok":
        click.echo(
            f"warning: the routing check says {check.verdict}{loop}; see `runflat route`", err=True
        )
    elif finding:
        click.echo("warning: some nodes share no plane, so their messages have no route", err=True)
    return finding
