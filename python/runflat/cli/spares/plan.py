"""`runflat spares plan`: how many spare nodes a run needs, and where."""

from __future__ import annotations

import math
import re
from dataclasses import asdict

import click
from rich.table import Table

from runflat.cli.options import (
    complete_policy,
    json_option,
    print_json,
    refuse_unused,
    seed_option,
    show_table,
)
from runflat.spares import Candidate, Run, SparesError, read_shape
from runflat.spares.granted import SYSTEMS, granted
from runflat.spares.shape import check_shape
from runflat.spares.sizing import (
    around,
    candidates,
    granted_candidates,
    smallest,
    smallest_for_policy,
    unrecoverable_by_policy,
)

MOST_ROWS = 14


@click.command(epilog="Example: runflat spares plan --shape 24x24x24 --hours 72 --mtbf 26000")
@click.option("--shape", help="Nodes along each dimension, spares included: 24x24x24.")
@click.option(
    "--nodes", type=click.IntRange(1, 10**9), help="Nodes with a rank; spares come on top."
)
@click.option(
    "--job",
    help="Nodes with a rank along each dimension, of a job that --system grants more nodes.",
)
@click.option(
    "--system", type=click.Choice(list(SYSTEMS)),
    help="Who grants nodes in blocks: the K computer, Blue Gene/Q, Cray XK7.",
)  # fmt: skip
@click.option("--torus", is_flag=True, help="The network closes around: matters to --policy.")
@click.option("--hours", type=float, required=True, help="How long the run takes.")
@click.option("--mtbf", type=float, metavar="HOURS", help="Mean time between failures of a node.")
@click.option(
    "--system-mtbf", type=float, metavar="HOURS",
    help="The same of all nodes of --shape or --nodes together.",
)  # fmt: skip
@click.option(
    "--risk", default="1%", show_default=True,
    help="Accepted probability that the run is aborted because spares run out.",
)  # fmt: skip
@click.option("--idle-fail", is_flag=True, help="Idle spares fail as often as other nodes.")
@click.option(
    "--policy", "policies", multiple=True, shell_complete=complete_policy,
    help="Measure what a policy makes of the smallest allocation that fits; may be repeated.",
)  # fmt: skip
@click.option(
    "--samples", type=click.IntRange(1, 10**9), default=1000, show_default=True,
    help="Sequences of failures for --policy.",
)  # fmt: skip
@seed_option
@json_option
def command(
    shape: str | None,
    nodes: int | None,
    job: str | None,
    system: str | None,
    torus: bool,
    hours: float,
    mtbf: float | None,
    system_mtbf: float | None,
    risk: str,
    idle_fail: bool,
    policies: tuple[str, ...],
    samples: int,
    seed: int,
    as_json: bool,
) -> int:
    """Say how many spare nodes keep the risk of an abort, and which allocations have as many."""
    if [shape, nodes, job].count(None) != 2:
        raise click.UsageError(
            "give one of --shape (spares included), --nodes (without spares) and --job with --system"
        )
    if (job is None) != (system is None):
        raise click.UsageError("--job and --system go together: --job 11x11x11 --system k")
    if not policies:
        refuse_unused(["samples", "seed"], "is for --policy: name a policy to measure")
    asked = None if job is None else _lengths(job)
    if asked is not None and system is not None:
        lengths: tuple[int, ...] | None = _granted(asked, system)
    else:
        lengths = None if shape is None else _lengths(shape)
    if lengths is None and policies:
        raise click.UsageError("--policy is measured on a grid: give --shape instead of --nodes")
    total = nodes if nodes is not None else math.prod(lengths or ())
    run = Run(hours, read_mtbf(mtbf, system_mtbf, total), read_risk(risk), idle_fail)
    best = None
    if lengths is None:
        needed = run.spares_needed(total)
        kept = needed is not None
        found = _near_cubes(total, run) if kept else []
    else:
        needed = run.spares_needed_of(total)
        if asked is not None and system is not None:
            found = granted_candidates(asked, system, run)
        else:
            found = candidates(lengths, run)
        best = None if needed == 0 else smallest(found)
        kept = best is not None or needed == 0
    measured: dict[str, float] = {}
    if best is not None and policies:
        measured = unrecoverable_by_policy(
            best, run, policies, torus=torus, samples=samples, seed=seed
        )
    kept_by = {
        policy: smallest_for_policy(best, run, policy, torus=torus, samples=samples, seed=seed)
        for policy, probability in measured.items()
        if best is not None and probability > run.risk and job is None
    }
    if as_json:
        values = {
            "nodes": total,
            "shape": lengths,
            "job": asked,
            "system": system,
            "hours": run.hours,
            "mtbf_hours": run.mtbf_hours,
            "risk": run.risk,
            "idle_fail": run.idle_fail,
            "expected_failures": run.expected_failures(total),
            "abort_probability_without_spares": run.abort_probability(total, 0),
            "spares_needed": needed,
            "abort_probability": _abort(run, total, needed, included=lengths is not None),
            "overhead": None if needed is None else needed / total,
            "allocation": None if best is None else best.allocation,
            "candidates": [asdict(one) for one in found],
            "policies": measured,
            "policy_allocations": {
                policy: None if found is None else {**asdict(found[0]), "measured": found[1]}
                for policy, found in kept_by.items()
            },
        }
        print_json("planned" if kept else "no_allocation", values, seed=seed if policies else None)
        return 0 if kept else 1
    _say(run, total, needed, included=lengths is not None)
    if found and needed != 0:
        show_table(_table(found, run))
    if lengths is not None:
        what = shape or f"{job} on {(system or '').upper()}"
        click.echo("No spare is needed." if needed == 0 else _choice(what, best, run))
    for policy, probability in measured.items():
        verdict = "" if probability <= run.risk else ": above the accepted risk"
        click.echo(
            f"  with {policy} it is aborted with probability {_per_cent(probability)}{verdict} "
            f"({samples:,} sequences, seed {seed})"
        )
        if policy in kept_by:
            click.echo(f"    {_keeper(kept_by[policy])}")
    return 0 if kept else 1


