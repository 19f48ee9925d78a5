"""Engines whose tables need not be OpenSM's in every entry: what they promise is, or the difference is stated here.

LASH turned out to be the same in every entry and layer. DFSSSP has OpenSM's tables (`test_opensm.py`) and other lanes, since it
breaks cycles elsewhere. Torus-2QoS takes the same ways over other parallel cables. Fat-tree is the same on even trees and
spreads otherwise on uneven ones. Nue is another search; both keep their promise. What OpenSM answers is judged by the check of
the package.
"""

import re
from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import runflat
from command import STAGE
from fabric import Fabric
from opensm import judge
from opensm.compare import differences
from opensm.options import Options
from opensm.scramble import scrambled
from opensm.subnet import Answer
from runflat import Check, Machine, Refusal, Routing
from test_opensm import FABRICS, ask, irregular

pytestmark = pytest.mark.usefixtures("opensm_programs")

LANED = [
    *FABRICS, "kautz(3; 3; 1; 7)", "torus(6,6)", "hyperx(3,4; 2,1; 2)", "slim-fly(5)", "deimos",
    "random-regular(60; 6; 3)",
]  # fmt: skip


def routed(answer: Routing | Refusal) -> Routing:
    assert isinstance(answer, Routing), answer
    return answer


def broken(fabric: str, seed: int) -> Machine:
    return runflat.make(fabric).fail(seed=seed, links="10%", switches=seed % 3, nodes=seed)


def log(answer: Answer) -> str:
    return (answer.folder / "osm.log").read_text(encoding="utf-8", errors="replace")


def walked(check: Check) -> tuple[str, int, int, int, int, float]:
    """Return what a check says of the ways, lanes aside."""
    return (
        check.verdict, check.unreachable_pairs, check.cut_pairs, check.nonminimal_pairs,
        check.hops_max, check.hops_mean,
    )  # fmt: skip


def lash_is_theirs(machine: Machine, folder: Path, plugin: Path, text: str | None = None) -> None:
    theirs = ask(machine, "lash", folder, Options(probe=plugin), text)
    assert theirs.tables is not None, theirs.failure
    ours = routed(machine.route("lash", compat="opensm"))
    assert differences(machine, ours.tables, theirs.tables) == []
    needed = re.findall(r"Lanes needed: (\d+)", log(theirs))
    assert [ours.layers] == list(map(int, needed))
    found = judge.routing(machine, theirs).check()
    assert walked(found) == walked(ours.check())
    assert found.unreachable_pairs == found.cut_pairs
    assert routed(machine.route("lash(switches=all)")).layers <= ours.layers + 1
    assert routed(machine.route("lash(switches=with-nodes)", compat="opensm")).layers <= ours.layers


@pytest.mark.parametrize("fabric", LANED)
def test_lash_is_that_of_opensm(fabric: str, plugin: Path, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make(fabric), 1)
    lash_is_theirs(machine, tmp_path, plugin, text)


@pytest.mark.parametrize("seed", range(5))
def test_lash_is_that_of_opensm_on_irregular_fabrics(
    seed: int, plugin: Path, tmp_path: Path
) -> None:
    machine, text = scrambled(irregular(seed), seed, lids=seed % 2 == 0)
    lash_is_theirs(machine, tmp_path, plugin, text)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fabric", ["mesh(4,4; 2; 2)", "4-ary 3-tree", "torus(5,5; 1; 2)"])
def test_lash_is_that_of_opensm_on_broken_fabrics(
    fabric: str, seed: int, plugin: Path, tmp_path: Path
) -> None:
    lash_is_theirs(broken(fabric, seed), tmp_path, plugin)


def test_lash_is_that_of_opensm_on_a_real_fabric(plugin: Path, tmp_path: Path) -> None:
    lash_is_theirs(runflat.load(STAGE), tmp_path, plugin)


