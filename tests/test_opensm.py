"""Our tables with `compat="opensm"` against those of the real OpenSM on ibsim, entry by entry.

Beside them, from the same runs, the restatements in `opensm.reference`: they say in plain Python what the rules are.

A fabric in parts: OpenSM sees the part of its port (of the first endpoint alive) and writes nothing for the others, so the
rows of switches outside that part are left out of the comparison. Nothing else is.
"""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import runflat
from command import STAGE
from opensm import reference
from opensm.compare import differences
from opensm.numbering import Numbering
from opensm.options import Options
from opensm.scramble import scrambled
from opensm.subnet import Answer, Subnet
from runflat import Machine, Refusal

IDENTICAL = ["minhop", "updn", "dor", "sssp", "dfsssp", "lash"]
"""Engines whose tables with `compat="opensm"` must be OpenSM's in every entry."""

FABRICS = [
    "4-ary 2-tree", "4-ary 3-tree", "6-ary 3-tree", "torus(4,4)", "random-regular(20; 5)",
    "dragonfly(2,4,2)", "mesh(3,3; 2; 4)",
]  # fmt: skip

RESTATED = {"minhop": "minhop", "dor": "dor", "updn": "updn", "sssp": "sssp", "dfsssp": "sssp"}
"""Engines that `opensm.reference` restates, and by which function."""

pytestmark = pytest.mark.usefixtures("opensm_programs")


def ask(
    machine: Machine,
    engine: str,
    folder: Path,
    options: Options | None = None,
    text: str | None = None,
) -> Answer:
    with Subnet(machine, folder / "subnet", text=text) as fabric:
        return fabric.route(engine, options)


def irregular(seed: int) -> Machine:
    """Draw a connected machine: parallel cables, bare switches, nodes with up to three cables."""
    draw = random.Random(seed)
    switches = [f"s{i}" for i in range(draw.randint(2, 40 if seed % 5 == 0 else 14))]
    cables = [(name, switches[draw.randrange(at)]) for at, name in enumerate(switches) if at]
    for _ in range(draw.randint(0, 3 * len(switches))):
        a, b = draw.sample(switches, 2)
        cables += [(a, b)] * draw.choice([1, 1, 1, 2, 3])
    nodes = [f"n{i}" for i in range(draw.randint(1, 3 * len(switches)))]
    for node in nodes:
        cables += [(node, draw.choice(switches)) for _ in range(draw.choice([1, 1, 1, 1, 2, 3]))]
    draw.shuffle(cables)
    return Machine.build(f"irregular {seed}", switches=switches, nodes=nodes, cables=cables)


def guids(numbering: Numbering, endpoints: list[int]) -> list[str]:
    return [f"0x{numbering.endpoints[at].guid:016x}" for at in endpoints]


def ours_is_theirs(
    machine: Machine,
    engine: str,
    folder: Path,
    text: str | None,
    options: Options | None = None,
    restated: Mapping[str, object] | None = None,
    **more: object,
) -> None:
    """Compare our tables with OpenSM's, entry by entry; the restatement's too, if told its arguments."""
    options = options or Options()
    inputs = {
        "roots": options.roots, "compute_nodes": options.compute, "io_nodes": options.io,
        "routing_order": options.order,
    }  # fmt: skip
    ours = machine.route(engine, compat="opensm", lmc=options.lmc, **inputs, **more)  # type: ignore[arg-type]
    theirs = ask(machine, engine, folder, options, text)
    if isinstance(ours, Refusal):
        assert engine in ("dfsssp", "lash")
        assert "lanes" in ours.reason
        assert theirs.engine is None
        return
    assert theirs.engine == engine, theirs.failure
    assert theirs.tables is not None
    tables = seen(machine, ours.tables)
    assert differences(machine, tables, theirs.tables, lmc=options.lmc) == []
    if restated is not None and engine in RESTATED:
        restatement_is_theirs(machine, engine, theirs.tables, options.lmc, **restated)


def restatement_is_theirs(
    machine: Machine, engine: str, theirs: NDArray[np.uint8], lmc: int, **arguments: object
) -> None:
    """Compare the restatement of an engine with OpenSM's tables."""
    restate: Callable[..., NDArray[np.uint8]] = getattr(reference, RESTATED[engine])
    tables = restate(reference.Wiring.of(machine, lmc=lmc), **arguments)
    assert differences(machine, tables, theirs, lmc=lmc) == []


