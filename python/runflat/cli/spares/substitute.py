"""`runflat spares substitute`: which node replaces which failed one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import click

from runflat.cli.options import (
    complete_policy,
    facts,
    json_option,
    print_json,
    read_params,
    refuse_unused,
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
from runflat.spares import Hosts, Job, Launch, LaunchFile, Substitution
from runflat.spares.alternatives import LinesLeftOut, leave_out_fewest
from runflat.spares.answer import (
    collision_change,
    lines_left_out_words,
    step_sentence,
    substitution_answer,
)
from runflat.spares.slowdown import slowdown

MOST_STEPS = 12


@click.command(epilog="Example: runflat spares substitute --shape 6x6 --alloc '2D(2,1)' --fail 9")
@job_options
@click.option(
    "--fail", "failed", required=True, metavar="A,B,...",
    help="Failed nodes in the order of failure: numbers from 0, x fastest, coordinates as (3,4), or host names.",
)  # fmt: skip
@click.option(
    "--policy", default="hybrid(all)", show_default=True, shell_complete=complete_policy,
    help="0D, 1D, ..., hybrid(2D+1D+0D), hybrid(all), hybrid(-2D), or a search: optimal, optimal(trials=1000, moves=30).",
)  # fmt: skip
@click.option(
    "--hosts", "hosts_path", type=click.Path(dir_okay=False),
    help="Names of the nodes, one a line, x fastest, or as n[0-35]; default: node0, node1, ...",
)  # fmt: skip
@click.option(
    "--export", "folder", type=click.Path(file_okay=False), metavar="DIR",
    help="Write rankfiles, hostfile, MPICH_RANK_ORDER and SLURM_HOSTFILE, and say how each is launched.",
)  # fmt: skip
@click.option(
    "--ranks-per-node", type=click.IntRange(1, 100_000), default=1, show_default=True,
    help="MPI ranks on a node, consecutive, in the files of --export.",
)  # fmt: skip
@slowdown_option
@seed_option
@page_option
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
    failed: str,
    policy: str,
    hosts_path: str | None,
    folder: str | None,
    ranks_per_node: int,
    send_time: str | None,
    seed: int,
    page: str | None,
    as_json: bool,
) -> int:
    """Replace failed nodes by spares: the new place of each rank, and what it costs in collisions."""
    if folder == "":
        raise click.UsageError("--export names no folder")
    if folder is None:
        refuse_unused(["ranks_per_node"], "is for the files that --export writes: add --export DIR")
    job = read_job(
        shape, allocation, torus=torus, traffic=traffic, params=params, seed=seed,
        sends=sends, fold=fold, fabric=fabric, engine=engine,
    )  # fmt: skip
    hosts = Hosts.numbered(job.nodes) if hosts_path is None else Hosts.read(hosts_path, job.shape)
    times = read_slowdown(job, send_time)
    nodes = hosts.read_nodes(failed)
    if not nodes:
        raise click.UsageError("--fail names no node: give numbers, coordinates or host names")
    if folder is not None and job.is_pair:
        raise click.UsageError("--export starts one job, the boundary has two: leave it out")
    found = job.substitute(policy, nodes, choices=read_choices(pick, tie))
    instead = leave_out_fewest(job.shape, [job.coordinates(step.failed) for step in found.steps])
    if page is not None:
        from runflat.report.spares_slides_page import render_slides
        from runflat.spares.report_data import command_line, slides_report_of

        report = slides_report_of(
            job, found, policy, traffic=traffic, words=traffic_words(job, traffic, params),
            params=read_params(params), command=command_line(),
        )  # fmt: skip
        write_output(page, render_slides(report))
    status = 0 if found.outcome == "substituted" else 1
    files: list[LaunchFile] = []
    if folder is not None and status == 0:
        files = Launch(found.node_of_rank, hosts, ranks_per_node).write(folder)
    if as_json:
        values = _values(found, policy)
        values["without_spares"] = asdict(instead)
        if times is not None:
            values["slowdown"] = slowdown(found.collision_max, times, found.collision_max_before)
        if hosts_path is not None:
            values["host_of_rank"] = [hosts.names[node] for node in found.node_of_rank]
        if folder is not None:
            values["files"] = [asdict(file) for file in files]
        print_json(found.outcome, values, seed=seed)
        return status
    _show(job, found, policy, hosts, instead, times)
    if folder is not None:
        _show_files(files, folder, ranks_per_node)
    return status


def _show_files(files: list[LaunchFile], folder: str, ranks_per_node: int) -> None:
    if not files:
        click.echo(f"Nothing is written to {folder}: a rank has no node.")
        return
    each = "" if ranks_per_node == 1 else f", {ranks_per_node} consecutive ranks a node"
    click.echo(f"Written to {folder}{each}; start one of:")
    for file in files:
        click.echo(f"  {file.launcher}:\n    {file.launch}")


def _values(found: Substitution, policy: str) -> dict[str, object]:
    return {
        "policy": policy,
        "reason": found.reason,
        "node_of_rank": found.node_of_rank,
        "moved": [asdict(move) for move in found.moved],
        "collisions_max": found.collision_max,
        "collision_bound": found.collision_bound,
        "collisions_max_before": found.collision_max_before,
        "rounds": found.rounds,
        "rounds_before": found.rounds_before,
        "migration_steps": found.migration_steps,
        "hops_max": max((step.hops_max for step in found.steps), default=0),
        "shape_kept": found.shape_kept,
        "spares_left": found.spares_left,
        "steps": [asdict(step) for step in found.steps],
    }


def _show(
    job: Job,
    found: Substitution,
    policy: str,
    hosts: Hosts,
    instead: LinesLeftOut,
    times: float | None,
) -> None:
    click.echo(substitution_answer(job, found, policy))
    rounds = []
    if job.round_count > 1:
        words = f"{found.rounds} times of a message, {found.rounds_before} before"
        rounds.append((f"{job.round_count} rounds of traffic", words))
    if job.is_pair and found.steps:
        _, first, second = found.steps[-1].collisions
        rounds.append(("each job alone", f"first {first}, second {second} on one channel"))
    if times is not None:
        longer = slowdown(found.collision_max, times, found.collision_max_before)
        rounds.append(("an exchange takes", f"{longer:.3g} times as long"))
    show_table(
        facts(
            [
                ("largest collision", collision_change(found)),
                (
                    "shape of the job",
                    "kept" if found.shape_kept else "lost: tuned collectives may fall back",
                ),
                ("rounds of migration", found.migration_steps),
                *rounds,
                ("instead, without spares", lines_left_out_words(job, instead)),
            ]
        )
    )
    for number, step in enumerate(found.steps[:MOST_STEPS], start=1):
        click.echo(f"  {number}. {step_sentence(job, step, _named(job, hosts))}")
    if len(found.steps) > MOST_STEPS:
        click.echo(f"  ... and {len(found.steps) - MOST_STEPS} more; --json has all")


def _named(job: Job, hosts: Hosts) -> Callable[[int], str]:
    """Name a node by its host, where it has one, and where it stands."""

    def named(node: int) -> str:
        name = hosts.names[node]
        known = f"{node} {job.coordinates(node)}"
        return known if name == f"node{node}" else f"{name} = {known}"

    return named
