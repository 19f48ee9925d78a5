"""Throughput: closed forms, and a naive max-min sharing in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import runflat
from command import STAGE
from fabric import Fabric, machines, route
from runflat import Machine, Refusal, Routing, WorkloadError

QDR_GB_S = 4.0
"""4 lanes x 10 Gb/s x 8/10."""
EDR_GB_S = 12.5
"""4 lanes x 25.78125 Gb/s x 64/66."""


def routing_of(machine: Machine) -> Routing:
    routing = machine.route("minhop")
    assert not isinstance(routing, Refusal)
    return routing


def star(nodes: int) -> Machine:
    names = [f"n{i}" for i in range(nodes)]
    return Machine.build(
        "star", switches=["s"], nodes=names, cables=[(n, "s") for n in names], rate="4xQDR"
    )


@pytest.fixture(scope="module")
def single() -> dict[str, list[NDArray[np.uint64]]]:
    """A workload whose one phase a test sets before it is run."""
    phases: dict[str, list[NDArray[np.uint64]]] = {}

    @runflat.workload("set-by-test", steady=True)
    def steady(ranks: int, seed: int = 1) -> list[NDArray[np.uint64]]:
        return phases["steady"]

    @runflat.workload("set-by-test-once", steady=False)
    def finite(ranks: int, seed: int = 1) -> list[NDArray[np.uint64]]:
        return phases["finite"]

    return phases


def test_uniform_traffic_on_a_star_fills_every_cable() -> None:
    result = routing_of(star(8)).simulate("uniform")
    assert result.outcome == "steady"
    assert result.throughput_gb_s == pytest.approx(8 * QDR_GB_S)
    np.testing.assert_allclose(result.received_gb_s, QDR_GB_S)
    assert result.received_gb_s.dtype == np.float64
    assert result.load.dtype == np.uint64
    assert result.simulated_ns == 0


def test_an_injection_limit_holds() -> None:
    result = routing_of(star(8)).simulate("uniform", injection_gb_s=1.5)
    assert result.throughput_gb_s == pytest.approx(8 * 1.5)


def test_two_switches_share_the_one_cable_between_them(
    single: dict[str, list[NDArray[np.uint64]]],
) -> None:
    nodes = [f"n{i}" for i in range(6)]
    cables = [("a", "b")] + [(name, "a" if at < 3 else "b") for at, name in enumerate(nodes)]
    machine = Machine.build("pair", switches=["a", "b"], nodes=nodes, cables=cables, rate="4xQDR")
    phase = [[0, 3, 1], [1, 4, 1], [2, 5, 1], [3, 0, 1], [4, 5, 1]]
    single["steady"] = [np.array(phase, dtype=np.uint64)]
    result = routing_of(machine).simulate("set-by-test")
    third = QDR_GB_S / 3
    np.testing.assert_allclose(result.received_gb_s, [QDR_GB_S, 0, 0, third, third, QDR_GB_S])
    assert result.load[:2].tolist() == [3, 1]
    assert result.collision_max == 3


def test_an_exchange_takes_the_time_of_its_fullest_channel(
    single: dict[str, list[NDArray[np.uint64]]],
) -> None:
    size = 1_000_000
    single["finite"] = [np.array([[s, 0, size] for s in range(1, 6)], dtype=np.uint64)]
    result = routing_of(star(6)).simulate("set-by-test-once")
    assert result.outcome == "complete"
    assert result.collision_max == 5
    assert result.simulated_ns == pytest.approx(5 * size / QDR_GB_S)
    assert result.throughput_gb_s == pytest.approx(QDR_GB_S)
    assert result.messages == 5


def max_min(paths: list[list[int]], capacity: float) -> list[float]:
    """Progressive filling: raise all rates together until a channel is full; freeze what crosses it."""
    rate: dict[int, float] = {}
    free = {channel: capacity for path in paths for channel in path}
    while len(rate) < len(paths):
        open_paths = {i: path for i, path in enumerate(paths) if i not in rate}
        count = {c: sum(c in path for path in open_paths.values()) for c in free}
        share = min(free[c] / n for c, n in count.items() if n)
        full = {c for c, n in count.items() if n and free[c] / n <= share * (1 + 1e-12)}
        for i, path in open_paths.items():
            if full & set(path):
                rate[i] = share
                for channel in path:
                    free[channel] -= share
    return [rate[i] for i in range(len(paths))]


def ends_of(
    fabric: Fabric, source: int, target: int
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The ports of a message: the target's lowest whose plane the source is in, and the source's there."""
    for into in (e for e in fabric.endpoints if e[0] == target):
        out = fabric.injector(source, fabric.plane_of(into))
        if out is not None:
            return out, into
    return None


