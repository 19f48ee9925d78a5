"""Odd fabrics under every engine: a routing that is as complete as the cables allow, or a refusal that names what is wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import runflat
from command import run
from fabric import Fabric, walk
from runflat import Faults, Machine, Refusal, _core

ENGINES = [engine["name"] for engine in _core.engines()]

MAY_DEADLOCK = {"minhop", "dor", "sssp"}
"""Engines that do not look for credit loops; Up*/Down* as OpenSM has it is another, but needs an irregular fabric for it."""

REASONS = {
    "updn": ["no switch is a root: from none are", "none of the given roots is alive"],
    "torus-2QoS": [
        "the machine has no coordinates; give a torus-2QoS.conf", "in pieces",
        "switches are missing that do not stand side by side", "are left without a way",
    ],
    "ftree": [
        "take LMC 0", "at least 2 switches", "at least 2 nodes", "nodes are attached to every switch",
        "2 to 8 are allowed", "none of the given roots is alive", "compute nodes are attached at",
        "give roots to route a tree that is not even", "got no route",
    ],
}  # fmt: skip
"""What refusals of these engines may say here; the others refuse nothing of this."""


def switches(count: int) -> list[str]:
    return [f"s{at}" for at in range(count)]


def nodes(count: int) -> list[str]:
    return [f"n{at}" for at in range(count)]


def built(
    switch_count: int, node_count: int, cables: list[tuple[str, str]], each: bool = False
) -> Machine:
    """Put a machine together; with `each`, node i hangs on switch i, and round again."""
    hung = [(f"n{at}", f"s{at % switch_count}") for at in range(node_count)] if each else []
    return Machine.build(
        "odd", switches=switches(switch_count), nodes=nodes(node_count), cables=cables + hung
    )


def ring(nodes_too: bool = True) -> Machine:
    around = [(f"s{at}", f"s{(at + 1) % 4}") for at in range(4)]
    return built(4, 4 if nodes_too else 0, around, each=nodes_too)


def line(count: int) -> Machine:
    cables = [(f"s{at}", f"s{at + 1}") for at in range(count - 1)]
    return built(count, 2, [*cables, ("n0", "s0"), ("n1", f"s{count - 1}")])


def cables_of(machine: Machine, *, between_switches: bool = False) -> list[str]:
    first = machine.switch_count
    rows = machine.links().to_rows()
    return [row["name"] for row in rows if not between_switches or max(row["a"], row["b"]) < first]


SELF_CABLED = "a switch cabled to itself"
SELF_CABLE = """\
switchguid=0x1(1)
Switch\t4 "S-0000000000000001"\t# "s0" base port 0 lid 1 lmc 0
[1]\t"S-0000000000000001"[2]\t\t# "s0" lid 1 4xEDR
[2]\t"S-0000000000000001"[1]\t\t# "s0" lid 1 4xEDR
[3]\t"H-0000000000000010"[1](11)\t# "n0" lid 2 4xEDR
[4]\t"H-0000000000000020"[1](21)\t# "n1" lid 3 4xEDR

caguid=0x10
Ca\t1 "H-0000000000000010"\t# "n0"
[1](11)\t"S-0000000000000001"[3]\t# lid 2 lmc 0 "s0" lid 1 4xEDR