@pytest.mark.parametrize("fabric", ["torus(6,6)", "4-ary 3-tree", "kautz(3; 3; 1; 7)"])
def test_lash_lays_as_many_pairs_into_each_layer(fabric: str, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make(fabric), 2)
    theirs = log(ask(machine, "lash", tmp_path, None, text))
    before_balancing = theirs[: theirs.index("Balancing")]
    counts = re.findall(r"Lanes in layer \d+: (\d+)", before_balancing)
    ours = routed(machine.route("lash(balance=false)", compat="opensm"))
    assert ours.service_levels is not None
    between = ours.service_levels[:, machine.endpoint_count :]
    found = Counter(between[~np.eye(len(between), dtype=bool)].tolist())
    assert [found[layer] for layer in sorted(found)] == list(map(int, counts))


def test_lash_refuses_a_torus_that_opensm_refuses(tmp_path: Path) -> None:
    machine = runflat.make("torus(6,6,6)")
    theirs = ask(machine, "lash", tmp_path)
    assert theirs.failure is not None
    assert "Lane requirements (9) exceed available lanes (8)" in theirs.failure
    ours = machine.route("lash", compat="opensm")
    assert isinstance(ours, Refusal)
    assert "8 lanes are too few" in ours.reason


def dfsssp_needs_no_more(
    machine: Machine, folder: Path, plugin: Path, text: str | None = None
) -> None:
    theirs = ask(machine, "dfsssp", folder, Options(probe=plugin), text)
    said = re.search(r"Virtual Lanes needed: (\d+)", log(theirs))
    assert said is not None
    needed = int(said[1])
    offline, online = (
        routed(machine.route(f"dfsssp(layering={how})", compat="opensm", max_vl=15))
        for how in ("offline", "online")
    )
    # OpenSM stops at 9 where 8 do not suffice.
    assert offline.layers <= needed + 1 or needed > 8
    assert online.layers <= needed
    for routing in (offline, online):
        check = routing.check()
        assert check.cycle is None
        assert check.unreachable_pairs == check.cut_pairs
    if theirs.engine is not None:
        found = judge.routing(machine, theirs).check()
        assert walked(found) == walked(offline.check())


@pytest.mark.parametrize("fabric", [*LANED, "torus(4,4,4)", "mesh(4,4,4)", "mesh(8,8)"])
def test_dfsssp_needs_at_most_a_lane_more_than_opensm(
    fabric: str, plugin: Path, tmp_path: Path
) -> None:
    machine, text = scrambled(runflat.make(fabric), 1)
    dfsssp_needs_no_more(machine, tmp_path, plugin, text)


@pytest.mark.parametrize("seed", range(5))
def test_dfsssp_needs_at_most_a_lane_more_on_broken_fabrics(
    seed: int, plugin: Path, tmp_path: Path
) -> None:
    fabric = ["4-ary 3-tree", "torus(5,5; 1; 2)", "dragonfly(2,4,2)", "kautz(3; 3; 1; 7)", "deimos"]
    dfsssp_needs_no_more(broken(fabric[seed], seed), tmp_path, plugin)


