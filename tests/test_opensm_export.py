"""Our tables in OpenSM's hands: exported, loaded by its `file` engine on ibsim, read back, and the same in every entry."""

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import runflat
from command import STAGE, run
from opensm import dumps, programs
from opensm.compare import differences
from opensm.missing import Missing
from opensm.numbering import Numbering
from opensm.options import Options
from opensm.scramble import scrambled
from opensm.subnet import Subnet
from runflat import Faults, Machine, Routing
from test_opensm import irregular

pytestmark = pytest.mark.usefixtures("opensm_programs")

BROKEN = {"seed": 1, "links": "10%", "switches": 1, "nodes": 1}


def fabric_of(kind: str, text: str) -> tuple[Machine, str | None]:
    """Make a fabric intact, broken or scrambled, and what ibsim shall read for it."""
    machine = runflat.make(text)
    if kind == "scrambled":
        return scrambled(machine, 1)
    if kind == "scrambled and broken":
        there, _ = scrambled(machine, 2)
        left = there.fail(**BROKEN)
        return left, None
    return (machine.fail(**BROKEN) if kind == "broken" else machine), None


def loaded(
    machine: Machine, routing: Routing, folder: Path, text: str | None, *, cached: bool = True
) -> NDArray[np.uint8]:
    """Have OpenSM load an export; returns its tables."""
    folder.mkdir()
    tables = folder / "exported.lfts"
    tables.write_text(routing.write("opensm"), encoding="utf-8")
    cache = routing.write("guid2lid") if cached else ""
    options = Options(lmc=routing.lmc, guid2lid=cache, config={"lfts_file": str(tables)})
    with Subnet(machine, folder / "subnet", text=text) as fabric:
        answer = fabric.route("file", options)
    assert answer.engine == "file", answer.failure
    assert answer.tables is not None
    if cached:
        written = folder / "written"
        written.write_text(cache, encoding="ascii")
        ours = dumps.real_lids(answer.numbering, dumps.guid2lid(written))
        there = answer.lids > 0
        assert (ours[there] == answer.lids[there]).all()
    # The package reads what OpenSM dumps, as the harness does.
    read = Routing.read(
        machine, answer.folder / "opensm-lfts.dump", guid2lid=answer.folder / "guid2lid",
        lmc=routing.lmc,
    )  # fmt: skip
    assert (read.tables == answer.tables).all()
    return answer.tables


@pytest.mark.parametrize("lmc", [0, 1])
@pytest.mark.parametrize("kind", ["intact", "broken", "scrambled", "scrambled and broken"])
@pytest.mark.parametrize("fabric", ["torus(4,4; 2; 2)", "4-ary 3-tree", "dragonfly(2,4,2)"])
def test_opensm_loads_what_we_export(fabric: str, kind: str, lmc: int, tmp_path: Path) -> None:
    machine, text = fabric_of(kind, fabric)
    for engine in ("minhop", "dfsssp", "lash"):
        routing = machine.route(engine, lmc=lmc)
        assert isinstance(routing, Routing)
        found = loaded(machine, routing, tmp_path / engine, text)
        assert differences(machine, routing.tables, found, lmc=lmc) == []


@pytest.mark.parametrize("seed", range(6))
def test_opensm_loads_what_we_export_for_irregular_fabrics(seed: int, tmp_path: Path) -> None:
    machine, text = scrambled(irregular(seed), seed, lids=seed % 2 == 0)
    routing = machine.route("sssp", lmc=seed % 3)
    assert isinstance(routing, Routing)
    found = loaded(machine, routing, tmp_path / "lids", text)
    assert differences(machine, routing.tables, found, lmc=routing.lmc) == []


@pytest.mark.parametrize("lmc", [0, 1])
def test_tables_fit_without_our_lids(lmc: int, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make("torus(4,4; 2; 2)"), 5)
    routing = machine.route("minhop", lmc=lmc)
    assert isinstance(routing, Routing)
    found = loaded(machine, routing, tmp_path / "export", text, cached=False)
    assert differences(machine, routing.tables, found, lmc=lmc) == []