caguid=0x20
Ca\t1 "H-0000000000000020"\t# "n1"
[1](21)\t"S-0000000000000001"[4]\t# lid 3 lmc 0 "s0" lid 1 4xEDR
"""


def self_cabled() -> Machine:
    core, warnings = _core.Machine.read(SELF_CABLE.encode(), SELF_CABLED)
    assert [text for _, text in warnings] == [
        "a cable from port 1 of `s0` to its own port 2 is left out"
    ]
    return Machine(core)


TOO_FEW = dict.fromkeys(ENGINES, "never") | {
    "dfsssp": "not enough virtual lanes", "lash": "1 lane is too few",
    "torus-2QoS": "needs 2 virtual lanes",
}  # fmt: skip
"""How engines refuse a single lane."""

INTACT: dict[str, Callable[[], Machine]] = {
    "one switch": lambda: built(1, 3, [], each=True),
    "one switch, one node": lambda: built(1, 1, [], each=True),
    "a bare switch": lambda: built(1, 0, []),
    "two bare switches": lambda: built(2, 0, []),
    "no nodes": lambda: ring(nodes_too=False),
    "back to back": lambda: built(0, 2, [("n0", "n1")]),
    "back to back beside a fabric": lambda: built(
        2, 4, [("n0", "n1"), ("s0", "s1"), ("n2", "s0"), ("n3", "s1")]
    ),
    "a lone node": lambda: built(0, 1, []),
    "a lone node beside a fabric": lambda: built(2, 3, [("s0", "s1"), ("n1", "s0"), ("n2", "s1")]),
    "never joined": lambda: built(4, 4, [("s0", "s1"), ("s2", "s3")], each=True),
    "two planes": lambda: built(
        4, 4,
        [("s0", "s1"), ("s2", "s3")] + [(f"n{n}", f"s{n % 2 + p}") for n in range(4) for p in (0, 2)],
    ),
    "parallel cables": lambda: built(2, 4, [("s0", "s1")] * 4, each=True),
    "a node twice on a switch": lambda: built(
        3, 3,
        [("s0", "s1"), ("s1", "s2"), ("n0", "s0"), ("n0", "s0"), ("n1", "s1"), ("n1", "s2"), ("n2", "s2")],
    ),
    "a bare switch beside others": lambda: built(
        4, 3, [("s0", "s1"), ("s1", "s2"), ("n0", "s0"), ("n1", "s1"), ("n2", "s2")]
    ),
    SELF_CABLED: self_cabled,
    "a ring": ring,
    "300 switches in a line": lambda: line(300),
    "254 nodes on a switch": lambda: built(1, 254, [], each=True),
}  # fmt: skip

BROKEN: dict[str, Callable[[], tuple[Machine, Faults]]] = {
    "all switches dead": lambda: (ring(), Faults(switches=switches(4))),
    "all nodes dead": lambda: (ring(), Faults(nodes=nodes(4))),
    "all nodes but one dead": lambda: (ring(), Faults(nodes=nodes(3))),
    "cables between switches dead": lambda: (
        ring(), Faults(links=cables_of(ring(), between_switches=True))
    ),
    "all cables dead": lambda: (ring(), Faults(links=cables_of(ring()))),
    "a ring in halves": lambda: (
        ring(), Faults(links=cables_of(ring(), between_switches=True)[::2])
    ),
    "a switch left alone": lambda: (line(5), Faults(switches=["s1", "s3"])),
    "a tree without its top": lambda: tree(switches=[f"s1.{at}" for at in range(4)]),
    "a tree without its leaves": lambda: tree(switches=[f"s0.{at}" for at in range(4)]),
    "a torus without switches": lambda: torus(switches=[f"s{x}.{y}" for x in range(4) for y in range(4)]),
    "a torus without cables": lambda: torus(links=cables_of(runflat.make("torus(4,4)"))),
    "a torus without nodes": lambda: torus(nodes=nodes(16)),
    "a torus with one switch left": lambda: torus(
        switches=[f"s{x}.{y}" for x in range(4) for y in range(4)][1:]
    ),
    "a torus in halves": lambda: torus(switches=[f"s{x}.{y}" for x in (0, 2) for y in range(4)]),
}  # fmt: skip


def tree(**faults: list[str]) -> tuple[Machine, Faults]:
    return runflat.make("4-ary 2-tree"), Faults(**faults)


def torus(**faults: list[str]) -> tuple[Machine, Faults]:
    return runflat.make("torus(4,4)"), Faults(**faults)


def judge(machine: Machine, engine: str, answer: object) -> tuple[str, str | None]:
    """Check that an outcome is clear; returns it with its verdict."""
    if isinstance(answer, Refusal):
        assert any(part in answer.reason for part in REASONS.get(engine, [])), answer
        assert answer.switch in (None, *machine.switches().column("name"))
        return "refused", None
    assert isinstance(answer, runflat.Routing)
    assert answer.tables.shape[0] == machine.switch_count
    check = answer.check()
    assert check.unreachable_pairs == check.cut_pairs, "complete as far as cables go"
    assert check.looping_pairs == 0
    assert (check.cycle is None) or engine in MAY_DEADLOCK
    wanted = "incomplete" if check.cut_pairs else "deadlock" if check.cycle else "ok"
    assert check.verdict == wanted
    if answer.lmc == 0 and machine.endpoint_count < 50:
        found = walk(Fabric(machine), answer.tables)
        assert (check.pairs, check.cut_pairs) == (found.pairs, found.cut)
    return "routed", check.verdict


def files(intact: Machine, faults: Faults, folder: Path) -> list[str | Path]:
    """Write a fabric and what failed in it; returns the arguments that name them."""
    fabric, failed = folder / "fabric", folder / "faults.json"
    text = SELF_CABLE if intact.name == SELF_CABLED else intact.write("json")
    fabric.write_text(text, encoding="utf-8")
    if not len(faults):
        return [fabric]
    lists = {f"failed_{kind}": getattr(faults, kind) for kind in ("links", "switches", "nodes")}
    failed.write_text(json.dumps(lists), encoding="utf-8")
    return [fabric, "--faults", failed]


@pytest.fixture(params=[*INTACT, *BROKEN])
def fabric(request: pytest.FixtureRequest) -> tuple[Machine, Faults]:
    name = request.param
    return BROKEN[name]() if name in BROKEN else (INTACT[name](), Faults())


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_routes_an_odd_fabric_or_says_why_not(
    engine: str, fabric: tuple[Machine, Faults]
) -> None:
    machine = fabric[0].fail(fabric[1])
    for compat in (None, "opensm"):
        for lmc in (0, 1):
            judge(machine, engine, machine.route(engine, compat=compat, lmc=lmc))
    for roots in (machine.switches().column("name")[:1], machine.switches().column("guid")):
        judge(machine, engine, machine.route(engine, roots=roots))
    on_one_lane = machine.route(engine, max_vl=1)
    if not (isinstance(on_one_lane, Refusal) and TOO_FEW[engine] in on_one_lane.reason):
        judge(machine, engine, on_one_lane)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_says_the_same_of_an_odd_fabric(
    engine: str, fabric: tuple[Machine, Faults], tmp_path: Path
) -> None:
    machine = fabric[0].fail(fabric[1])
    outcome, verdict = judge(machine, engine, machine.route(engine))
    arguments = [*files(*fabric, tmp_path), "--engine", engine]
    answer = run("route", *arguments, "--json")
    assert (answer.json["outcome"], answer.json["verdict"]) == (outcome, verdict)
    assert answer.status == (0 if verdict == "ok" else 1)
    assert (answer.json["reason"] is None) == (outcome == "routed")
    shown = run("route", *arguments)
    assert shown.status == answer.status
    assert shown.out


def test_an_odd_fabric_is_exported(fabric: tuple[Machine, Faults], tmp_path: Path) -> None:
    machine = fabric[0].fail(fabric[1])
    for engine in ENGINES:
        outcome, verdict = judge(machine, engine, machine.route(engine))
        out = tmp_path / engine
        arguments = [*files(*fabric, tmp_path), "--engine", engine, "-o", out]
        answer = run("route", "export", *arguments, "--json")
        assert answer.json["outcome"] == outcome
        assert answer.status == (0 if verdict == "ok" else 1)
        assert out.exists() == (outcome == "routed")
        assert bool(answer.json["files"]) == (outcome == "routed" and machine.plane_count > 0)


def test_all_engines_are_compared_on_an_odd_fabric(
    fabric: tuple[Machine, Faults], tmp_path: Path
) -> None:
    machine = fabric[0].fail(fabric[1])
    answer = run("route", "compare", *files(*fabric, tmp_path), "--json")
    # Other tests may have registered engines of their own.
    rows = {row["engine"]: row for row in answer.json["rows"] if row["engine"] in ENGINES}
    assert list(rows) == ENGINES
    for engine, row in rows.items():
        wanted = judge(machine, engine, machine.route(engine))
        assert (row["outcome"], row["verdict"]) == wanted
