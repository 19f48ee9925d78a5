"""Machines written for ibsim: read back by us, and discovered by the real ibnetdiscover on the real ibsim."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

import runflat
from command import STAGE, run
from fabric import Fabric
from runflat import Machine, _core

SMALL = {
    "mesh": "mesh(4,3,2)",
    "torus": "torus(4,3; 2; 2)",
    "hypercube": "hypercube(4)",
    "kary-ntree": "4-ary 3-tree",
    "xgft": "XGFT(2; 4,6; 2,3)",
    "fat-tree": "fat-tree(8; 3)",
    "director-tree": "director-tree(144; 12)",
    "rail-fat-tree": "rail-fat-tree(16; 4; 16)",
    "dragonfly": "dragonfly(2,4,2)",
    "cray-xc": "cray-xc(2)",
    "hyperx": "hyperx(3,4; 2,1; 2)",
    "slim-fly": "slim-fly(5)",
    "kautz": "kautz(3; 3)",
    "random-regular": "random-regular(20; 5)",
    "bgq": "bgq(2,2,2,2)",
    "tofu": "tofu(2,2,2)",
    "deimos": "deimos",
    "tsubame2": "tsubame2",
}
"""A machine of each generator, of a size that is quick to discover."""

GENERATED = [part["name"] for part in _core.generators()]
DISCOVERED = [
    "stage", "torus", "kary-ntree", "xgft", "fat-tree", "rail-fat-tree", "dragonfly", "hyperx",
    "slim-fly", "tsubame2",
]  # fmt: skip


def machine_of(name: str) -> Machine:
    if name == "stage":
        return runflat.load(STAGE)
    if name not in SMALL:
        pytest.skip(f"generator {name} has no small example here")
    return runflat.make(SMALL[name])


def cables(machine: Machine) -> list[tuple[frozenset[str], str]]:
    rows = machine.links().to_rows()
    return sorted(
        ((frozenset(row["name"].split(" <-> ")), row["rate"]) for row in rows),
        key=lambda cable: sorted(cable[0]),
    )


def same(one: Machine, other: Machine) -> None:
    assert one.diff(other)["differences"] == []
    assert other.diff(one)["differences"] == []
    assert cables(one) == cables(other)
    for parts in ("switches", "nodes"):
        names = [sorted(getattr(m, parts)().column("name")) for m in (one, other)]
        assert names[0] == names[1]


@pytest.mark.parametrize("name", ["stage", *GENERATED])
@pytest.mark.parametrize("format", ["ibnetdiscover", "json"])
def test_a_machine_is_the_same_after_writing_and_reading(name: str, format: str) -> None:
    machine = machine_of(name)
    core, warnings = _core.Machine.read(machine.write(format).encode(), "again")
    assert warnings == []
    same(machine, Machine(core))


@pytest.mark.parametrize("name", GENERATED)
def test_every_generated_machine_is_within_the_limits_of_infiniband(name: str) -> None:
    machine = machine_of(name)
    assert machine.synthetic
    assert max(machine.switches().column("ports")) <= 254
    fabric = Fabric(machine)
    for plane in set(fabric.plane.values()):
        lids = sum(fabric.plane_of(e) == plane for e in fabric.endpoints)
        lids += sum(at == plane for at in fabric.plane.values())
        assert lids <= 0xBFFF, "unicast LIDs of a subnet"


def test_a_machine_beyond_the_lid_limit_is_made_but_not_written() -> None:
    machine = runflat.make("torus", shape="100x100", nodes=48_000)
    with pytest.raises(runflat.FormatError, match="a subnet has 49151"):
        machine.write("ibnetdiscover")
    again, _ = _core.Machine.read(machine.write("json").encode(), "again")
    assert Machine(again).node_count == 48_000


def tool(name: str, package: str) -> str:
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed: apt install {package}")
    return path


@pytest.fixture(scope="module")
def shim() -> Path:
    """The library by which diagnostics talk to ibsim instead of a device."""
    tool("ibsim", "ibsim-utils")
    places = [*Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"),
              *Path("/usr/lib").glob("umad2sim/libumad2sim.so")]  # fmt: skip
    if not places:
        pytest.skip("libumad2sim.so is not installed: apt install ibsim-utils")
    return places[0]


@contextlib.contextmanager
def simulated(machine: Machine, folder: Path) -> Iterator[dict[str, str]]:
    """Run ibsim on a machine; yields the variables that lead to it."""
    net = folder / "fabric.net"
    net.write_text(machine.write("ibnetdiscover"), encoding="utf-8")
    parts = machine.switch_count + machine.node_count + 8
    ports = sum(machine.switches().column("ports")) + 4 * machine.node_count + parts
    limits = ["-N", str(parts), "-S", str(machine.switch_count + 8), "-P", str(ports)]
    name = {"IBSIM_SOCKNAME": f"runflat-{os.getpid()}-{folder.name}"}
    with (
        (folder / "ibsim.log").open("wb") as log,
        subprocess.Popen(
            [tool("ibsim", "ibsim-utils"), "-s", "-n", *limits, str(net)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **name},
        ) as simulator,
    ):  # fmt: skip
        try:
            yield name
            assert simulator.poll() is None, (folder / "ibsim.log").read_text()
        finally:
            simulator.kill()


def discover(environment: dict[str, str], shim: Path, start: str) -> str:
    """Run ibnetdiscover from one switch, as soon as ibsim listens."""
    end = time.monotonic() + 30
    while environment["IBSIM_SOCKNAME"] not in Path("/proc/net/unix").read_text():
        assert time.monotonic() < end, "ibsim does not listen"
        time.sleep(0.01)
    program = tool("ibnetdiscover", "infiniband-diags")
    variables = {**os.environ, **environment, "SIM_HOST": start, "LD_PRELOAD": str(shim)}
    found = subprocess.run(
        [program], env=variables, capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def starts(machine: Machine) -> list[str]:
    """One switch of each plane, as ibsim calls it."""
    guids = machine.switches().column("guid")
    planes = nx.connected_components(Fabric(machine).intact)
    return [f"S-{guids[min(plane)].removeprefix('0x')}" for plane in planes]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", DISCOVERED)
def test_ibnetdiscover_finds_the_machine_that_was_exported(
    name: str, shim: Path, tmp_path: Path
) -> None:
    machine = machine_of(name)
    with simulated(machine, tmp_path) as environment:
        dumps = [discover(environment, shim, start) for start in starts(machine)]
    found = tmp_path / "found.ibnetdiscover"
    found.write_text("".join(dumps), encoding="utf-8")
    assert (
        run("machine", "diff", tmp_path / "fabric.net", found).out == "The fabrics are the same.\n"
    )
    assert cables(runflat.load(found)) == cables(machine)


@pytest.mark.timeout(120)
def test_ibnetdiscover_misses_the_cables_that_failed(shim: Path, tmp_path: Path) -> None:
    machine = machine_of("stage")
    broken = machine.fail(links=2, keep_connected=True)
    with simulated(broken, tmp_path) as environment:
        dump = discover(environment, shim, starts(machine)[0])
    core, _ = _core.Machine.read(dump.encode(), "found")
    assert machine.diff(Machine(core))["missing_links"] == 2
    for cable in broken.faults.links:
        assert any(cable in sentence for sentence in machine.diff(Machine(core))["differences"])