def read_risk(text: str) -> float:
    """Read `1%`, `0.5 %` or `0.01`."""
    match = re.fullmatch(r"\s*(\d*\.?\d+(?:[eE]-?\d+)?)\s*(%?)\s*", text)
    if match is None:
        raise SparesError(f"--risk is written as 1% or 0.01, got {text!r}")
    risk = float(match[1]) / (100 if match[2] else 1)
    if not 0 < risk < 1:
        raise SparesError(
            f"--risk lies between 0 and 100 %, both excluded, got {text!r}: write 1% or 0.01"
        )
    return risk


def read_mtbf(node: float | None, system: float | None, nodes: int) -> float:
    """Return the mean time between failures of one node, from that or from that of all."""
    if (node is None) == (system is None):
        raise click.UsageError("give either --mtbf (of one node) or --system-mtbf (of all nodes)")
    if node is not None:
        return node
    assert system is not None
    return system * nodes


def _lengths(shape: str) -> tuple[int, ...]:
    lengths = read_shape(shape)
    check_shape(lengths)
    return lengths


def _granted(job: tuple[int, ...], system: str) -> tuple[int, ...]:
    shape = granted(job, system)
    check_shape(shape)
    return shape


def _near_cubes(nodes: int, run: Run) -> list[Candidate]:
    grids = [around(nodes, dimensions, run) for dimensions in (1, 2, 3)]
    return [grid for grid in grids if grid is not None]


def _abort(run: Run, total: int, needed: int | None, *, included: bool) -> float | None:
    if needed is None:
        return None
    return run.abort_probability(total - needed if included else total, needed)


def _say(run: Run, total: int, needed: int | None, *, included: bool) -> None:
    click.echo(
        f"{run.hours:g} h on {total:,} nodes that fail every {run.mtbf_hours:,.6g} h each: "
        f"{run.expected_failures(total):.3g} failures to expect; without a spare "
        f"{_per_cent(run.abort_probability(total, 0))} of such runs are aborted."
    )
    if needed is None:
        click.echo(f"No number of spares keeps that to {_per_cent(run.risk)}.")
        return
    abort = _abort(run, total, needed, included=included)
    assert abort is not None
    among = "among them" if included else "on top"
    click.echo(
        f"Spares needed for at most {_per_cent(run.risk)}: {needed:,} {among} "
        f"({_per_cent(needed / total)} of {total:,}); {_per_cent(abort)} are aborted then."
    )


def _choice(shape: str, best: Candidate | None, run: Run) -> str:
    if best is None:
        return (
            f"No allocation of {shape} keeps the risk of {_per_cent(run.risk)}: "
            f"run shorter, take fewer or better nodes, or accept more."
        )
    corner = f", {best.corner:,} where sides cross" if best.corner else ""
    return (
        f"Smallest that fits: {best.allocation}, {best.spares:,} spares ({_per_cent(best.share)}){corner}. "
        f"0D and hybrid(all) can use them all; --policy measures others."
    )


def _keeper(found: tuple[Candidate, float] | None) -> str:
    if found is None:
        return "no allocation with a few more spares keeps it; take another policy"
    one, probability = found
    return (
        f"the smallest that keeps it: {one.allocation}, {one.spares:,} spares ({_per_cent(one.share)}), "
        f"aborted with probability {_per_cent(probability)}"
    )


def _table(found: list[Candidate], run: Run) -> Table:
    table = Table(box=None)
    table.add_column("allocation", no_wrap=True)
    for name in ("shape", "spares", "of all", "by formula", "in corners", "aborted"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    best = smallest(found)
    for one in _some(found):
        table.add_row(
            one.allocation,
            "x".join(map(str, one.shape)),
            f"{one.spares:,}",
            _per_cent(one.share),
            "" if one.share_by_formula is None else _per_cent(one.share_by_formula),
            f"{one.corner:,}",
            _per_cent(one.abort_probability),
            "smallest" if one is best else "fits" if one.fits else "too few",
        )
    return table


def _some(found: list[Candidate]) -> list[Candidate]:
    """Of many candidates those that fit, and the thinnest."""
    if len(found) <= MOST_ROWS:
        return found
    return [one for one in found if one.fits or one.allocation.endswith(",1)")]


def _per_cent(share: float) -> str:
    return "< 1e-10 %" if 0 < share < 1e-12 else f"{100 * share:.3g} %"
