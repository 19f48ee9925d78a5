"""Routing: tables of both engines and of nobody, walked again in plain Python and judged by networkx."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import runflat
from command import STAGE
from fabric import Fabric, Walk, broken_machines, machines, walk
from runflat import Machine, Refusal, Routing, RoutingError


@pytest.fixture(scope="module")
def stage() -> Machine:
    return runflat.load(STAGE)


def routed(answer: Routing | Refusal) -> Routing:
    assert isinstance(answer, Routing), answer
    return answer


def agree(fabric: Fabric, found: Walk, routing: Routing) -> None:
    """Compare all that `check()` says with a walk of our own."""
    check = routing.check()
    assert check.pairs == found.pairs
    assert check.unreachable_pairs == found.unreachable
    assert check.cut_pairs == found.cut
    assert check.looping_pairs == found.looping
    assert check.nonminimal_pairs == found.nonminimal
    assert check.hops_max == max(found.hops, default=0)
    assert check.hops_mean == pytest.approx(np.mean(found.hops) if found.hops else 0)
    index = np.zeros(len(fabric.tail), dtype=np.uint64)
    for channel, routes in found.index.items():
        index[channel] = routes
    np.testing.assert_array_equal(check.forwarding_index, index)
    inner = [c for c in range(len(fabric.tail)) if fabric.is_switch_channel(c) and fabric.usable[c]]
    assert check.forwarding_index_max == max(index[inner], default=0)
    assert check.forwarding_index_mean == pytest.approx(index[inner].mean() if inner else 0)
    acyclic = nx.is_directed_acyclic_graph(found.dependencies)
    assert (check.cycle is None) == acyclic
    if check.cycle is not None:
        channels = [fabric.names.index(name) for name in check.cycle]
        for before, after in itertools.pairwise([*channels, channels[0]]):
            assert found.dependencies.has_edge(before, after)
    verdict = "incomplete" if found.unreachable else "ok" if acyclic else "deadlock"
    assert check.verdict == verdict
    event(f"verdict {verdict}")


@settings(deadline=None, max_examples=120)
@given(machine=broken_machines())
def test_minhop_takes_a_shortest_way_wherever_networkx_finds_one(machine: Machine) -> None:
    fabric, routing = Fabric(machine), routed(machine.route("minhop"))
    found = walk(fabric, routing.tables)
    assert (found.unreachable, found.looping, found.nonminimal) == (found.cut, 0, 0)
    agree(fabric, found, routing)


@settings(deadline=None, max_examples=120)
@given(machine=broken_machines(), choice=st.randoms(use_true_random=False))
def test_updown_with_a_root_in_each_part_reaches_all_without_a_credit_loop(
    machine: Machine, choice: "st.random.Random"
) -> None:
    fabric = Fabric(machine)
    names = machine.switches().column("name")
    alive = [s for s, alive in enumerate(fabric.switch_alive) if alive]
    assume(alive)
    parts = nx.connected_components(fabric.alive.subgraph(alive))
    roots = [names[choice.choice(sorted(part))] for part in parts]
    routing = routed(machine.route("updn", roots=roots))
    found = walk(fabric, routing.tables)
    assert (found.unreachable, found.looping) == (found.cut, 0)
    assert nx.is_directed_acyclic_graph(found.dependencies)
    agree(fabric, found, routing)


@settings(deadline=None, max_examples=60)
@given(machine=broken_machines())
def test_updown_finds_roots_by_rule_or_says_why_not(machine: Machine) -> None:
    answer = machine.route("updn")
    if isinstance(answer, Refusal):
        apart = "the roots leave pairs apart" in answer.reason
        assert apart or "no switch is a root" in answer.reason
        assert answer.switch in machine.switches().column("name")
        assert apart == bool(machine.find_roots())
        event("refused: roots apart" if apart else "refused: no roots")
        return
    found = walk(Fabric(machine), answer.tables)
    assert (found.unreachable, found.looping) == (found.cut, 0)
    assert nx.is_directed_acyclic_graph(found.dependencies)


@settings(deadline=None, max_examples=120)
@given(machine=broken_machines(), seed=st.integers(0, 2**32 - 1))
def test_the_check_agrees_with_a_second_walk_on_tables_that_make_no_sense(
    machine: Machine, seed: int
) -> None:
    fabric, rng = Fabric(machine), np.random.default_rng(seed)
    tables = np.array(routed(machine.route("minhop")).tables)
    wrong = rng.random(tables.shape) < 0.3
    tables[wrong] = rng.choice([0, 1, 2, 3, 4, 200, 255], size=tables.shape)[wrong]
    agree(fabric, walk(fabric, tables), Routing.from_tables(machine, tables))


@settings(deadline=None, max_examples=60)
@given(machine=machines(), seed=st.integers(0, 1000))
def test_lost_paths_are_the_routes_that_cross_a_dead_part(machine: Machine, seed: int) -> None:
    routing = routed(machine.route("minhop"))
    broken = machine.fail(links="30%", switches="20%", nodes="20%", link_class="all", seed=seed)
    whole, left = Fabric(machine), Fabric(broken)
    tables = routing.tables
    lost = 0
    for source, target in whole.pairs():
        injector = whole.injector(source, whole.plane_of(target))
        assert injector is not None
        channels = [whole.at[injector], whole.at[target]]
        channels += follow(whole, tables, source, target)
        dead = [not left.node_alive[n - whole.switch_count] for n in (source, target[0])]
        lost += any(dead) or not all(left.usable[channel] for channel in channels)
    assert routing.lost_paths(broken) == lost
    assert routing.lost_paths(machine) == 0


def follow(fabric: Fabric, tables: "np.ndarray", source: int, target: tuple[int, int]) -> list[int]:
    from fabric import route

    injector = fabric.injector(source, fabric.plane_of(target))
    assert injector is not None
    start = fabric.switch_of(injector)
    assert start is not None
    channels = route(fabric, tables, start, target)
    # Nothing is dead here, so a missing route is no cable at all.
    return channels if channels is not None else []


def test_tables_have_a_row_a_switch_and_a_column_a_lid(stage: Machine) -> None:
    tables = routed(stage.route("minhop")).tables
    assert tables.shape == (8, 145 + 8)
    assert tables.dtype == np.uint8
    check = routed(stage.route("minhop")).check()
    assert check.forwarding_index.shape == (2 * len(stage.links()),)
    assert check.forwarding_index.dtype == np.uint64
    for switch in range(8):
        assert tables[switch, 145 + switch] == 0, "a switch is its own destination by port 0"


def test_a_refusal_is_a_result_and_no_engine_takes_over() -> None:
    mesh = runflat.make("mesh(5,5)")
    answer = mesh.route("updn")
    assert isinstance(answer, Refusal)
    assert answer.outcome == "refused"
    assert "give roots" in answer.reason
    assert answer.switch is not None


def test_a_ring_deadlocks_under_minhop_and_not_under_updown() -> None:
    ring = runflat.make("torus(6)")
    check = routed(ring.route("minhop")).check()
    assert check.verdict == "deadlock"
    assert check.cycle is not None
    assert len(check.cycle) == 6, "the shortest credit loop of a ring of 6 goes once around"
    assert check.cycle_vl == 0
    root = ring.switches().column("name")[:1]
    assert routed(ring.route("updn", roots=root)).check().verdict == "ok"


def test_a_loop_towards_a_lid_of_another_plane_is_nobodys_route() -> None:
    machine = Machine.build(
        "two planes", switches=["a", "b", "c"], nodes=["x", "y"],
        cables=[("b", "c"), ("x", "a"), ("x", "b"), ("y", "a"), ("y", "c")],
    )  # fmt: skip
    tables = routed(machine.route("minhop")).tables.copy()
    # LIDs 0 and 2 are the ports of x and y in the plane of a alone; b and c send them to each other.
    assert tables[0, [0, 2]].tolist() == [1, 2]
    tables[1, [0, 2]] = 1
    tables[2, [0, 2]] = 1
    check = Routing.from_tables(machine, tables).check()
    assert (check.verdict, check.pairs, check.looping_pairs) == ("ok", 4, 0)


def test_a_root_on_the_dead_side_is_refused(stage: Machine) -> None:
    spine = stage.find_roots()[0]
    broken = stage.fail(runflat.Faults(switches=[spine]))
    answer = broken.route("updn", roots=[spine])
    assert isinstance(answer, Refusal)
    assert "none of the given roots is alive" in answer.reason


def test_tables_of_another_shape_are_refused(stage: Machine) -> None:
    with pytest.raises(RoutingError, match=r"have shape \(8, 153\) .* got \(8, 8\)"):
        Routing.from_tables(stage, np.zeros((8, 8), dtype=np.uint8))


def test_an_unknown_engine_or_root_names_those_there_are(stage: Machine) -> None:
    with pytest.raises(RoutingError, match="no routing engine `ftre`; there are minhop, updn"):
        stage.route("ftre")
    with pytest.raises(RoutingError, match="no switch `spine`"):
        stage.route("updn", roots=["spine"])


def test_tables_read_back_are_checked_like_the_engines_own(stage: Machine) -> None:
    routing = routed(stage.route("updn"))
    again = Routing.from_tables(stage, routing.tables)
    assert again.check().summary() == routing.check().summary()
    assert again.changed_entries(routing) == 0
    changed = routing.tables.copy()
    changed[0, :3] = 255
    assert Routing.from_tables(stage, changed).changed_entries(routing) == 3
    assert Routing.from_tables(stage, changed).check().verdict == "incomplete"


def test_lost_paths_ask_for_the_same_machine(stage: Machine) -> None:
    with pytest.raises(RoutingError, match="different machines"):
        routed(stage.route("minhop")).lost_paths(runflat.make("torus(6)"))
