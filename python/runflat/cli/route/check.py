"""`runflat route check`: prove tables read from a file."""

from __future__ import annotations

import time

import click

from runflat.cli.options import (
    FABRIC_HELP,
    break_fabric,
    fabric_argument,
    faults_option,
    json_option,
    print_json,
    read_fabric,
)
from runflat.cli.route.tables import TableFiles, table_files
from runflat.cli.route.verdict import show_check

LANES = {
    (False, False): "lane 0 assumed",
    (True, False): "lane = service level assumed",
    (True, True): "given",
}
"""What `--json` says of lanes: by whether service levels and their tables are given."""


@click.command(
    epilog="Example: runflat route check fabric.txt --lft opensm-lfts.dump",
    help=f"""\
Prove the tables of a file: every pair walked, every lane searched for a credit loop.

Exit status 1 if a pair has no route or a credit loop exists.

{FABRIC_HELP}""",
)
@fabric_argument
@table_files(required=True)
@faults_option
@json_option
def command(fabric: str, files: TableFiles, faults_path: str | None, as_json: bool) -> int:
    machine = break_fabric(read_fabric(fabric), faults_path)
    routing = files.read(machine)
    started = time.monotonic()
    check = routing.check()
    seconds = time.monotonic() - started
    if as_json:
        lanes = LANES[files.sl is not None, files.sl2vl is not None]
        head = {
            "lft": files.lft,
            "lanes": lanes,
            "lmc": routing.lmc,
            "reason": None,
            "switch": None,
        }
        print_json("routed", head | check.summary() | {"seconds": seconds})
    else:
        rows = [("LID mask count", routing.lmc), ("checking time", f"{seconds:.3f} s")]
        show_check(f"{files.lft} on {machine.name}", check, machine.plane_count, rows)
        if files.sl is not None and files.sl2vl is None:
            click.echo(
                "every service level was taken for a lane of its own number; if the switches map them "
                "otherwise (Torus-2QoS), give their tables with --sl2vl"
            )
        if files.sl is None:
            click.echo(
                "every route was taken on lane 0: tables hold no lanes; if your subnet manager uses "
                "several (DFSSSP, LASH, Torus-2QoS), give them with --sl"
            )
    return 0 if check.verdict == "ok" else 1
