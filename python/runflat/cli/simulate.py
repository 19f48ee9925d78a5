"""`runflat simulate`: throughput of a workload over given routes."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click
import numpy as np
from rich.console import Console

from runflat import Congestion, Flit, FlitOptions, Machine, Refusal, Routing, _core
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
    refuse_unused,
    seed_option,
    show_table,
)
from runflat.cli.route.inputs import EngineInputs, engine_inputs, engine_option, title
from runflat.cli.route.tables import TableFiles, table_files
from runflat.cli.route.verdict import counted

Function = TypeVar("Function", bound=Callable[..., Any])

WORKLOADS = ", ".join(part["name"] for part in _core.workloads())
PRESETS, PARAMETERS = _core.flit_parameters()

RESULTS: dict[str, Any] = dict.fromkeys(
    (
        "verdict", "vls", "cycle", "cycle_vls", "stuck", "throughput_gb_s", "half_width_gb_s", "simulated_ns", "warm_up_ns",
        "latency_ns_mean", "latency_ns_median", "latency_ns_p99", "memory_bytes", "delivered_flits", "flit_hops",
        "events", "cpu_seconds", "messages", "unrouted_messages", "collision_max", "received_gb_s_min",
        "received_gb_s_max",
    )
)  # fmt: skip
"""What `--json` prints of a result, null where the engine refuses or the mode does not know it."""

FEWEST_RANKS = 2

SAID = {
    "deadlock": "deadlock; packets wait for each other in a ring",
    "stuck": "stuck; ranks wait for messages that never come",
    "saturated": "saturated; packets move, but the rates did not become certain in the time that --most-us allows",
    "cut_short": "cut short before anything could be told; --most-us allows more time",
}
"""Outcomes that give no throughput."""


@dataclass(frozen=True)
class FlitInputs:
    """Options of the flit mode."""

    preset: str
    flit: tuple[str, ...]
    precision: float
    most_us: float

    def options(self) -> FlitOptions:
        """Return them as the library has them."""
        parameters = read_params(self.flit, "--flit")
        return FlitOptions(self.preset, parameters, self.precision, self.most_us)


def list_flit(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Explain presets and parameters, if that is wanted, and end."""
    if not wanted:
        return
    for title_of, explained in (("--preset", PRESETS), ("--flit NAME=VALUE", PARAMETERS)):
        click.echo(title_of)
        show_table(facts([(f"  {name}", text) for name, text in explained]))
    context.exit(0)


