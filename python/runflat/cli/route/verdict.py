"""How the proof of a routing is shown."""

from __future__ import annotations

from collections.abc import Sequence

import click

from runflat import Check
from runflat.cli.options import facts, show_table

VERDICTS = {
    "ok": "every pair has a route, no credit loop",
    "deadlock": "every pair has a route, but a credit loop can close",
    "incomplete": "some pairs have no route",
}


def counted(count: int, thing: str) -> str:
    """Count things in words: `1 lane`, `2 lanes`."""
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def show_check(
    subject: str, check: Check, planes: int, more: Sequence[tuple[str, object]] = ()
) -> None:
    """Print a verdict with its evidence."""
    click.echo(f"{subject}: {VERDICTS[check.verdict]}")
    apart = [("planes, each by itself", planes)] if planes > 1 else []
    show_table(facts([*apart, *check_rows(check), *more]))
    show_trouble(check)


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
