"""`runflat spares study --worst`: worst cases with proof."""

from __future__ import annotations

from dataclasses import asdict

import click
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table

from runflat.cli.options import print_json, show_table
from runflat.spares import Choices, Job, WorstCase

REFUSED = {
    "samples": "--samples",
    "victims": "--victims",
    "dead": "--dead",
    "page": "--report",
}
"""Options about sequences that are drawn, which change no worst case."""


def prove(
    job: Job,
    policies: tuple[str, ...],
    span: tuple[int, int],
    states_max: int,
    tie: str,
    *,
    seed: int,
    as_json: bool,
) -> None:
    """Look for worst cases, and print them."""
    context = click.get_current_context()
    for name, option in REFUSED.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} is about sequences that are drawn: not with --worst")
    picked = context.get_parameter_source("pick") is ParameterSource.COMMANDLINE
    if picked and context.params["pick"] != "fixed":
        raise click.UsageError(
            "worst cases are proved with --pick fixed, which --worst takes by itself"
        )
    first, last = span
    choices = Choices(pick="fixed", tie=tie)
    console = Console(stderr=True)
    known: dict[str, list[WorstCase]] = {}
    for policy in policies:

        def report(one: WorstCase, policy: str = policy) -> None:
            if console.is_terminal:
                console.print(f"{policy}, {one.failures} failures: {verdict(one)}")

        found = job.worst_proved(
            policy, last, states_max=states_max, choices=choices, report=report
        )
        known[policy] = [one for one in found if one.failures >= first]
    if as_json:
        rows = [
            {"policy": policy} | asdict(one) | {"exact": one.exact}
            for policy, found in known.items()
            for one in found
        ]
        print_json(
            "done", {"shape": list(job.shape), "spares": job.spares, "worst": rows}, seed=seed
        )
        return
    for policy, found in known.items():
        show_table(_table(policy, found))
    click.echo("collisions are messages on one channel, 1 is none; nodes count from 0, x fastest")


def refuse_states() -> None:
    """Refuse an option that only proofs have."""
    source = click.get_current_context().get_parameter_source("states_max")
    if source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--states is about proofs: give --worst with it")


def verdict(one: WorstCase) -> str:
    """Say what is known of a worst case."""
    if not one.sequence and one.exact:
        return "no spare left"
    return "proved" if one.exact else f"open: {one.collision_max} to {one.bound}"


def _table(policy: str, found: list[WorstCase]) -> Table:
    table = Table(title=policy, title_justify="left", title_style="bold", box=None)
    for name in ("failures", "worst", "bound"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("states", justify="right", no_wrap=True)
    table.add_column("failed nodes, in order", no_wrap=True)
    for one in found:
        sequence = ",".join(map(str, one.sequence))
        worst = str(one.collision_max) if one.sequence else "-"
        cells = (str(one.failures), worst, str(one.bound), verdict(one), f"{one.states:,}")
        table.add_row(*cells, sequence)
    return table