def flit_inputs(function: Function) -> Function:
    """Add the options of the flit mode; the command gets them as `flits`."""

    @functools.wraps(function)
    def command(*args: Any, **rest: Any) -> Any:
        own = {name: rest.pop(name) for name in FlitInputs.__dataclass_fields__}
        return function(*args, flits=FlitInputs(**own), **rest)

    options = [
        click.option(
            "--preset", type=click.Choice([name for name, _ in PRESETS]), default="sc14",
            show_default=True, help="Flit mode: what hosts, switches and cables are like.",
        ),
        click.option(
            "--flit", multiple=True, metavar="NAME=VALUE",
            help=f"Flit mode: a parameter other than the preset's, explained by --list-flit: "
            f"{', '.join(name for name, _ in PARAMETERS)}.",
        ),
        click.option(
            "--list-flit", is_flag=True, is_eager=True, expose_value=False, callback=list_flit,
            help="Say what presets and parameters of the flit mode are, and exit.",
        ),
        click.option(
            "--precision", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
            help="Flit mode: half the 99 % interval of a node's bandwidth, relative to the mean.",
        ),
        click.option(
            "--most-us", type=click.FloatRange(0, 1e7, min_open=True), default=100_000.0,
            show_default=True, help="Flit mode: most time to simulate.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command  # type: ignore[return-value]


@click.command(
    name="simulate",
    epilog="Example: runflat simulate fabric.txt --engine updn --mode flit\n\nA trace: runflat simulate fabric.txt --mode flit "
    "--traffic goal --param file=tree.goal",
    help=f"""\
Run a workload over the routes of an engine, or of tables from a file, and say what the fabric delivers.

The congestion mode shares channels max-min fairly; latency, buffers and deadlock are left out. The flit mode simulates every
flit under InfiniBand's flow control, until the rates are known or all messages have arrived.

Exit status 1 for a finding: refused, deadlock, stuck, saturated, cut short, pairs without a route.

{FABRIC_HELP}""",
)
@fabric_argument
@engine_option
@engine_inputs
@table_files(required=False, replaces_engine=True)
@click.option("--traffic", default="uniform", show_default=True, help=f"Workload: {WORKLOADS}.")
@params_option
@click.option(
    "--mode", type=click.Choice(["congestion", "flit"]), default="congestion", show_default=True
)
@click.option(
    "--injection-gb-s", type=float, help="Congestion mode: most that one node port injects."
)
@flit_inputs
@click.option(
    "--stats",
    is_flag=True,
    help="Also processor time; congestion mode: the busiest channels; flit mode: warm-up, flits, events, memory.",
)
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
    flits: FlitInputs,
    stats: bool,
    seed: int,
    faults_path: str | None,
    as_json: bool,
) -> int:
    if mode == "flit":
        refuse_unused(["injection_gb_s"], "is for --mode congestion: leave it out")
    else:
        refuse_unused(FlitInputs.__dataclass_fields__, "is for the flit mode: give --mode flit")
    options, rest = flits.options() if mode == "flit" else None, read_params(params)
    machine = break_fabric(read_fabric(fabric), faults_path)
    routing: Routing | Refusal
    routing = inputs.route(machine, engine) if files.lft is None else files.read(machine)
    made_by = engine if files.lft is None else None
    head: dict[str, Any] = {"engine": made_by, "lft": files.lft, "mode": mode, "traffic": traffic}
    head["preset"] = None if options is None else options.preset
    head["parameters"] = None if options is None else options.parameters
    name = title(engine) if files.lft is None else files.lft
    if machine.rank_count < FEWEST_RANKS:
        # Nothing is left that could talk: a result of the failures, not a mistake in the command.
        routing = Refusal(too_few(machine))
    if isinstance(routing, Refusal):
        if as_json:
            print_json("refused", head | {"reason": routing.reason} | RESULTS, seed=seed)
        else:
            click.echo(f"No throughput of {name} on {machine.name}: {routing}")
        return 1
    check = routing.check()
    started = time.process_time()
    result: Congestion | Flit
    if options is not None:
        with Console(stderr=True).status("simulating") as status:
            result = routing.simulate_flits(
                traffic,
                seed=seed,
                options=options,
                starting=say_memory,
                progress=Progress(status.update),
                **rest,
            )
    else:
        result = routing.simulate(traffic, seed=seed, injection_gb_s=injection_gb_s, **rest)
    cpu_seconds = time.process_time() - started
    bad_outcome = result.outcome not in ("steady", "complete")
    finding = int(check.verdict != "ok" or result.unrouted_messages > 0 or bad_outcome)
    if as_json:
        values = as_values(result)
        values |= {"verdict": check.verdict, "vls": check.vls, "cpu_seconds": cpu_seconds}
        if mode == "congestion":
            values["cycle"] = check.cycle
        print_json(result.outcome, head | {"reason": None} | RESULTS | values, seed=seed)
        return finding
    click.echo(f"{traffic} over {name} on {machine.name}: {headline(result)}")
    rows = facts_of(result)
    if options is not None:
        changed = (f"{name}={value}" for name, value in options.parameters.items())
        rows.append(("hosts, switches, cables", ", ".join([f"preset {options.preset}", *changed])))
    rows.append(("virtual lanes", check.vls))
    if routing.lmc > 0:
        rows.append(("LIDs in use", "the first of each node, as applications do"))
    if stats:
        rows += stats_of(result, cpu_seconds)
        if isinstance(result, Congestion):
            hottest = machine._core.hottest(result.load.tolist(), 5)
            rows += [("hot channel", text) for text in hottest]
    show_table(facts(rows))
    if isinstance(result, Flit) and result.cycle:
        click.echo("the ring: packets on each channel wait for the next")
        for channel, vl in zip(result.cycle, result.cycle_vls or [], strict=True):
            click.echo(f"  {channel} (lane {vl})")
    if isinstance(result, Flit) and result.stuck:
        click.echo(result.stuck)
    warn(check.verdict, result, loop=check.cycle is not None)
    return finding


def too_few(machine: Machine) -> str:
    """Say that there are too few nodes for a message."""
    nodes = counted(machine.rank_count, "node")
    if not any(machine.failed_counts):
        return f"{nodes} can send or receive, and messages take {FEWEST_RANKS}"
    return f"{nodes} {'is' if machine.rank_count == 1 else 'are'} left that can send or receive"


def say_memory(most_bytes: int) -> bool:
    """Say what a simulation takes; returns that it may begin."""
    click.echo(f"simulating in at most {mebibytes(most_bytes)} beside the fabric", err=True)
    return True


def mebibytes(size: int) -> str:
    """Write a size in MiB."""
    return f"{size / 2**20:,.1f} MiB"


class Progress:
    """Shows the simulated time now and then."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self.show = show
        self.next = 0.0

    def __call__(self, now_ns: float) -> bool:
        """Show the time; returns that the simulation goes on."""
        if time.monotonic() >= self.next:
            self.show(f"simulated {now_ns / 1000:,.0f} us")
            self.next = time.monotonic() + 0.2
        return True


def as_values(result: Congestion | Flit) -> dict[str, Any]:
    """Return what `--json` has of a result."""
    received = result.received_gb_s
    values = {name: getattr(result, name) for name in RESULTS if hasattr(result, name)}
    known = received.size > 0 and result.throughput_gb_s is not None
    values["received_gb_s_min"] = float(received.min()) if known else None
    values["received_gb_s_max"] = float(received.max()) if known else None
    return values


def headline(result: Congestion | Flit) -> str:
    """Say what came out: the time of a workload that ends, the throughput of others."""
    if result.outcome in SAID:
        return SAID[result.outcome]
    return micros(result) if timed(result) else f"{result.throughput_gb_s:,.1f} GB/s"


def timed(result: Congestion | Flit) -> bool:
    """Whether the time is what a workload is about: it ends, and takes some."""
    return result.outcome == "complete" and result.simulated_ns > 0


def micros(result: Congestion | Flit) -> str:
    """Write the simulated time."""
    return f"{result.simulated_ns / 1000:,.3f} us"


def facts_of(result: Congestion | Flit) -> list[tuple[str, object]]:
    """Lay out a result for people."""
    received = result.received_gb_s
    rows: list[tuple[str, object]] = [
        ("ranks", int(received.size)),
        ("messages", result.messages),
        ("without a route", result.unrouted_messages),
    ]
    if isinstance(result, Congestion):
        rows.append(
            ("largest collision", f"{counted(result.collision_max, 'message')} on one channel")
        )
    elif result.half_width_gb_s is not None:
        rows.append(("99 % interval", f"+- {result.half_width_gb_s:,.2f} GB/s"))
    if timed(result):
        rows.append(("throughput", f"{result.throughput_gb_s:,.3f} GB/s"))
    elif result.outcome == "complete" or isinstance(result, Flit):
        rows.append(("simulated time", micros(result)))
    if isinstance(result, Flit) and result.latency_ns_mean is not None:
        latencies = (result.latency_ns_mean, result.latency_ns_median, result.latency_ns_p99)
        mean, median, p99 = (f"{value or 0:,.0f}" for value in latencies)
        rows.append(
            ("message latency", f"{mean} / {median} / {p99} ns (mean / median / 99th percentile)")
        )
    # Rates of a simulation that came to no end say nothing.
    if received.size and result.throughput_gb_s is not None:
        low, mid, high = np.quantile(received, [0, 0.5, 1])
        rows.append(
            ("received per node", f"{low:.3f} / {mid:.3f} / {high:.3f} GB/s (min / median / max)")
        )
    return rows


def stats_of(result: Congestion | Flit, cpu_seconds: float) -> list[tuple[str, object]]:
    """Say what a simulation took."""
    rows: list[tuple[str, object]] = [("processor time", f"{cpu_seconds:.3f} s")]
    if isinstance(result, Flit):
        rate = result.flit_hops / cpu_seconds / 1e6 if cpu_seconds else 0.0
        rows += [
            ("warm-up left out", f"{result.warm_up_ns / 1000:,.0f} us"),
            ("flits that arrived", result.delivered_flits),
            ("flit-hops", f"{result.flit_hops:,} ({rate:,.1f} million per processor second)"),
            ("events", result.events),
            ("memory, at most", mebibytes(result.memory_bytes)),
        ]
    return rows


def warn(verdict: str, result: Congestion | Flit, *, loop: bool) -> None:
    """Say what the routing check has against the routes."""
    if verdict != "ok":
        also = ", and that a credit loop can close" if loop and verdict != "deadlock" else ""
        click.echo(
            f"warning: the routing check says {verdict}{also}; see `runflat route`", err=True
        )
    elif result.unrouted_messages > 0:
        click.echo("warning: some nodes share no plane, so their messages have no route", err=True)