def test_opensm_loads_what_we_export_for_a_real_fabric(tmp_path: Path) -> None:
    machine = runflat.load(STAGE)
    routing = machine.route("ftree", roots=machine.find_roots())
    if not isinstance(routing, Routing):
        routing = machine.route("updn")
    assert isinstance(routing, Routing)
    found = loaded(machine, routing, tmp_path / "export", None)
    assert differences(machine, routing.tables, found) == []


@pytest.mark.parametrize("lmc", [0, 1])
@pytest.mark.parametrize("faulty", [False, True])
def test_the_printed_command_loads_the_export(faulty: bool, lmc: int, tmp_path: Path) -> None:
    try:
        programs.path("dump_fts")
    except Missing as missing:
        pytest.skip(str(missing))
    machine, text = scrambled(runflat.make("torus(4,4; 2; 2)"), 7)
    net = tmp_path / "fabric.net"
    net.write_text(text, encoding="utf-8")
    options: list[str | Path] = []
    if faulty:
        faults = tmp_path / "faults.json"
        assert run("faults", "draw", net, "--links", "10%", "-o", faults).status == 0
        options = ["--faults", faults]
        machine = runflat.load(net).fail(Faults.read(faults))
        text = machine.write("ibnetdiscover")
    out, roots = tmp_path / "its tables", tmp_path / "roots"
    roots.write_text(machine.switches().column("guid")[0] + "\n", encoding="ascii")
    arguments = ["--engine", "updn", "--roots", roots, "--lmc", lmc]
    answer = run("route", "export", net, *arguments, *options, "-o", out, "--json")
    assert answer.status == 0, answer
    (command,) = answer.json["command"]
    with Subnet(machine, tmp_path / "subnet", text=text) as fabric:
        started_by(command, fabric, tmp_path)
        host = fabric.environment | {"SIM_HOST": a_host(machine)}
        printed = subprocess.run(
            [programs.path("dump_fts")], capture_output=True, text=True, check=True, cwd=tmp_path,
            env={**os.environ, **host}, timeout=60,
        ).stdout  # fmt: skip
    tables = tmp_path / "dump_fts"
    tables.write_text(printed, encoding="utf-8")
    found = Routing.read(machine, tables, guid2lid=out / "guid2lid", lmc=lmc)
    exported = Routing.read(machine, out / "opensm-lfts.dump", guid2lid=out / "guid2lid", lmc=lmc)
    ours = machine.route("updn", roots=machine.switches().column("guid")[:1], lmc=lmc)
    assert isinstance(ours, Routing)
    assert (exported.tables == ours.tables).all()
    assert differences(machine, ours.tables, np.array(found.tables), lmc=lmc) == []


def started_by(command: str, fabric: Subnet, folder: Path) -> None:
    """Run the command as printed, with a log that is flushed, until the subnet is up; OpenSM would go on for good."""
    shell = folder / "cache"
    shell.mkdir()
    log = shell / "osm.log"
    variables = {
        **os.environ, **fabric.environment, "OSM_TMP_DIR": str(shell),
        "SIM_HOST": a_host(fabric.machine),
        "PATH": f"{os.environ['PATH']}:{Path(programs.path('opensm')).parent}",
    }  # fmt: skip
    with subprocess.Popen(
        ["sh", "-c", f"exec env {command} -d2 -f {shlex.quote(str(log))}"],
        env=variables, cwd=shell, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            end = time.monotonic() + 60
            while not (log.exists() and "SUBNET UP" in log.read_text(errors="replace")):
                assert process.poll() is None, "opensm ended by itself"
                assert time.monotonic() < end, log.read_text(errors="replace")
                time.sleep(0.05)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
    assert "file tables configured on all switches" in log.read_text(errors="replace")


def a_host(machine: Machine) -> str:
    """Return how ibsim calls a node with a living cable."""
    first = machine.switch_count
    guids = [int(guid, 16) for guid in machine.nodes().column("guid")]
    plugged = {
        row[end]
        for row in machine.links().to_rows()
        for end in ("a", "b")
        if row["alive"] and row[end] >= first
    }
    assert Numbering.of(machine).endpoints
    return f"H-{guids[min(plugged) - first]:016x}"
