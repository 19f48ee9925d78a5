"""Refusals are held against brute force, both ways: an engine refuses exactly where its promise cannot be kept."""

import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runflat
from fabric import Fabric, broken_machines, walk
from runflat import Machine, Refusal
from second_refusal import is_joined_up_and_down, parts

SMALL = [
    "torus(3)", "torus(4)", "torus(5)", "torus(8)", "torus(3,3)", "torus(4,4)", "torus(5,4; 1; 2)",
    "torus(3,3,3)", "mesh(4,4)", "mesh(3,3,3)", "4-ary 2-tree", "kautz(2; 3; 1; 2)",
]  # fmt: skip


def fits_one_lane(machine: Machine, tables: np.ndarray) -> bool:
    """Say whether all routes between nodes share one lane without a credit loop."""
    return nx.is_directed_acyclic_graph(walk(Fabric(machine), tables).dependencies)


def dfsssp_refuses_one_lane_rightly(machine: Machine, layering: str, compat: str | None) -> bool:
    answer = machine.route("dfsssp", max_vl=1, layering=layering, compat=compat)
    sssp = machine.route("sssp", compat=compat)
    assert not isinstance(sssp, Refusal)
    fits = fits_one_lane(machine, sssp.tables)
    assert isinstance(answer, Refusal) != fits, answer
    if isinstance(answer, Refusal):
        assert "lane" in answer.reason
    else:
        assert (answer.tables == sssp.tables).all()
    return fits


@pytest.mark.parametrize("compat", [None, "opensm"])
@pytest.mark.parametrize("layering", ["offline", "online"])
def test_dfsssp_refuses_one_lane_exactly_where_its_routes_close_a_loop(
    layering: str, compat: str | None
) -> None:
    fits = [
        dfsssp_refuses_one_lane_rightly(runflat.make(fabric), layering, compat) for fabric in SMALL
    ]
    assert {False, True} == set(fits)


@settings(max_examples=60, deadline=None)
@given(broken_machines(), st.sampled_from(["offline", "online"]))
def test_dfsssp_refuses_one_lane_exactly_where_its_routes_close_a_loop_on_any_machine(
    machine: Machine, layering: str
) -> None:
    dfsssp_refuses_one_lane_rightly(machine, layering, None)


@pytest.mark.parametrize("fabric", SMALL)
@pytest.mark.parametrize("engine", ["dfsssp", "dfsssp(layering=online)", "lash"])
def test_lanes_are_refused_below_what_the_engine_takes_and_not_above(
    engine: str, fabric: str
) -> None:
    machine = runflat.make(fabric)
    free = machine.route(engine, max_vl=15)
    assert not isinstance(free, Refusal)
    check = free.check()
    assert (check.verdict, check.vls) == ("ok", free.layers)
    for lanes in range(1, free.layers + 2):
        answer = machine.route(engine, max_vl=lanes)
        assert isinstance(answer, Refusal) == (lanes < free.layers), lanes
    # The first step is exact: more than one lane is taken only where one cannot do.
    assert (free.layers == 1) == fits_one_lane(machine, free.tables)


def updn_refuses_rightly(machine: Machine, roots: list[int]) -> bool:
    names = machine.switches().column("name")
    answer = machine.route("updn", roots=[names[root] for root in roots])
    joined = is_joined_up_and_down(machine, roots)
    assert isinstance(answer, Refusal) != joined
    assert isinstance(answer, Refusal) or answer.check().left_out_pairs == 0
    return joined


@settings(max_examples=100, deadline=None)
@given(broken_machines(), st.data())
def test_updn_refuses_exactly_where_a_pair_has_no_way_up_and_then_down(
    machine: Machine, data: st.DataObject
) -> None:
    roots: list[int] = []
    for graph, _ in parts(machine):
        roots += data.draw(st.lists(st.sampled_from(sorted(graph)), min_size=1, max_size=3))
    if roots:
        updn_refuses_rightly(machine, roots)


@pytest.mark.parametrize("fabric", ["torus(7)", "mesh(4,4)", "torus(5,5)", "4-ary 3-tree"])
def test_updn_with_several_roots_is_refused_by_some_and_not_by_others(fabric: str) -> None:
    machine = runflat.make(fabric)
    draw = random.Random(1)
    several = (draw.sample(range(machine.switch_count), draw.randint(1, 3)) for _ in range(20))
    assert {updn_refuses_rightly(machine, roots) for roots in several} == {False, True}


def test_updn_without_a_root_in_a_part_is_refused() -> None:
    machine = runflat.make("mesh(2)").fail(links=1)
    answer = machine.route("updn", roots=machine.switches().column("name")[:1])
    assert isinstance(answer, Refusal)
    assert "none of the given roots is alive" in answer.reason
