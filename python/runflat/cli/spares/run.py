"""`runflat spares run`: a campaign from a plan, which goes on where it was."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from runflat.cli.options import json_option, print_json, write_output
from runflat.spares import Row, SparesError
from runflat.spares.plan import SparesPlan
from runflat.spares.store import Part, run


@click.command(epilog="Example: runflat spares run plan.toml -o out --shard 3/16")
@click.argument("plan")
@click.option("-o", "folder", type=click.Path(file_okay=False), help="Default: out/NAME OF PLAN.")
@click.option("--shard", default="1/1", show_default=True, help="Part i of N, for job arrays.")
@click.option("--fresh", is_flag=True, help="Forget what was done in the folder before.")
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@json_option
def command(
    plan: str, folder: str | None, shard: str, fresh: bool, no_progress: bool, as_json: bool
) -> None:
    """Run what is not done yet of PLAN, a TOML file; write the counts and `rows.csv` to a folder.

    Ended at any time, it goes on where it was. Parts may run on different machines that share the folder; the last one
    writes the rows of all.
    """
    read = SparesPlan.read(plan)
    place = Path(folder) if folder is not None else Path("out") / Path(plan).stem
    part = read_part(shard)
    console = Console(stderr=True)
    hidden = no_progress or not console.is_terminal
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with nullcontext() if hidden else Progress(*columns, console=console) as bar:
        task = None if bar is None else bar.add_task(read.title or "sequences")

        def report(done: int, total: int) -> None:
            if bar is not None and task is not None:
                bar.update(task, completed=done, total=total)

        tallies = run(read, place, part, fresh=fresh, progress=report)
    if tallies is None:
        if as_json:
            print_json("shard_done", {"shard": shard, "folder": str(place)}, seed=read.seed)
        else:
            click.echo(f"shard {shard} is done; the last one writes {place / 'rows.csv'}")
        return
    rows = read.campaign().rows(tallies, read.samples)
    path = place / "rows.csv"
    write_output(str(path), written(rows), quiet=as_json)
    if as_json:
        values = {"folder": str(place), "rows": [asdict(row) for row in rows]}
        print_json("done", values, seed=read.seed)
        return
    click.echo(
        f"{read.samples:,} sequences of {read.failures:,} failures, seed {read.seed}: {path}"
    )


def read_part(text: str) -> Part:
    """Read `3/16`."""
    number, slash, count = text.partition("/")
    if not (slash and number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        raise SparesError(f"--shard takes i/N with i from 1 to N, as 3/16; got {text!r}")
    return Part(int(number), int(count))


def written(rows: Sequence[Row]) -> str:
    """Write rows as CSV: a line a policy and failure."""
    degrees = sorted({degree for row in rows for degree in row.share})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["policy", "failures", "sequences", "best", "average", "worst"]
    writer.writerow([*head, *degrees, *(f"{degree} so far" for degree in degrees), "unrecoverable"])
    for row in rows:
        figures = [row.policy, row.failures, row.sequences, row.best, row.average, row.worst]
        shares = [row.share.get(degree, "") for degree in degrees]
        shares += [row.share_accumulated.get(degree, "") for degree in degrees]
        cells = [*figures, *shares, row.unrecoverable]
        writer.writerow([f"{cell:.6g}" if isinstance(cell, float) else cell for cell in cells])
    return text.getvalue()
