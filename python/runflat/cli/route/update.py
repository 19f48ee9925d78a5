"""`runflat route update`: what re-routing after failures changes, and in which order it may."""

from __future__ import annotations

import csv
import io
import time

import click

from runflat import Refusal
from runflat.cli.options import (
    FABRIC_HELP,
    break_fabric,
    fabric_argument,
    facts,
    faults_option,
    json_option,
    print_json,
    read_fabric,
    show_table,
    write_output,
)
from runflat.cli.route.inputs import EngineInputs, engine_inputs, engine_option, title
from runflat.cli.route.tables import TableFiles, table_files

KEYS = (
    "lost_paths", "changed_entries", "changed_levels", "changed_blocks", "rounds", "extra_writes",
    "dropped_entries", "writes", "credit_cycle", "verdict", "joined_verdict", "cut_pairs",
    "left_out_pairs", "seconds",
)  # fmt: skip


@click.command(
    epilog="Example: runflat route update fabric.txt --faults failed.json",
    help=f"""\
Re-route after failures: paths lost until then, the time it takes, table entries and LFT blocks that change, and a safe
order of writes in which no packet ever runs in circles and no pair that both tables serve loses its way.

The old tables are those of the engine on the intact fabric, or of --lft. Exit status 1 if the engine refuses, or the new
tables leave a pair out or can deadlock.

{FABRIC_HELP}""",
)
@fabric_argument
@engine_option
@engine_inputs
@table_files(required=False, writes_lids=True)
@click.option("-o", "output", type=click.Path(dir_okay=False), help="Write the order here (CSV).")
@faults_option
@json_option
def command(
    fabric: str,
    engine: str,
    inputs: EngineInputs,
    files: TableFiles,
    output: str | None,
    faults_path: str | None,
    as_json: bool,
) -> int:
    if faults_path is None and files.lft is None:
        raise click.UsageError("give --faults or --lft: without, old and new tables are the same")
    intact = read_fabric(fabric)
    broken = break_fabric(intact, faults_path)
    old = inputs.route(intact, engine) if files.lft is None else files.read(intact)
    started = time.monotonic()
    new = inputs.route(broken, engine)
    seconds = time.monotonic() - started
    for routing in (old, new):
        if isinstance(routing, Refusal):
            reason = {"engine": engine, "reason": routing.reason, "switch": routing.switch}
            if as_json:
                print_json("refused", reason | dict.fromkeys(KEYS))
            else:
                click.echo(f"{title(engine)} refuses {broken.name}: {routing}")
            return 1
    assert not isinstance(old, Refusal), "refusals have been told"
    assert not isinstance(new, Refusal), "refusals have been told"
    check, lost = new.check(), old.lost_paths(broken)
    update = old.update_to(new, guid2lid=files.guid2lid, blocks=output is not None)
    finding = int(check.joined_verdict != "ok")
    if output is not None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(update.writes.column_names)
        writer.writerows(row.values() for row in update.writes.to_rows())
        write_output(output, text.getvalue())
    if as_json:
        values = {name: getattr(update, name) for name in KEYS if hasattr(update, name)}
        values |= {"engine": engine, "reason": None, "switch": None, "lost_paths": lost}
        judged = {
            "verdict": check.verdict, "joined_verdict": check.joined_verdict,
            "cut_pairs": check.cut_pairs, "left_out_pairs": check.left_out_pairs,
            "writes": len(update.writes),
        }  # fmt: skip
        print_json("routed", values | judged | {"seconds": seconds})
        return finding
    failed = sum(broken.failed_counts)
    click.echo(
        f"{title(engine)} on {broken.name} with {failed:,} failed parts: {check.joined_verdict}"
    )
    in_flight = "excluded" if update.credit_cycle is None else "not excluded while routes mix"
    rows_shown: list[tuple[str, object]] = [
        ("paths lost until then", lost),
        ("pairs cut off by the failures", check.cut_pairs),
        ("pairs left out by the engine", check.left_out_pairs),
        ("re-routing time", f"{seconds:.3f} s"),
        ("table entries that change", update.changed_entries),
        ("service levels that change", update.changed_levels),
        ("LFT blocks that change", update.changed_blocks),
        ("writes in a safe order", len(update.writes)),
        ("rounds", update.rounds),
        ("deadlock in flight", in_flight),
    ]
    show_table(facts(rows_shown))
    if update.credit_cycle is not None and update.changed_entries:
        click.echo(
            "packets that took one hop by the old tables and the next by the new ones could wait in "
            "a ring; only their lifetime ends that"
        )
        for channel in update.credit_cycle:
            click.echo(f"  {channel}")
    return finding