@pytest.mark.parametrize("seed", range(12))
def test_dfsssp_of_opensm_lays_out_what_nodes_send_to_nodes_and_switches(
    seed: int, tmp_path: Path
) -> None:
    machine = [
        runflat.make("4-ary 3-tree").fail(seed=seed, links=f"{seed}%"),
        runflat.make("3-ary 3-tree").fail(seed=seed, links=f"{seed}%"),
        irregular(seed),
    ][seed % 3]
    theirs = ask(machine, "dfsssp", tmp_path)
    assert theirs.tables is not None, theirs.failure
    fabric = Fabric(machine)
    graph: nx.DiGraph[int] = nx.DiGraph()
    for source in np.flatnonzero(judge.with_nodes(machine)):
        for lid in range(machine.lid_count):
            before, at = None, int(source)
            while (way := fabric.at.get((at, int(theirs.tables[at, lid])))) is not None:
                if not fabric.is_switch_channel(way):
                    break
                if before is not None:
                    graph.add_edge(before, way)
                before, at = way, fabric.head[way][0]
    one_lane = "Virtual Lanes needed: 1" in log(theirs)
    assert nx.is_directed_acyclic_graph(graph) == one_lane


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize(
    "fabric", ["4-ary 3-tree", "torus(6,6)", "slim-fly(5)", "deimos", "broken"]
)
def test_nue_routes_within_the_lanes_like_opensm(
    fabric: str, lanes: int, plugin: Path, tmp_path: Path
) -> None:
    machine = broken("torus(5,5; 1; 2)", 1) if fabric == "broken" else runflat.make(fabric)
    # Without QoS OpenSM's Nue takes one lane, whatever it is allowed.
    options = Options(probe=plugin, qos=True, config={"nue_max_num_vls": str(lanes)})
    theirs = ask(machine, "nue", tmp_path, options)
    assert theirs.engine == "nue", theirs.failure
    ours = routed(machine.route("nue", max_vl=lanes))
    for check in (judge.routing(machine, theirs).check(), ours.check()):
        assert check.verdict == ("incomplete" if check.cut_pairs else "ok")
        assert check.unreachable_pairs == check.cut_pairs
        assert check.cycle is None
        assert check.vls <= lanes


GRIDS = [
    "torus(4,4)", "torus(5,3,3)", "torus(4,4; 2; 3)", "torus(6,5,4; 1; 2)", "torus(3,3,3; 4; 10)",
    "mesh(4,3,2)", "mesh(3,3; 2; 4)", "mesh(5,5,5)",
]  # fmt: skip


def torus_is_theirs(
    machine: Machine, conf: str, folder: Path, plugin: Path, text: str | None = None
) -> str:
    """Compare; returns what came of it."""
    options = Options(probe=plugin, qos=True, torus=conf)
    theirs = ask(machine, "torus-2QoS", folder, options, text)
    # OpenSM always programs both qualities.
    ours = machine.route("torus-2QoS(qos_levels=2)", compat="opensm", torus_conf=conf)
    if theirs.engine is None:
        assert isinstance(ours, Refusal), theirs.failure
        return "refused"
    assert theirs.tables is not None
    found = judge.routing(machine, theirs).check()
    assert found.cycle is None
    if found.unreachable_pairs > found.cut_pairs:
        # A switch that its cables give no place: OpenSM warns and leaves it without routes.
        assert "Could not construct torus using all known fabric switches" in log(theirs)
        assert isinstance(ours, Refusal), "complete or refused, never in part"
        return "incomplete"
    ours = routed(ours)
    assert walked(found) == walked(ours.check())
    assert (judge.hops(machine, ours.tables) == judge.hops(machine, theirs.tables)).all()
    assert theirs.lanes is not None
    assert ours.service_levels is not None
    # In a mesh OpenSM sets the bits of the datelines too, though no way crosses one.
    crossed = 0b111 if "torus" in conf else 0
    pairs = theirs.lanes.of_nodes[:, : machine.endpoint_count]
    asked = pairs != 255
    levels = ours.service_levels[:, : machine.endpoint_count]
    assert (levels[asked] == pairs[asked] & crossed).all()
    assert ours.sl_to_vl is not None
    # What comes in by a dead cable, OpenSM takes for a node's.
    alive = set(usable_ports(machine))
    for switch, table in theirs.sl2vl.items():
        ports = [port for port in range(len(table)) if port == 0 or (switch, port) in alive]
        square = np.ix_(ports, ports)
        named = (table[square] != 255).all(axis=2)
        assert named.any()
        assert (ours.sl_to_vl[switch][square][named] == table[square][named]).all()
    return "routed"


def usable_ports(machine: Machine) -> list[tuple[int, int]]:
    return [
        (row[end], row[f"{end}_port"])
        for row in machine.links().to_rows()
        for end in ("a", "b")
        if row["alive"] and row[end] < machine.switch_count
    ]


