"""`runflat study`: run a plan of many scenarios; report on one page."""

from __future__ import annotations

import json
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from runflat import RunflatError, Study
from runflat.cli.options import json_option, print_json, show_table, write_output
from runflat.study.answer import Cell, MachineAnswer, answer, level_title
from runflat.study.plan import Plan
from runflat.study.results import Results

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runflat.study.runner import Progress as Report


@click.group(name="study", epilog="Example: runflat study run plan.toml -o out")
def command() -> None:
    """Run a plan of many scenarios; report on one page."""


@command.command(epilog="Example: runflat study run plan.toml -o out --jobs 4")
@click.argument("plan")
@click.option("-o", "folder", type=click.Path(file_okay=False), help="Default: out/NAME OF PLAN.")
@click.option("--jobs", type=click.IntRange(1), help="Threads; default: all processors.")
@click.option("--shard", default="1/1", show_default=True, help="Part i of N, for job arrays.")
@click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="local|mpi|dask[:ADDRESS]",
    help="Who runs the scenarios.",
)
@click.option("--fresh", is_flag=True, help="Forget what was done in the folder before.")
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@click.option("--no-report", is_flag=True, help="No HTML page.")
@json_option
def run(
    plan: str,
    folder: str | None,
    jobs: int | None,
    shard: str,
    executor: str,
    fresh: bool,
    no_progress: bool,
    no_report: bool,
    as_json: bool,
) -> None:
    """Run what is not done yet of PLAN, a TOML file; print the answer and write the report.

    Ended at any time, it goes on where it was. For the keys of a plan: runflat study schema.
    """
    study = Study.read(plan)
    place = Path(folder) if folder is not None else Path("out") / Path(plan).stem
    part = _read_shard(shard)
    if most_bytes := study.set.flit_memory():
        click.echo(f"each flit simulation takes at most {most_bytes / 2**20:,.1f} MiB", err=True)
    with _progress(study.plan.title, hidden=no_progress) as report, _executor(executor) as pool:
        results = study.run(
            place, jobs=jobs, executor=pool, shard=part, progress=report, fresh=fresh
        )
    if results is None:
        if as_json:
            print_json("shard_done", {"shard": shard, "folder": str(place)}, seed=study.plan.seed)
        else:
            click.echo(
                f"shard {shard} is done; when all are: runflat study merge {plan} -o {place}"
            )
        return
    _finish(results, place, as_json=as_json, with_report=not no_report)


@command.command(epilog="Example: runflat study merge plan.toml -o out")
@click.argument("plan")
@click.option("-o", "folder", type=click.Path(file_okay=False), required=True)
@click.option("--no-report", is_flag=True, help="No HTML page.")
@json_option
def merge(plan: str, folder: str, no_report: bool, as_json: bool) -> None:
    """Put the shards of PLAN in a folder together."""
    results = Study.read(plan).merge(folder)
    _finish(results, Path(folder), as_json=as_json, with_report=not no_report)


@command.command(epilog="Example: runflat study report out -o report.html")
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("-o", "output", type=click.Path(dir_okay=False), help="Default: FOLDER/report.html.")
def report(folder: str, output: str | None) -> None:
    """Make the HTML page of a finished study in FOLDER."""
    page = output or str(Path(folder) / "report.html")
    _write_report(Results.read(folder), Path(folder), Path(page))
    click.echo(page)


@command.command(epilog="Example: runflat study schema -o plan.schema.json")
@click.option("-o", "output", type=click.Path(dir_okay=False), help="File; default: stdout.")
def schema(output: str | None) -> None:
    """Print the JSON Schema of plans, for editors."""
    write_output(output, json.dumps(Plan.model_json_schema(), indent=2) + "\n")


def _read_shard(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit()):
        raise click.UsageError(f"--shard takes i/N, as 3/16, got {text!r}")
    return int(part), int(parts)


@contextmanager
def _progress(title: str, *, hidden: bool) -> Iterator[Report | None]:
    """Show a bar with the time left on stderr, where that is a terminal."""
    console = Console(stderr=True)
    if hidden or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield report


