"""`runflat route export`: write tables that OpenSM loads."""

from __future__ import annotations

import time
from pathlib import Path

import click

from runflat import Refusal, Routing, _core
from runflat._core import RunflatError
from runflat.cli.options import (
    FABRIC_HELP,
    break_fabric,
    fabric_argument,
    faults_option,
    json_option,
    print_json,
    read_fabric,
    write_output,
)
from runflat.cli.route.inputs import EngineInputs, engine_inputs, engine_option, title
from runflat.cli.route.tables import TableFiles, table_files
from runflat.cli.route.verdict import counted
from runflat.routing import engine_name

FORMATS = [name for name, _ in _core.table_formats()]
BESIDE = ("sl.csv", "sl2vl.csv", "torus-2QoS.conf")
"""Files that only some exports have."""

ENDINGS = {"opensm": "opensm-lfts.dump", "ibroute": "ibroute.txt", "fdbs": "opensm.fdbs"}


@click.command(
    epilog="Example: runflat route export fabric.txt --engine dfsssp -o tables",
    help=f"""\
Route a fabric, prove the tables, and write them into a folder with the LIDs and lanes that go with them.

Prints the OpenSM command that loads them, and says what OpenSM cannot carry along. With --lft the tables come from a
file instead: to convert a format.

Exit status 1 if the engine refuses, a pair has no route or a credit loop exists; tables are written all the same.

{FABRIC_HELP}""",
)
@fabric_argument
@engine_option
@engine_inputs
@table_files(required=False, replaces_engine=True, writes_lids=True)
@click.option(
    "--to",
    "format",
    type=click.Choice(FORMATS),
    default="opensm",
    show_default=True,
    help="Format of the tables.",
)
@click.option("--plane", type=click.IntRange(0), help="The one plane to write.  [default: all]")
@click.option("-o", "folder", required=True, type=click.Path(file_okay=False), help="Folder.")
@faults_option
@json_option
def command(
    fabric: str,
    engine: str,
    inputs: EngineInputs,
    files: TableFiles,
    format: str,
    plane: int | None,
    folder: str,
    faults_path: str | None,
    as_json: bool,
) -> int:  # fmt: skip
    machine = break_fabric(read_fabric(fabric), faults_path)
    started = time.monotonic()
    routing: Routing | Refusal
    routing = inputs.route(machine, engine) if files.lft is None else files.read(machine)
    seconds = time.monotonic() - started
    name = title(engine) if files.lft is None else files.lft
    if isinstance(routing, Refusal):
        if as_json:
            reason = {"engine": engine, "reason": routing.reason, "switch": routing.switch}
            print_json("refused", reason | {"files": [], "command": None, "notes": []})
        else:
            click.echo(f"{name} refuses {machine.name}: {routing}; nothing is written")
        return 1
    check = routing.check()
    target = make_folder(folder)
    several = machine.plane_count > 1 and plane is None
    planes = range(machine.plane_count) if plane is None else [plane]
    written, commands, notes = [], [], list[str]()
    if not planes:
        notes.append(f"{machine.name} has no switches, so there are no tables to write")
    for number in planes:
        inside = target / f"plane{number}" if several else target
        inside.mkdir(exist_ok=True)
        tables = inside / ENDINGS.get(format, format)
        texts = {
            tables: routing.write(format, guid2lid=files.guid2lid, plane=number),
            inside / "guid2lid": routing.write("guid2lid", guid2lid=files.guid2lid, plane=number),
        }
        if check.vls > 1:
            texts[inside / "sl.csv"] = routing.write("sl", guid2lid=files.guid2lid)
            texts[inside / "sl2vl.csv"] = routing.write("sl2vl")
        if engine_name(engine) == "torus-2QoS" and files.lft is None:
            texts[inside / "torus-2QoS.conf"] = (
                inputs.torus_conf_text() or machine.torus_conf() or ""
            )
        for name_of_old in BESIDE:
            # What an export of another engine left here would be taken for this one's.
            if not texts.get(inside / name_of_old):
                (inside / name_of_old).unlink(missing_ok=True)
        for path, text in texts.items():
            if text:
                write_output(str(path), text, quiet=True)
                written.append(str(path))
        if texts[tables]:
            load, notes = routing.opensm_command(str(tables), cache=str(inside))
            if format == "opensm" or (format == "ibroute" and routing.lmc == 0):
                commands.append(load)
            else:
                notes.insert(
                    0, f"OpenSM loads nothing from {tables.name}; export --to opensm for that"
                )
    if as_json:
        made_by = engine if files.lft is None else None
        values = {
            "engine": made_by, "reason": None, "switch": None, "verdict": check.verdict,
            "files": written, "command": commands, "notes": notes, "seconds": seconds,
        }  # fmt: skip
        print_json("routed", values)
        return 0 if check.verdict == "ok" else 1
    click.echo(f"{name} on {machine.name}: verdict {check.verdict}, {counted(check.vls, 'lane')}")
    for file in written:
        click.echo(f"  {file}")
    if commands:
        click.echo("OpenSM loads them with")
        for load in commands:
            click.echo(f"  {load}")
    for note in notes:
        click.echo(f"note: {note}")
    return 0 if check.verdict == "ok" else 1


def make_folder(name: str) -> Path:
    """Make the folder, if it is not there."""
    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunflatError(
            f"{name}: cannot be made: {error.strerror}; name another folder"
        ) from error
    return Path(name)
