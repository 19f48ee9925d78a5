"""The flit simulation, from Python and by command."""

from pathlib import Path

import numpy as np
import pytest

import runflat
from command import STAGE, run
from runflat import FlitOptions, Routing
from runflat.study.results import Results

RING = "torus(4; 1; 4)"
KEYS = {
    "outcome", "throughput_gb_s", "simulated_ns", "delivered_flits", "flit_hops", "cpu_seconds", "cycle",
}  # fmt: skip


def routed(fabric: str, engine: str) -> Routing:
    routing = runflat.make(fabric).route(engine)
    assert isinstance(routing, Routing)
    return routing


def test_the_command_prints_the_stable_keys() -> None:
    arguments = ["--mode", "flit", "--precision", "0.3", "--json"]
    answer = run("simulate", STAGE, "--engine", "dfsssp", *arguments)
    assert answer.status == 0
    assert answer.json.keys() >= KEYS
    assert answer.json["outcome"] == "steady"
    # No more than the hosts inject.
    assert 100 < answer.json["throughput_gb_s"] < 144 * 3.2
    assert answer.json["half_width_gb_s"] > 0
    # Two node channels and at least a switch-switch channel for most flits.
    assert answer.json["flit_hops"] > 2 * answer.json["delivered_flits"]


def test_a_ring_on_one_lane_deadlocks_and_shows_it() -> None:
    answer = run("simulate", RING, "--mode", "flit", "--json")
    assert answer.status == 1
    assert (answer.json["outcome"], answer.json["verdict"]) == ("deadlock", "deadlock")
    assert answer.json["throughput_gb_s"] is None
    cycle = answer.json["cycle"]
    assert len(cycle) == 4
    # Each channel begins at the switch where the one before ends.
    ends = [channel.split(" -> ") for channel in cycle]
    for (_, head), (tail, _) in zip(ends, ends[1:] + ends[:1], strict=True):
        assert head.split("[")[0] == tail.split("[")[0]
    shown = run("simulate", RING, "--mode", "flit")
    assert "deadlock" in shown.out
    assert all(channel in shown.out for channel in cycle)


def test_the_same_ring_with_lanes_goes_on() -> None:
    found = routed(RING, "dfsssp").simulate_flits(options=FlitOptions(precision=0.2))
    assert found.outcome == "steady"
    assert found.cycle is None


def test_an_exchange_counts_its_messages() -> None:
    found = routed("xgft(1; 18; 1)", "minhop").simulate_flits("exchange")
    assert (found.outcome, found.messages) == ("complete", 18 * 17)
    # The public model consumes the last message at 11.111 us: 56.40 GB/s by the formula of the study.
    assert found.simulated_ns == pytest.approx(11_111, rel=0.01)
    assert found.throughput_gb_s == pytest.approx(56.40, rel=0.01)
    assert found.delivered_flits == 18 * 17 * 32


def test_a_run_that_is_cut_short_gives_no_throughput() -> None:
    short = FlitOptions(most_us=20)
    found = routed("4-ary 2-tree", "minhop").simulate_flits(options=short)
    assert (found.outcome, found.throughput_gb_s) == ("cut_short", None)
    stopped = routed("4-ary 2-tree", "minhop").simulate_flits(progress=lambda _now: False)
    assert stopped.outcome == "cut_short"


def test_uncertain_rates_are_not_called_a_deadlock() -> None:
    found = routed("4-ary 2-tree", "minhop").simulate_flits(
        options=FlitOptions(most_us=1_000, precision=0.0001)
    )
    assert (found.outcome, found.throughput_gb_s) == ("saturated", None)


def test_one_seed_gives_one_result() -> None:
    options = FlitOptions(precision=0.2)
    routing = routed("torus(3,3; 1; 2)", "dfsssp")
    one, same, other = (routing.simulate_flits(seed=seed, options=options) for seed in (1, 1, 2))
    assert one.simulated_ns == same.simulated_ns
    assert np.array_equal(one.received_gb_s, same.received_gb_s)
    assert one.flit_hops == same.flit_hops
    assert not np.array_equal(one.received_gb_s, other.received_gb_s)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--flit", "cable=3"], ["cable", "cable_ns"]),
        (["--flit", "cable_ns=long"], ["cable_ns", "long"]),
        (["--flit", "buffer_flits=3"], ["holds no packet of 32 flits"]),
        (["--flit", "sink_flit_ns=0"], ["sink_flit", "above 0"]),
        (["--preset", "sc13"], ["sc13", "sc14"]),
        (["--most-us", "0"], ["0"]),
    ],
)
def test_wrong_parameters_are_refused(arguments: list[str], words: list[str]) -> None:
    answer = run("simulate", STAGE, "--mode", "flit", *arguments)
    assert answer.status == 2
    assert all(word in answer.err for word in words), answer.err


def test_faster_cables_carry_more() -> None:
    routing = routed("4-ary 2-tree", "minhop")
    sums = []
    for preset in ("sc14", "qdr", "edr", "ndr"):
        found = routing.simulate_flits(options=FlitOptions(preset, precision=0.2))
        assert found.throughput_gb_s is not None
        sums.append(found.throughput_gb_s)
    assert sums == sorted(sums)
    assert sums[-1] > 8 * sums[0]


def test_a_study_by_flits_says_what_has_no_figure(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'title = "t"\nmachine = { make = "torus(4; 1; 4)" }\n'
        '[faults]\nlevels = ["0"]\nsamples = 1\n'
        '[recovery]\nengines = ["minhop", "dfsssp"]\n'
        '[simulation]\nmode = "flit"\nprecision = 0.2\n[measure]\nlost_paths_patterns = 0\n'
    )
    done = run("study", "run", plan, "-o", tmp_path / "out", "--json")
    assert done.status == 0
    rows = Results.read(tmp_path / "out").throughput.to_rows()
    assert [(row["engine"], row["simulation"]) for row in rows] == [
        ("MinHop", "deadlock"), ("DFSSSP", "steady"),
    ]  # fmt: skip
    assert rows[0]["throughput_gb_s"] is None
    assert "deadlock" in rows[0]["reason"]
    assert rows[1]["throughput_gb_s"] > 1
    plan.write_text(plan.read_text().replace("precision = 0.2", 'preset = "sc13"'))
    wrong = run("study", "run", plan, "-o", tmp_path / "out2")
    assert wrong.status == 2
    assert "sc13" in wrong.err