@contextmanager
def _executor(text: str) -> Iterator[Executor | None]:
    kind, _, address = text.partition(":")
    if kind == "local":
        yield None
    elif kind == "mpi":
        try:
            from mpi4py.futures import MPIPoolExecutor
        except ImportError as error:
            raise RunflatError(
                "--executor mpi needs mpi4py: pip install '.[mpi]'; then start with "
                "mpirun -n N python -m mpi4py.futures -m runflat study run ..."
            ) from error
        with MPIPoolExecutor() as pool:
            yield pool
    elif kind == "dask":
        try:
            from distributed import Client
        except ImportError as error:
            raise RunflatError("--executor dask needs Dask: pip install '.[dask]'") from error
        with Client(address or None) as client:
            yield client.get_executor()
    else:
        raise click.UsageError(f"--executor is local, mpi or dask[:ADDRESS], got {text!r}")


def _finish(results: Results, folder: Path, *, as_json: bool, with_report: bool) -> None:
    """Print the answer and write the page."""
    answers = answer(results)
    page = folder / "report.html"
    if with_report:
        _write_report(results, folder, page)
    if as_json:
        print_json("done", _as_json(answers, folder), seed=results.plan.seed)
        return
    for found in answers:
        show_table(_table(results, found))
        for sentence in found.sentences:
            click.echo(f"  {sentence}")
        click.echo()
    click.echo("* the engine to use; in brackets the spread over fault patterns")
    click.echo(f"seed {results.plan.seed}; tables: {folder}/throughput.parquet, lost_paths.parquet")
    if with_report:
        click.echo(f"report: {page}")


def _table(results: Results, found: MachineAnswer) -> Table:
    table = Table(title=found.name, title_justify="left", title_style="bold", box=None)
    table.add_column("GB/s = % of intact", no_wrap=True)
    for level in found.levels:
        table.add_column(level_title(results, level), justify="right")
    for engine in found.engines:
        cells = [
            _cell_text(found.cells[engine, level], best=found.best[level] == engine)
            for level in found.levels
        ]
        table.add_row(engine, *cells)
    return table


def _cell_text(cell: Cell, *, best: bool) -> str:
    if cell.mean_gb_s is None:
        return "refused" if cell.refused else "no figure"
    # One sign of per cent is enough in a table.
    left = f" = {cell.left().replace(' %)', ')')}" if cell.intact_gb_s else ""
    parts = [f"{'* ' if best else ''}{cell.mean_gb_s:,.0f}{left}"]
    if cell.refused:
        parts.append(f"refused {cell.refused} of {cell.samples}")
    if cell.deadlocks:
        parts.append(f"credit loop in {cell.deadlocks}")
    if cell.incomplete:
        parts.append(f"incomplete in {cell.incomplete}")
    return ", ".join(parts)


def _as_json(answers: list[MachineAnswer], folder: Path) -> dict[str, Any]:
    machines = [
        {
            "name": found.name,
            "levels": [
                {
                    "level": level,
                    "failed": found.failed[level],
                    "best_engine": found.best[level],
                    "cut_nodes": found.cut[level],
                    "engines": {
                        engine: {
                            "throughput_gb_s": found.cells[engine, level].mean_gb_s,
                            "samples": found.cells[engine, level].samples,
                            "refused": found.cells[engine, level].refused,
                            "deadlocks": found.cells[engine, level].deadlocks,
                            "incomplete": found.cells[engine, level].incomplete,
                        }
                        for engine in found.engines
                    },
                }
                for level in found.levels
            ],
            "answer": found.sentences,
        }
        for found in answers
    ]
    return {"machines": machines, "folder": str(folder)}


def _write_report(results: Results, folder: Path, page: Path) -> None:
    from runflat.report import render
    from runflat.study.report_data import report_of
    from runflat.study.results import write_whole

    write_whole(page, render(report_of(results, folder)).encode())