@settings(deadline=None, max_examples=80)
@given(machine=machines(), data=st.data())
def test_rates_are_those_of_naive_max_min_sharing(
    machine: Machine, data: st.DataObject, single: dict[str, list[NDArray[np.uint64]]]
) -> None:
    fabric, routing = Fabric(machine), routing_of(machine)
    names = machine.nodes().column("name")
    cut = set(machine.cut_nodes())
    ranks = [n for n, name in enumerate(names, start=fabric.switch_count) if name not in cut]
    messages, paths = [], []
    for source, node in enumerate(ranks):
        target = data.draw(st.integers(0, len(ranks) - 1))
        ends = ends_of(fabric, node, ranks[target])
        if source == target or ends is None:
            continue
        out, into = ends
        start = fabric.switch_of(out)
        assert start is not None
        inner = route(fabric, routing.tables, start, into)
        assert inner is not None
        messages.append([source, target, 2048])
        # The last step is the channel to the node: the reverse of the node's own.
        paths.append([fabric.at[out], *inner, fabric.at[into] ^ 1])
    single["steady"] = [np.array(messages, dtype=np.uint64).reshape(-1, 3)]
    result = routing.simulate("set-by-test")
    rates = max_min(paths, EDR_GB_S)
    received = np.zeros(len(ranks))
    for (_, target, _), rate in zip(messages, rates, strict=True):
        received[target] += rate
    np.testing.assert_allclose(result.received_gb_s, received, rtol=1e-9)
    load = np.zeros(len(fabric.tail), dtype=np.uint64)
    for path in paths:
        load[path] += np.uint64(1)
    np.testing.assert_array_equal(result.load, load)
    assert result.collision_max == load.max(initial=0)


def test_messages_without_a_route_are_counted_and_not_received() -> None:
    machine = runflat.load(STAGE)
    routing = routing_of(machine)
    tables = routing.tables.copy()
    tables[:, 0] = 255
    broken = Routing.from_tables(machine, tables).simulate("uniform")
    whole = routing.simulate("uniform")
    assert whole.unrouted_messages == 0
    assert broken.unrouted_messages == 143, "nobody reaches the first node any more"
    assert broken.messages == whole.messages


@pytest.mark.parametrize(
    ("traffic", "params", "message"),
    [
        ("flood", {}, "no workload `flood`; there are uniform"),
        ("uniform", {"sise": 3}, "has no parameter `sise`"),
        ("permutation", {"size": 0}, "`size` is a whole number from 1"),
    ],
)
def test_a_wrong_workload_is_refused(traffic: str, params: dict[str, int], message: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        routing_of(star(3)).simulate(traffic, **params)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        (np.array([[0, 3, 8]], dtype=np.uint64), "two different ranks below 3, got 0 to 3"),
        (np.array([[1, 1, 8]], dtype=np.uint64), "two different ranks below 3, got 1 to 1"),
        (np.array([0, 1, 8], dtype=np.uint64), "an array of shape (messages, 3)"),
    ],
)
def test_a_wrong_phase_of_a_registered_workload_is_refused(
    phase: NDArray[np.uint64], message: str, single: dict[str, list[NDArray[np.uint64]]]
) -> None:
    single["steady"] = [phase]
    with pytest.raises(WorkloadError) as caught:
        routing_of(star(3)).simulate("set-by-test")
    assert message in str(caught.value)


def test_the_seed_moves_what_is_drawn_and_nothing_else() -> None:
    routing = routing_of(runflat.load(STAGE))
    runs = [routing.simulate("permutation", seed=seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0].load, runs[1].load)
    assert runs[0].throughput_gb_s == runs[1].throughput_gb_s
    assert (runs[0].load != runs[2].load).any()
