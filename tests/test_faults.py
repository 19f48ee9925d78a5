"""Failures: drawn, nested, named, and really there afterwards."""

import itertools
import json
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import runflat
from command import STAGE, run
from fabric import Fabric, machines
from runflat import FaultError, Faults, Machine


@pytest.fixture(scope="module")
def stage() -> Machine:
    return runflat.load(STAGE)


@settings(deadline=None, max_examples=60)
@given(machine=machines(), seed=st.integers(0, 2**64 - 1), sample=st.integers(0, 1000))
def test_few_failures_are_among_many_of_the_same_sample(
    machine: Machine, seed: int, sample: int
) -> None:
    for parts, most in (("links", machine.switch_link_count), ("switches", machine.switch_count)):
        drawn = [
            set(getattr(machine.fail(seed=seed, sample=sample, **{parts: k}).faults, parts))
            for k in range(min(most, 6) + 1)
        ]
        assert [len(names) for names in drawn] == list(range(len(drawn)))
        assert all(few < many for few, many in itertools.pairwise(drawn))


def test_samples_and_seeds_draw_different_failures_and_each_always_the_same(stage: Machine) -> None:
    draws = {
        (seed, sample): tuple(stage.fail(links=5, seed=seed, sample=sample).faults.links)
        for seed in (1, 2)
        for sample in (0, 1)
    }
    assert len(set(draws.values())) == 4
    for (seed, sample), links in draws.items():
        assert tuple(stage.fail(links=5, seed=seed, sample=sample).faults.links) == links


def test_a_per_cent_counts_cables_between_switches_and_is_rounded_down(stage: Machine) -> None:
    assert stage.fail(links="10%").failed_counts[0] == 4
    assert stage.fail(links="2%").failed_counts[0] == 0
    assert stage.fail(links="100%").failed_counts[0] == 47
    assert stage.fail(links="100%").summary()["links"] == 0


@settings(deadline=None, max_examples=60)
@given(machine=machines(), seed=st.integers(0, 1000))
def test_failed_parts_are_dead_and_no_others_but_their_cables(machine: Machine, seed: int) -> None:
    broken = machine.fail(links="40%", switches="30%", nodes="30%", seed=seed)
    faults = broken.faults
    dead = {
        kind: [row["name"] for row in getattr(broken, kind)().to_rows() if not row["alive"]]
        for kind in ("switches", "nodes")
    }
    assert dead["switches"] == faults.switches
    assert dead["nodes"] == faults.nodes
    parts = set(faults.switches) | set(faults.nodes)
    for row in broken.links().to_rows():
        ends = {plug.split("[")[0] for plug in row["name"].split(" <-> ")}
        assert row["alive"] == (row["name"] not in faults.links and not ends & parts)


@settings(deadline=None, max_examples=60)
@given(machine=machines(), seed=st.integers(0, 1000))
def test_keep_connected_cuts_nobody_off_or_says_how_many_can_fail(
    machine: Machine, seed: int
) -> None:
    try:
        broken = machine.fail(links="50%", keep_connected=True, seed=seed)
    except FaultError as error:
        message = str(error)
        event("fewer can fail")
    else:
        # Nodes with several cables may lose all but one; those with one must be reached by it.
        left = Fabric(broken)
        homes = Counter(endpoint[0] for endpoint in left.endpoints)
        for source, target in left.pairs():
            if homes[source] == homes[target[0]] == 1:
                assert left.distance(source, target) is not None
        assert broken.cut_nodes() == []
        return
    assert "cannot fail while all nodes stay connected" in message


def test_without_keep_connected_nodes_are_cut_off() -> None:
    chain = Machine.build(
        "chain", switches=["a", "b"], nodes=["x", "y", "z"],
        cables=[("a", "b"), ("x", "a"), ("y", "a"), ("z", "b")],
    )  # fmt: skip
    assert chain.fail(links=1).cut_nodes() == ["z"]
    with pytest.raises(FaultError, match="1 links cannot fail while all nodes stay connected, 0"):
        chain.fail(links=1, keep_connected=True)


def test_parts_fail_by_name_plug_and_guid(stage: Machine) -> None:
    switches = stage.switches().to_rows()
    cable = next(row for row in stage.links().to_rows() if row["b"] < len(switches))
    plug = cable["name"].split(" <-> ")[0]
    for link in (cable["name"], plug):
        assert stage.fail(Faults(links=[link])).faults.links == [cable["name"]]
    for switch in (switches[2]["name"], switches[2]["guid"]):
        assert stage.fail(Faults(switches=[switch])).faults.switches == [switches[2]["name"]]
    node = stage.nodes().to_rows()[7]
    assert stage.fail(Faults(nodes=[node["guid"]])).faults.nodes == [node["name"]]


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (Faults(switches=["nobody"]), "no switch `nobody`"),
        (Faults(nodes=["MF0;ib5:SX6036/U1"]), "is a switch; a node is wanted here"),
        (Faults(links=["nonsense"]), "is no cable; write one plug"),
        (Faults(links=["MF0;ib5:SX6036/U1[17]"]), "port 17 of `MF0;ib5:SX6036/U1` has no cable"),
    ],
)
def test_a_name_that_no_part_has_is_refused(faults: Faults, message: str, stage: Machine) -> None:
    with pytest.raises(FaultError) as caught:
        stage.fail(faults)
    assert message in str(caught.value)


def test_the_exhaustive_model_fails_every_cable_once(stage: Machine) -> None:
    failed = [stage.fail(model="exhaustive", sample=i).faults.links for i in range(47)]
    assert sorted(name for (name,) in failed) == sorted(
        row["name"] for row in stage.links().to_rows() if max(row["a"], row["b"]) < 8
    )
    with pytest.raises(FaultError, match="there is no sample 47; there are 47"):
        stage.fail(model="exhaustive", sample=47)


def test_the_correlated_model_fails_whole_groups() -> None:
    machine = runflat.make("cray-xc(2)")
    broken = machine.fail(model="correlated", level="chassis")
    assert broken.failed_counts[1] == 16, "a chassis of a Cray XC has 16 routers"
    graph = Fabric(broken).alive
    assert nx.number_of_isolates(graph) == 16
    with pytest.raises(FaultError, match="the machine has no level `rack`; it has"):
        machine.fail(model="correlated", level="rack")


def test_the_lifetime_model_loses_the_expected_parts_a_year(stage: Machine) -> None:
    broken = stage.fail(model="lifetime", years=10, link_rate=0.05, switch_rate=0)
    links = broken.failed_counts[0]
    assert broken.failed_counts[1] == 0
    assert 15 <= links <= 24, "10 years at 5 % of what is left of 47"
    younger = stage.fail(model="lifetime", years=5, link_rate=0.05, switch_rate=0)
    assert set(younger.faults.links) < set(broken.faults.links)


def test_a_fault_file_breaks_the_machine_as_the_draw_did(stage: Machine, tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    drawn = run(
        "faults", "draw", STAGE, "--links", "4", "--switches", "1", "--seed", "3", "-o", path
    )
    assert drawn.status in (0, 1)
    faults = Faults.read(path)
    assert len(faults) == 5
    assert stage.fail(faults).faults == stage.fail(links=4, switches=1, seed=3).faults
    assert json.loads(path.read_text())["seed"] == 3