@pytest.mark.parametrize("fabric", GRIDS)
def test_torus_2qos_has_the_ways_and_lanes_of_opensm(
    fabric: str, plugin: Path, tmp_path: Path
) -> None:
    machine = runflat.make(fabric)
    conf = machine.torus_conf()
    assert conf is not None
    assert torus_is_theirs(machine, conf, tmp_path, plugin) == "routed"


@pytest.mark.parametrize("fabric", ["torus(5,3,3)", "torus(4,4; 2; 3)", "mesh(4,3,2)"])
def test_torus_2qos_follows_the_conf_on_a_scrambled_fabric(
    fabric: str, plugin: Path, tmp_path: Path
) -> None:
    plain = runflat.make(fabric)
    machine, text = scrambled(plain, 3)
    conf = plain.torus_conf()
    assert conf is not None
    new = dict(
        zip(machine.switches().column("name"), machine.switches().column("guid"), strict=True)
    )
    for name, guid in zip(
        plain.switches().column("name"), plain.switches().column("guid"), strict=True
    ):
        conf = conf.replace(guid, new[name])
    assert torus_is_theirs(machine, conf, tmp_path, plugin, text) == "routed"


@pytest.mark.parametrize(
    ("fabric", "seed", "faults", "outcome"),
    [
        ("torus(5,5,5)", 0, {"links": 3}, "routed"),
        ("torus(5,5,5)", 1, {"switches": 1}, "routed"),
        ("torus(5,5,5)", 4, {"links": 2, "switches": 1}, "routed"),
        ("torus(5,5,5)", 1, {"links": "3%"}, "refused"),
        ("torus(5,5,5)", 0, {"switches": 2}, "refused"),
        ("torus(4,4; 2; 2)", 0, {"links": 3}, "routed"),
        ("torus(4,4; 2; 2)", 1, {"links": 2, "switches": 1}, "routed"),
        ("torus(6,6)", 0, {"links": 3}, "routed"),
        ("torus(6,6)", 5, {"switches": 1}, "routed"),
        ("torus(6,6)", 5, {"links": 3}, "incomplete"),
        ("mesh(4,4,3; 1; 2)", 5, {"links": 1}, "incomplete"),
        ("mesh(4,4,3; 1; 2)", 0, {"links": 1}, "refused"),
    ],
)  # fmt: skip
def test_torus_2qos_has_the_ways_and_lanes_of_opensm_on_broken_grids(
    fabric: str, seed: int, faults: dict[str, object], outcome: str, plugin: Path, tmp_path: Path
) -> None:
    intact = runflat.make(fabric)
    conf = intact.torus_conf()
    assert conf is not None
    machine = intact.fail(seed=seed, **faults)
    assert torus_is_theirs(machine, conf, tmp_path, plugin) == outcome


TREES = [
    "4-ary 2-tree", "4-ary 3-tree", "6-ary 3-tree", "XGFT(2; 4,6; 1,3)", "XGFT(3; 3,3,3; 1,2,2)",
    "fat-tree(8; 3)", "fat-tree(12; 2)",
]  # fmt: skip


def spines(machine: Machine) -> list[str]:
    """Return the GUIDs of the switches at the top."""
    guids = machine.switches().column("guid")
    names = machine.switches().column("name")
    top = machine.find_roots() or [name for name in names if "spine" in name]
    return [guid for name, guid in zip(names, guids, strict=True) if name in top]


