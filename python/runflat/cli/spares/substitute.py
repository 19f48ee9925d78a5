"""`runflat spares substitute`: which node replaces which failed one."""

from __future__ import annotations

from dataclasses import asdict

import click

from runflat.cli.options import (
    facts,
    json_option,
    print_json,
    read_params,
    seed_option,
    show_table,
    write_output,
)
from runflat.cli.spares.inputs import (
    job_options,
    page_option,
    read_choices,
    read_job,
    traffic_words,
)
from runflat.spares import Job, Substitution, read_nodes
from runflat.spares.answer import collision_change, step_sentence, substitution_answer

MOST_STEPS = 12


@click.command(
    epilog='Example: runflat spares substitute --shape 36x36 --alloc "2D(2,1)" '
    '--fail "(3,4),91" --policy "hybrid(all)"'
)
@job_options
@click.option(
    "--fail", "failed", required=True, metavar="A,B,...",
    help="Failed nodes in the order of failure: numbers from 0, x fastest, or coordinates as (3,4).",
)  # fmt: skip
@click.option(
    "--policy", default="hybrid(all)", show_default=True,
    help="0D, 1D, ..., hybrid(2D+1D+0D), hybrid(all), hybrid(-2D).",
)  # fmt: skip
@seed_option
@page_option
@json_option
def command(
    shape: str,
    torus: bool,
    allocation: str,
    traffic: str,
    params: tuple[str, ...],
    pick: str,
    tie: str,
    failed: str,
    policy: str,
    seed: int,
    page: str | None,
    as_json: bool,
) -> int:
    """Replace failed nodes by spares: the new place of each rank, and what it costs in collisions."""
    job = read_job(shape, allocation, torus=torus, traffic=traffic, params=params, seed=seed)
    found = job.substitute(policy, read_nodes(failed), choices=read_choices(pick, tie))
    if page is not None:
        from runflat.report.spares_slides_page import render_slides
        from runflat.spares.report_data import command_line, slides_report_of

        report = slides_report_of(
            job, found, policy, traffic=traffic, words=traffic_words(job, traffic, params),
            params=read_params(params), command=command_line(),
        )  # fmt: skip
        write_output(page, render_slides(report))
    status = 0 if found.outcome == "substituted" else 1
    if as_json:
        print_json(found.outcome, _values(found, policy), seed=seed)
        return status
    _show(job, found, policy)
    return status


def _values(found: Substitution, policy: str) -> dict[str, object]:
    return {
        "policy": policy,
        "reason": found.reason,
        "node_of_rank": found.node_of_rank,
        "moved": [asdict(move) for move in found.moved],
        "collisions_max": found.collision_max,
        "collisions_max_before": found.collision_max_before,
        "migration_steps": found.migration_steps,
        "hops_max": max((step.hops_max for step in found.steps), default=0),
        "shape_kept": found.shape_kept,
        "spares_left": found.spares_left,
        "steps": [asdict(step) for step in found.steps],
    }


def _show(job: Job, found: Substitution, policy: str) -> None:
    click.echo(substitution_answer(job, found, policy))
    show_table(
        facts(
            [
                ("largest collision", collision_change(found)),
                (
                    "shape of the job",
                    "kept" if found.shape_kept else "lost: tuned collectives may fall back",
                ),
                ("rounds of migration", found.migration_steps),
            ]
        )
    )
    for number, step in enumerate(found.steps[:MOST_STEPS], start=1):
        click.echo(f"  {number}. {step_sentence(job, step)}")
    if len(found.steps) > MOST_STEPS:
        click.echo(f"  ... and {len(found.steps) - MOST_STEPS} more; --json has all")