def seen(machine: Machine, tables: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the tables with no entries at switches that OpenSM does not see from its port."""
    found = np.full_like(tables, 255)
    part = reference.Wiring.of(machine).switches
    found[part] = tables[part]
    return found


def a_root(machine: Machine, engine: str) -> list[str]:
    return machine.switches().column("guid")[:1] if engine == "updn" else []


def a_root_each(machine: Machine) -> list[int]:
    """Return the first living switch of each part, that of OpenSM's port first."""
    found: list[int] = []
    reached: set[int] = set()
    alive = np.flatnonzero(machine.switches().column("alive")).tolist()
    for start in [reference.Wiring.of(machine).switches[0], *alive]:
        if start not in reached:
            found.append(start)
            reached.update(reference.Wiring.of(machine, start=start).switches)
    return found


@pytest.mark.parametrize("fabric", [*FABRICS, "kautz(3; 3; 1; 7)", "random-regular(300; 6; 1)"])
@pytest.mark.parametrize("engine", IDENTICAL)
def test_our_tables_are_those_of_opensm(engine: str, fabric: str, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make(fabric), 1)
    ours_is_theirs(machine, engine, tmp_path, text, Options(roots=a_root(machine, engine)))


@pytest.mark.parametrize("engine", IDENTICAL)
def test_our_tables_are_those_of_opensm_on_a_real_fabric(engine: str, tmp_path: Path) -> None:
    machine = runflat.load(STAGE)
    ours_is_theirs(machine, engine, tmp_path, None, Options(roots=a_root(machine, engine)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("engine", IDENTICAL)
def test_our_tables_are_those_of_opensm_on_irregular_fabrics_with_its_inputs(
    engine: str, seed: int, tmp_path: Path
) -> None:
    """With 1 to 8 LIDs a port; also the thin test that the restatements equal OpenSM."""
    machine, text = scrambled(irregular(seed), seed, lids=seed % 2 == 0)
    numbering = Numbering.of(machine, seed % 4)
    draw = random.Random(seed)
    everyone = range(len(numbering.endpoints))
    compute, io = (draw.sample(everyone, draw.randrange(len(everyone))) for _ in range(2))
    # SSSP takes node lists, the others an order of destinations, switches among them.
    lists: dict[str, list[str]] = {}
    restated: dict[str, object] = {}
    if engine in ("sssp", "dfsssp"):
        lists = {"compute": guids(numbering, compute), "io": guids(numbering, io)}
        restated = {"compute": compute, "io": io}
    else:
        dense = {lids[0]: guid for guid, lids in numbering.dense().items()}
        first = draw.sample(sorted(dense), len(dense) // 2)
        lists = {"order": [f"0x{dense[lid]:016x}" for lid in first]}
        restated = {"first": first}
    if engine == "updn":
        restated["roots"] = [0]
    # DFSSSP may need more lanes than ibsim has; its tables are those of SSSP all the same.
    more = {"max_vl": 15} if engine == "dfsssp" else {}
    options = Options(lmc=seed % 4, roots=a_root(machine, engine), **lists)
    ours_is_theirs(machine, engine, tmp_path, text, options, restated, **more)


BROKEN: dict[str, tuple[int, dict[str, Any]]] = {
    "mesh(4,4; 2; 2)": (0, {"links": "25%", "switches": 2}),
    "mesh(3,3,3; 1; 2)": (0, {"links": "35%"}),
    "torus(5,5; 1; 2)": (1, {"links": "10%", "switches": 2}),
    "4-ary 3-tree": (0, {"links": "15%", "switches": 3}),
    "dragonfly(2,4,2)": (1, {"links": "20%", "switches": 1, "nodes": 5}),
    "random-regular(20; 5)": (2, {"links": "40%", "nodes": 3}),
}
"""LMC and failures; these part some of the fabrics."""


@pytest.mark.parametrize("fabric", BROKEN)
@pytest.mark.parametrize("engine", IDENTICAL)
def test_our_tables_are_those_of_opensm_on_broken_fabrics(
    engine: str, fabric: str, tmp_path: Path
) -> None:
    machine, _ = scrambled(runflat.make(fabric), 2)
    lmc, faults = BROKEN[fabric]
    machine = machine.fail(seed=2, **faults)
    guids = machine.switches().column("guid")
    roots = a_root_each(machine) if engine == "updn" else []
    options = Options(roots=[guids[root] for root in roots], lmc=lmc)
    restated = {"roots": roots} if roots else {}
    ours_is_theirs(machine, engine, tmp_path, None, options, restated)


def test_some_broken_fabrics_are_in_parts_and_opensm_sees_nearly_all() -> None:
    parts = []
    for fabric, (_, faults) in BROKEN.items():
        machine = scrambled(runflat.make(fabric), 2)[0].fail(seed=2, **faults)
        parts.append(len(a_root_each(machine)))
        alive = sum(machine.switches().column("alive"))
        assert len(reference.Wiring.of(machine).switches) >= 0.9 * alive
    assert max(parts) > 1


@pytest.mark.parametrize(("lmc", "seed"), [(4, 0), (4, 3), (7, 6), (7, 7)])
@pytest.mark.parametrize("engine", IDENTICAL)
def test_our_tables_are_those_of_opensm_with_many_lids(
    engine: str, lmc: int, seed: int, tmp_path: Path
) -> None:
    machine, text = scrambled(irregular(seed), seed)
    options = Options(lmc=lmc, roots=a_root(machine, engine))
    ours_is_theirs(machine, engine, tmp_path, text, options)


@pytest.mark.parametrize(("seed", "lmc"), [(0, 1), (5, 2), (6, 1), (9, 2)])
@pytest.mark.parametrize("engine", ["minhop", "updn", "dor"])
def test_our_tables_are_those_of_opensm_where_switches_share_a_system(
    engine: str, seed: int, lmc: int, tmp_path: Path
) -> None:
    machine, text = scrambled(irregular(seed), seed)
    draw = random.Random(seed)
    systems = {}
    for switch, guid in enumerate(machine.switches().column("guid")):
        systems[switch] = draw.randint(1, 4)
        line = f"switchguid={guid}"
        assert line in text
        text = text.replace(line, f"sysimgguid=0x{systems[switch]:x}\n{line}")
    (tmp_path / "fabric").write_text(text, encoding="utf-8")
    chassis = runflat.load(tmp_path / "fabric")
    options = Options(lmc=lmc, roots=a_root(machine, engine))
    if engine != "dor":
        # The case tells something: chips that are apart would be routed otherwise.
        apart, together = (
            m.route(engine, compat="opensm", lmc=lmc, roots=options.roots).tables  # type: ignore[union-attr]
            for m in (machine, chassis)
        )
        assert (apart != together).any()
    restated: dict[str, object] = {} if engine == "dor" else {"systems": systems}
    if engine == "updn":
        restated["roots"] = [0]
    ours_is_theirs(chassis, engine, tmp_path, text, options, restated)


@pytest.mark.parametrize("fabric", ["4-ary 2-tree", "4-ary 3-tree", "XGFT(2; 4,6; 1,3)"])
def test_updn_finds_the_roots_that_opensm_finds(fabric: str, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make(fabric), 2)
    ours_is_theirs(machine, "updn", tmp_path, text, Options(), {})


@pytest.mark.parametrize("seed", range(3))
def test_the_restated_updn_follows_ids_and_connects_roots(seed: int, tmp_path: Path) -> None:
    """What the package has no input for."""
    machine, text = scrambled(irregular(seed), seed)
    guids_ = machine.switches().column("guid")
    draw = random.Random(seed)
    ids = {switch: draw.randrange(1000) for switch in range(machine.switch_count)}
    roots = draw.sample(range(machine.switch_count), min(3, machine.switch_count))
    named = tmp_path / "ids"
    named.write_text("".join(f"{guids_[switch]} {number}\n" for switch, number in ids.items()))
    options = Options(
        roots=[guids_[root] for root in roots],
        config={"ids_guid_file": str(named), "connect_roots": "TRUE"},
    )
    theirs = ask(machine, "updn", tmp_path, options, text)
    assert theirs.tables is not None, theirs.failure
    restatement_is_theirs(
        machine, "updn", theirs.tables, 0, roots=roots, ids=ids, connect_roots=True
    )


def test_a_refusal_is_reported_and_not_replaced_by_minhop(tmp_path: Path) -> None:
    machine = runflat.make("torus(4,4)")
    refused = ask(machine, "torus-2QoS", tmp_path)
    assert (refused.engine, refused.tables) == (None, None)
    assert refused.failure is not None
    assert "Enable QoS" in refused.failure


def test_a_silent_fallback_is_seen(tmp_path: Path) -> None:
    replaced = ask(runflat.make("torus(4,4)"), "updn", tmp_path, Options(fallback=True))
    assert replaced.engine == "minhop"
    assert any("updn" in warning for warning in replaced.warnings)


def test_differences_are_told_in_words(tmp_path: Path) -> None:
    machine = runflat.make("2-ary 2-tree")
    theirs = ask(machine, "minhop", tmp_path).tables
    assert theirs is not None
    ours = theirs.copy()
    ours[0, 3] = 255
    told = differences(machine, ours, theirs)
    assert told == [
        "1 of 32 entries differ",
        "s0.0 sends n3[1] nowhere, theirs to port 4 (s1.1)",
    ]


@pytest.mark.parametrize("engine", ["minhop", "dor", "updn", "ftree", "sssp", "dfsssp", "lash"])
def test_the_probe_sees_each_step_and_changes_nothing(
    engine: str, plugin: Path, tmp_path: Path
) -> None:
    with Subnet(runflat.make("4-ary 3-tree"), tmp_path / "subnet") as fabric:
        alone = fabric.route(engine)
        probed = fabric.route(engine, Options(probe=plugin))
    assert alone.tables is not None
    assert probed.tables is not None
    assert (alone.tables == probed.tables).all()
    assert alone.steps == []
    assert [(step.engine, step.step, step.status) for step in probed.steps] == [
        (engine, "build_lid_matrices", 0),
        (engine, "ucast_build_fwd_tables", 0),
    ]
    assert all(0 < step.cpu_s < 10 for step in probed.steps)
    assert (probed.lanes is not None) == (engine in ("dfsssp", "lash"))


def test_the_probe_sees_the_lanes_of_dfsssp_and_lash(plugin: Path, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make("torus(4,4; 1; 3)"), 1)
    with Subnet(machine, tmp_path / "subnet", text=text) as fabric:
        for engine in ("dfsssp", "lash"):
            lanes = fabric.route(engine, Options(probe=plugin, lmc=int(engine == "dfsssp"))).lanes
            assert lanes is not None
            assert lanes.disagreeing == 0
            used = np.unique(lanes.of_nodes)
            assert len(used) > 1
            assert used.max() < 8


def test_torus_2qos_gives_the_lanes_of_its_paper_rules(plugin: Path, tmp_path: Path) -> None:
    machine = runflat.make("torus(5,3,3)")
    shape, coordinates = machine.coordinates() or ([], [])
    guids = machine.switches().column("guid")
    at = {tuple(place): switch for switch, place in enumerate(coordinates)}
    lines = ["torus " + " ".join(map(str, shape))]
    for axis in range(3):
        place = tuple(int(axis == other) for other in range(3))
        lines.append(f"{'xyz'[axis]}p_link {guids[0]} {guids[at[place]]}")
    options = Options(probe=plugin, qos=True, torus="\n".join(lines) + "\n")
    answer = ask(machine, "torus-2QoS", tmp_path, options)
    assert answer.engine == "torus-2QoS", answer.failure
    assert answer.lanes is not None
    homes = {row["a"]: row["b"] for row in machine.links().to_rows() if row["a"] >= len(guids)}
    for lid, endpoint in enumerate(answer.numbering.endpoints):
        target = coordinates[homes[endpoint.node]]
        for switch, source in enumerate(coordinates):
            if source == target:
                continue
            sides = zip(source, target, shape, strict=True)
            wraps = [2 * abs(a - b) > size for a, b, size in sides]
            assert answer.lanes.of_nodes[switch, lid] == sum(w << d for d, w in enumerate(wraps))
    straight, turning_back = answer.sl2vl[0][1, 3], answer.sl2vl[0][3, 1]
    assert straight.tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 4, 4, 5, 5, 4, 4, 5, 5]
    assert turning_back.tolist() == [2, 3, 2, 3, 2, 3, 2, 3, 6, 7, 6, 7, 6, 7, 6, 7]