def tree_is_theirs(
    machine: Machine, roots: list[str], folder: Path, text: str | None = None
) -> tuple[str, str]:
    """Compare; returns what came of it with OpenSM and with us."""
    theirs = ask(machine, "ftree", folder, Options(roots=roots), text)
    ours = machine.route("ftree", compat="opensm", roots=roots)
    check = None if isinstance(ours, Refusal) else ours.check()
    # Never less than what cables allow.
    assert check is None or check.unreachable_pairs == check.cut_pairs
    outcome = "refused" if check is None else check.verdict
    if theirs.engine is None:
        return "refused", outcome
    found = judge.routing(machine, theirs).check()
    assert found.cycle is None
    if found.unreachable_pairs > found.cut_pairs:
        return "incomplete", outcome
    assert theirs.tables is not None
    ours = routed(ours)
    assert walked(found) == walked(ours.check())
    # The ways may lead over other roots, but are as long, one by one.
    between = judge.with_nodes(machine)
    lengths = [judge.hops(machine, tables)[between] for tables in (ours.tables, theirs.tables)]
    assert (lengths[0] == lengths[1]).all()
    assert judge.histogram(machine, ours.tables) == judge.histogram(machine, theirs.tables)
    return "routed", "routed"


@pytest.mark.parametrize("fabric", TREES)
def test_fat_tree_is_that_of_opensm_on_even_trees(fabric: str, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make(fabric), 1)
    ours = routed(machine.route("ftree", compat="opensm"))
    theirs = ask(machine, "ftree", tmp_path, None, text)
    assert theirs.tables is not None, theirs.failure
    assert differences(machine, ours.tables, theirs.tables) == []
    roots = spines(machine)
    assert tree_is_theirs(machine, roots, tmp_path / "with-roots", text) == ("routed", "routed")


@pytest.mark.parametrize(
    "fabric", ["tsubame2(rails=1)", "rail-fat-tree(16; 4; 16)", "director-tree(144; 12)"]
)
def test_fat_tree_has_ways_as_long_as_opensm_on_uneven_trees(fabric: str, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make(fabric), 1)
    assert tree_is_theirs(machine, spines(machine), tmp_path, text) == ("routed", "routed")


@pytest.mark.parametrize(
    ("fabric", "outcomes"),
    [
        ("tsubame2(rails=1)", ("refused", "refused")),
        ("torus(4,4)", ("refused", "refused")),
        ("dragonfly(2,4,2)", ("refused", "refused")),
        # OpenSM leaves two to four nodes without any route, others in each run, and says nothing.
        ("deimos", ("incomplete", "ok")),
        # OpenSM wants nodes at the lowest level of switches, we want them all at one level.
        ("director-tree(144; 12)", ("refused", "ok")),
    ],
)  # fmt: skip
def test_fat_tree_without_roots_refuses_or_is_complete(
    fabric: str, outcomes: tuple[str, str], tmp_path: Path
) -> None:
    assert tree_is_theirs(runflat.make(fabric), [], tmp_path) == outcomes


@pytest.mark.parametrize(
    ("fabric", "seed", "faults", "outcomes"),
    [
        ("4-ary 3-tree", 0, {"links": "5%"}, ("routed", "routed")),
        ("4-ary 3-tree", 1, {"links": "10%", "switches": 1}, ("routed", "routed")),
        ("fat-tree(8; 3)", 1, {"links": "5%"}, ("routed", "routed")),
        ("4-ary 2-tree", 3, {"links": "10%", "switches": 1}, ("routed", "routed")),
        # OpenSM hands over tables without the routes that would go up again; we refuse them.
        ("fat-tree(8; 3)", 2, {"links": "10%", "switches": 1}, ("incomplete", "refused")),
        ("XGFT(3; 3,3,3; 1,2,2)", 2, {"links": "10%", "switches": 1}, ("incomplete", "refused")),
        ("deimos", 0, {"switches": 1}, ("incomplete", "ok")),
        # Complete, but cables between directors close a credit loop, which the check finds.
        ("deimos", 0, {"links": "5%"}, ("incomplete", "deadlock")),
    ],
)  # fmt: skip
def test_fat_tree_with_roots_on_broken_trees(
    fabric: str, seed: int, faults: dict[str, object], outcomes: tuple[str, str], tmp_path: Path
) -> None:
    intact = runflat.make(fabric)
    machine = intact.fail(seed=seed, **faults)
    assert tree_is_theirs(machine, spines(intact), tmp_path) == outcomes
