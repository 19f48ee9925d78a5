"""`runflat spares study`: collisions after random failures."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import asdict

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from runflat.cli.options import (
    complete_policy,
    json_option,
    print_json,
    seed_option,
    show_table,
    write_output,
)
from runflat.cli.spares.inputs import (
    job_options,
    page_option,
    read_choices,
    read_job,
    read_slowdown,
    slowdown_option,
    traffic_words,
)
from runflat.cli.spares.worst import prove, refuse_states
from runflat.spares import Campaign, Row, SparesError, read_nodes
from runflat.spares.slowdown import mean_slowdown
from runflat.spares.worst import STATES_MAX

MOST_ROWS = 16

Longer = dict[tuple[str, int], float | None]
"""By policy and failures: how many times as long an exchange takes; empty if nobody asked."""


@click.command(epilog="Example: runflat spares study --shape 9x9x9 --alloc '3D(2,1)' --policy 0D")
@job_options
@click.option(
    "--policy", "policies", multiple=True, default=("hybrid(all)",), show_default=True,
    shell_complete=complete_policy,
    help="0D, hybrid(all), optimal, ...; may be repeated to compare, all fail the same ranks.",
)  # fmt: skip
@click.option(
    "--failures", default="1..8", show_default=True, metavar="1..N", help="Failures of a sequence."
)
@click.option(
    "--samples", type=click.IntRange(1, 10**9), default=1000, show_default=True, help="Sequences."
)
@click.option(
    "--victims", type=click.Choice(["hosts", "alive"]), default="hosts", show_default=True,
    help="Nodes that fail: those with a rank, or idle spares too.",
)  # fmt: skip
@click.option(
    "--dead", default="", metavar="A,B,...", help="Nodes that are dead before the job starts."
)
@slowdown_option
@click.option(
    "--worst", "proves", is_flag=True,
    help="Draw nothing: prove the worst case of each number of failures (0D; 1D on a mesh).",
)  # fmt: skip
@click.option(
    "--states", "states_max", type=click.IntRange(1), default=STATES_MAX, show_default=True,
    help="With --worst: states of a search for one number of failures; beyond, a bound.",
)  # fmt: skip
@seed_option
@page_option
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@json_option
def command(
    shape: str,
    torus: bool,
    allocation: str,
    fold: str | None,
    fabric: str | None,
    engine: str | None,
    traffic: str,
    params: tuple[str, ...],
    sends: int | None,
    pick: str,
    tie: str,
    policies: tuple[str, ...],
    failures: str,
    samples: int,
    victims: str,
    dead: str,
    send_time: str | None,
    proves: bool,
    states_max: int,
    seed: int,
    page: str | None,
    no_progress: bool,
    as_json: bool,
) -> int:
    """Fail random nodes one after the other, many times: best, average and worst collisions."""
    job = read_job(
        shape, allocation, torus=torus, traffic=traffic, params=params, seed=seed,
        sends=sends, fold=fold, fabric=fabric, engine=engine,
    )  # fmt: skip
    first, last = read_failures(failures)
    times = read_slowdown(job, send_time)
    if proves:
        prove(job, policies, (first, last), states_max, tie, seed=seed, as_json=as_json)
        return 0
    refuse_states()
    campaign = Campaign(
        job, policies, last, read_choices(pick, tie, victims), tuple(read_nodes(dead))
    )
    console = Console(stderr=True)
    hidden = no_progress or not console.is_terminal
    with nullcontext() if hidden else Progress(console=console) as bar:
        task = None if bar is None else bar.add_task("sequences", total=samples)

        def report(done: int) -> None:
            if bar is not None and task is not None:
                bar.update(task, completed=done)

        tallies = campaign.run(range(samples), progress=report)
    rows = [row for row in campaign.rows(tallies, samples) if row.failures >= first]
    longer: Longer = {}
    if times is not None:
        every = [list(map(int, counts)) for tally in tallies for counts in tally.collisions]
        for row, counts in zip(campaign.rows(tallies, samples), every, strict=True):
            longer[row.policy, row.failures] = mean_slowdown(counts, times, job.collision_max)
    if page is not None:
        from runflat.report.spares_study_page import render_spares_study
        from runflat.spares.report_data import command_line, study_report_of

        words = traffic_words(job, traffic, params)
        report_of = study_report_of(
            campaign, tallies, samples, first=first, traffic=words, command=command_line()
        )
        write_output(page, render_spares_study(report_of))
    if as_json:
        values = {
            "shape": list(job.shape),
            "spares": job.spares,
            "samples": samples,
            "collisions_max_before": job.collision_max,
            "rows": [_values(row, longer) for row in rows],
        }
        print_json("done", values, seed=seed)
        return 0
    for policy in dict.fromkeys(row.policy for row in rows):
        own = [row for row in rows if row.policy == policy]
        show_table(_table(policy, own, longer))
    if not any(row.sequences for row in rows):
        click.echo(
            "No sequence finds a spare for so many failures: dead nodes may have used them up."
        )
    what = "messages on one channel, 1 is none"
    if job.round_count > 1:
        what += f", in the worst of {job.round_count} rounds"
    if job.collision_max != 1:
        what += f"; {job.collision_max} before anything fails"
    click.echo(f"{samples:,} sequences, seed {seed}; collisions are {what}")
    return 0


def read_failures(text: str) -> tuple[int, int]:
    """Read `1..8` or `8`."""
    match = re.fullmatch(r"\s*(?:(\d+)\s*\.\.\s*)?(\d+)\s*", text)
    if match is None:
        raise SparesError(f"--failures is written as 1..8, got {text!r}")
    first, last = int(match[1] or 1), int(match[2])
    if not 1 <= first <= last:
        raise SparesError(f"--failures goes from 1 or more up, got {text!r}")
    return first, last


def _values(row: Row, longer: Longer) -> dict[str, object]:
    own = (row.policy, row.failures)
    return asdict(row) | ({"slowdown": longer[own]} if own in longer else {})


def _table(policy: str, rows: list[Row], longer: Longer) -> Table:
    table = Table(title=policy, title_justify="left", title_style="bold", box=None)
    degrees = list(rows[-1].share or rows[0].share)
    times = ["times as long"] if longer else []
    for name in ("failures", "best", "average", "worst", *times, *degrees, "no spare left"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in _some(rows):
        values = [row.best, row.average, row.worst]
        values += [longer[row.policy, row.failures]] if longer else []
        numbers = ["-" if value is None else f"{value:.4g}" for value in values]
        shares = [
            f"{100 * row.share.get(degree, 0):.3g} %" if row.share else "-" for degree in degrees
        ]
        lost = f"{100 * row.unrecoverable:.3g} %" if row.unrecoverable else ""
        table.add_row(str(row.failures), *numbers, *shares, lost)
    return table


def _some(rows: list[Row]) -> list[Row]:
    """Of many rows the first few and some over the rest, the last among them."""
    if len(rows) <= MOST_ROWS:
        return rows
    head = rows[: MOST_ROWS // 2]
    rest = rows[MOST_ROWS // 2 :]
    step = len(rest) / (MOST_ROWS // 2)
    return head + [
        rest[min(len(rest) - 1, round((at + 1) * step) - 1)] for at in range(MOST_ROWS // 2)
    ]
