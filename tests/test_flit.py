"""The flit simulation, from Python and by command."""

import doctest
import html
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runflat
from command import ROOT, STAGE, run
from runflat import FlitError, FlitOptions, Routing, WorkloadError, _core
from runflat.study import read_plan
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
        (["--flit", "cable_ns"], ["--flit takes NAME=VALUE"]),
        (["--flit", "cable_ns=1", "--flit", "cable_ns=2"], ["--flit cable_ns is given twice"]),
        (["--param", "size=1", "--param", "size=2"], ["--param size is given twice"]),
        (["--injection-gb-s", "3"], ["--injection-gb-s is for --mode congestion"]),
        (["--sl", "sl.csv"], ["--sl goes with tables", "give --lft"]),
        (["--guid2lid", "guid2lid"], ["--guid2lid goes with tables", "give --lft"]),
        (["--lft", "t", "--roots", "r"], ["--roots goes with an engine", "leave it out"]),
        (["--lft", "t", "--max-vl", "8"], ["--max-vl goes with an engine"]),
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
    assert "each flit simulation takes at most 4." in done.err
    rows = Results.read(tmp_path / "out").throughput.to_rows()
    assert [(row["engine"], row["simulation"]) for row in rows] == [
        ("MinHop", "deadlock"), ("DFSSSP", "steady"),
    ]  # fmt: skip
    assert rows[0]["throughput_gb_s"] is None
    assert "deadlock" in rows[0]["reason"]
    # The ring that packets closed, beside the loop that routes can close.
    ring = rows[0]["deadlock"].split("; ")
    assert rows[0]["cycle"]
    assert len(ring) == 4
    assert all(channel.endswith(" (lane 0)") for channel in ring)
    assert rows[1]["deadlock"] is None
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Simulated deadlock of" in page
    assert "Every flit is simulated" in page
    assert "max-min fair" not in page
    assert all(html.escape(channel) in page for channel in ring)
    assert rows[1]["throughput_gb_s"] > 1
    assert 500 < rows[1]["latency_ns_mean"] < rows[1]["latency_ns_p99"]
    text = plan.read_text()
    # Enough for one lane; DFSSSP takes two.
    for given, word in (
        ('preset = "sc13"', "sc13"),
        ("params = { buffer_flits = 40 }", "shared by 2 lanes"),
    ):
        plan.write_text(text.replace("precision = 0.2", given))
        wrong = run("study", "run", plan, "-o", tmp_path / "out2")
        assert wrong.status == 2
        assert word in wrong.err


def test_a_message_takes_the_time_of_its_last_flit() -> None:
    found = routed("xgft(1; 18; 1)", "minhop").simulate_flits("alltoall", size=2048)
    one = routed("xgft(1; 2; 1)", "minhop").simulate_flits("bcast", size=2048)
    # 860.1 ns of the public model without the 1 ns that a host pauses before a message.
    assert one.latency_ns_mean == pytest.approx(859.1, rel=0.002)
    assert one.latency_ns_p99 == pytest.approx(one.latency_ns_mean, rel=0.004)
    assert found.latency_ns_mean is not None
    assert found.latency_ns_median is not None
    assert found.latency_ns_p99 is not None
    # Later messages need not wait for the first credits, which arrive 28 ns after the first flit is made, and meet others.
    assert 820 < found.latency_ns_median <= found.latency_ns_p99
    assert found.latency_ns_mean < found.latency_ns_p99


def test_the_memory_is_known_before_the_simulation() -> None:
    routing = routed("8-ary 2-tree", "minhop")
    options = FlitOptions(precision=0.3)
    found = routing.simulate_flits(options=options)
    assert found.memory_bytes == routing.flit_memory(options=options)
    assert 2**18 < found.memory_bytes < 2**24
    # A few short messages hold less than the buffers could.
    assert routing.flit_memory("bcast", size=1) < found.memory_bytes
    answer = run("simulate", "8-ary 2-tree", "--mode", "flit", "--precision", "0.3", "--stats")
    assert "MiB beside the fabric" in answer.err
    assert "message latency" in answer.out


def trace(folder: Path, *blocks: str) -> Path:
    path = folder / "trace.goal"
    ranks = (f"rank {rank} {{\n{block}\n}}\n" for rank, block in enumerate(blocks))
    path.write_text(f"num_ranks {len(blocks)}\n" + "".join(ranks))
    return path


def test_a_trace_of_a_broadcast_sends_its_messages() -> None:
    path = ROOT / "crates" / "core" / "tests" / "data" / "binary_tree_32.goal"
    answer = run(
        "simulate", "6-ary 2-tree", "--mode", "flit", "--traffic", "goal", "--param", f"file={path}", "--json"
    )  # fmt: skip
    assert answer.status == 0
    assert (answer.json["outcome"], answer.json["messages"]) == ("complete", 31)
    # Five rounds of one flit each, over one switch or three.
    assert 5 * 200 < answer.json["simulated_ns"] < 5 * 1000


def test_computations_take_their_time(tmp_path: Path) -> None:
    routing = routed("xgft(1; 4; 1)", "minhop")

    def took(*blocks: str) -> float:
        found = routing.simulate_flits("goal", file=trace(tmp_path, *blocks))
        assert found.outcome == "complete"
        return found.simulated_ns

    send, receive = "s: send 2048b to 1", "r: recv 2048b from 0"
    alone = took(send, receive)
    later, much_later = (
        took(f"c: calc {time}\n{send}\ns requires c", receive) for time in (5000, 9000)
    )
    # At once, a host waits for the first credits, 28 ns after the first flit is made.
    assert later == pytest.approx(alone + 5000 - 28, abs=0.5)
    assert much_later == pytest.approx(later + 4000, abs=1e-6)
    assert took(send, receive + "\nc: calc 700\nc requires r") == alone + 700
    # Side by side with the message; one after the other on one processor, together on two.
    assert took(send + "\nc: calc 100", receive) == alone
    assert took(send + "\nc: calc 4000\nd: calc 3000", receive) == 7000
    assert took(send + "\nc: calc 4000 cpu 0\nd: calc 3000 cpu 1", receive) == 4000
    # What starts together with a send does not wait for it.
    assert took(send + "\nc: calc 6000\nc irequires s", receive) == pytest.approx(6000, abs=1)


def test_ranks_that_wait_for_ever_are_told(tmp_path: Path) -> None:
    block = "r: recv 8b from {0}\ns: send 8b to {0}\ns requires r"
    path = trace(tmp_path, block.format(1), block.format(0))
    arguments = ["--mode", "flit", "--traffic", "goal", "--param", f"file={path}"]
    answer = run("simulate", "4-ary 2-tree", *arguments, "--json")
    assert answer.status == 1
    assert (answer.json["outcome"], answer.json["throughput_gb_s"]) == ("stuck", None)
    assert "rank 1 waits for a message from rank 0" in answer.json["stuck"]
    shown = run("simulate", "4-ary 2-tree", *arguments)
    assert "stuck; ranks wait" in shown.out
    assert "rank 0 waits for a message from rank 1" in shown.out


def test_traces_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = trace(tmp_path, *["c: calc 1"] * 9)

    def said(*arguments: object) -> str:
        answer = run("simulate", "2-ary 2-tree", "--traffic", "goal", *arguments)
        assert answer.status == 2
        return answer.err

    file = f"file={path}"
    assert "has 9 ranks, but there are only 4" in said("--mode", "flit", "--param", file)
    assert "take the flit mode" in said("--param", file)
    assert "give the parameter `file`" in said("--mode", "flit")
    assert "--param file=..." in said("--mode", "flit", "--traffic", "goal(x.goal)")
    assert "nowhere.goal" in said("--mode", "flit", "--param", "file=nowhere.goal")
    path.write_text("num_ranks 2\nrank 0 {\nl: put 8b to 1\n}\n")
    assert "trace.goal:3: found `put`" in said("--mode", "flit", "--param", file)


def test_a_plan_reads_a_trace_beside_it(tmp_path: Path) -> None:
    trace(tmp_path, "s: send 4096b to 1", "r: recv 4096b from 0")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'title = "t"\nmachine = { make = "4-ary 2-tree" }\n[faults]\nlevels = ["0"]\nsamples = 1\n'
        '[workload]\ntraffic = "goal"\nparams = { file = "trace.goal" }\n'
        '[simulation]\nmode = "flit"\n[measure]\nlost_paths_patterns = 0\n'
    )
    keys = []
    for size in ("4096", "8192"):
        path = tmp_path / "trace.goal"
        path.write_text(path.read_text().replace("4096", size))
        done = run("study", "run", plan, "-o", tmp_path / size, "--json")
        assert done.status == 0, done.err
        rows = Results.read(tmp_path / size).throughput.to_rows()
        assert {row["simulation"] for row in rows} == {"complete"}
        keys.append(read_plan(plan).key)
    assert keys[0] != keys[1]
    block = "r: recv 8b from {0}\ns: send 8b to {0}\ns requires r"
    trace(tmp_path, block.format(1), block.format(0))
    done = run("study", "run", plan, "-o", tmp_path / "stuck", "--json")
    rows = Results.read(tmp_path / "stuck").throughput.to_rows()
    assert {(row["simulation"], row["reason"]) for row in rows} == {
        ("stuck", "ranks wait for messages that never come")
    }
    # Without any figure there is nothing to recommend.
    (machine,) = done.json["machines"]
    assert {level["best_engine"] for level in machine["levels"]} == {None}
    assert "there is no figure to choose one by" in machine["answer"][0]
    assert not any("Use " in sentence for sentence in machine["answer"])
    plan.write_text(plan.read_text().replace('mode = "flit"', 'mode = "congestion"'))
    wrong = run("study", "run", plan, "-o", tmp_path / "out")
    assert wrong.status == 2
    assert "take the flit mode" in wrong.err


def test_a_recorded_matrix_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "bytes.csv"
    path.write_text("0,100,0\n0,0,5000\n7,0,0\n")
    arguments = ["--traffic", "matrix", "--param", f"file={path}", "--json"]
    for mode in ("congestion", "flit"):
        answer = run("simulate", "2-ary 2-tree", "--mode", mode, *arguments)
        assert answer.status == 0
        assert (answer.json["outcome"], answer.json["messages"]) == ("complete", 3)


def test_own_workloads_run_flit_by_flit() -> None:
    def phases(ranks: int, seed: int, size: str = "2048") -> list[Any]:
        """Every rank to the next one, twice."""
        return [np.array([[rank, (rank + 1) % ranks, int(size)] for rank in range(ranks)])] * 2

    runflat.workload("next-twice", steady=False)(phases)
    found = routed("4-ary 2-tree", "minhop").simulate_flits("next-twice", size=4096)
    assert (found.outcome, found.messages) == ("complete", 32)
    assert found.delivered_flits == 32 * 64
    runflat.workload("next-for-ever", steady=True)(partial(phases, size="2048"))
    options = FlitOptions(precision=0.2)
    steady = routed("4-ary 2-tree", "minhop").simulate_flits("next-for-ever", options=options)
    assert steady.outcome == "steady"


def test_what_a_progress_raises_is_raised() -> None:
    def progress(_now: float) -> bool:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        routed("4-ary 2-tree", "minhop").simulate_flits(progress=progress)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--preset", "sc14"), ("--flit", "cable_ns=1"), ("--precision", "0.1"), ("--most-us", "9")],
)
def test_options_of_the_flit_mode_need_it(option: str, value: str) -> None:
    answer = run("simulate", STAGE, option, value)
    assert answer.status == 2
    assert f"{option} is for the flit mode: give --mode flit" in answer.err


def test_options_of_the_flit_mode_are_explained() -> None:
    answer = run("simulate", "--list-flit")
    assert answer.status == 0
    for name, text in [pair for pairs in _core.flit_parameters() for pair in pairs]:
        assert any(line.split() == [name, *text.split()] for line in answer.out.splitlines())


def test_the_answer_says_what_was_simulated() -> None:
    arguments = ["simulate", RING, "--engine", "dfsssp", "--mode", "flit", "--traffic", "exchange"]
    arguments += ["--flit", "cable_ns=25", "--flit", "mtu_bytes=1024"]
    found = run(*arguments, "--json").json
    assert (found["preset"], found["vls"]) == ("sc14", 2)
    assert found["parameters"] == {"cable_ns": "25", "mtu_bytes": "1024"}
    shown = run(*arguments).out
    # A workload that ends is about its time.
    assert shown.splitlines()[0].endswith(f": {found['simulated_ns'] / 1000:,.3f} us")
    rows = {line[: line.find("  ")]: line.split("  ")[-1].strip() for line in lines_of(shown)}
    assert rows["hosts, switches, cables"] == "preset sc14, cable_ns=25, mtu_bytes=1024"
    assert rows["virtual lanes"] == "2"
    assert rows["throughput"] == f"{found['throughput_gb_s']:,.3f} GB/s"
    other = run("simulate", RING, "--engine", "dfsssp", "--traffic", "exchange", "--json").json
    assert (other["preset"], other["parameters"]) == (None, None)
    assert other.keys() == found.keys()
    shown = run("simulate", RING, "--engine", "dfsssp", "--traffic", "exchange").out
    assert shown.splitlines()[0].endswith(f": {other['simulated_ns'] / 1000:,.3f} us")


def lines_of(shown: str) -> list[str]:
    return [line.rstrip() for line in shown.splitlines()[1:]]


def test_nodes_that_cannot_talk_are_counted(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text('{"failed_links": [], "failed_switches": [], "failed_nodes": ["%s"]}')
    intact = run("simulate", "xgft(1; 1; 1)", "--mode", "flit")
    assert intact.status == 1
    assert "1 node can send or receive" in intact.out
    assert "left" not in intact.out
    name = runflat.make("xgft(1; 2; 1)").nodes().column("name")[0]
    faults.write_text(faults.read_text() % name)
    broken = run("simulate", "xgft(1; 2; 1)", "--faults", faults)
    assert broken.status == 1
    assert "1 node is left" in broken.out


def test_a_run_that_was_too_short_says_what_to_do() -> None:
    answer = run("simulate", STAGE, "--mode", "flit", "--most-us", "5")
    assert answer.status == 1
    assert "cut short" in answer.out
    assert "--most-us" in answer.out


@pytest.mark.parametrize(("command", "resumes"), [("simulate", False), ("study", True)])
def test_only_a_study_goes_on_after_an_interruption(
    command: str, resumes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_args: object, **_rest: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Routing, "simulate_flits", interrupted)
    monkeypatch.setattr(runflat.Study, "read", interrupted)
    rest = ["run", "plan.toml"] if resumes else ["4-ary 2-tree", "--mode", "flit"]
    answer = run(command, *rest)
    assert answer.status == 130
    assert "interrupted" in answer.err
    assert ("a study goes on" in answer.err) is resumes


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"options": FlitOptions(preset=3)}, "`preset` is a name"),  # type: ignore[arg-type]
        ({"options": FlitOptions(parameters=["cable_ns=3"])}, "`parameters` is a dict"),  # type: ignore[arg-type]
        ({"options": FlitOptions(parameters={3: "3"})}, "`parameters` is a dict"),  # type: ignore[dict-item]
        ({"options": FlitOptions(precision="0.1")}, "`precision` is a number"),  # type: ignore[arg-type]
        ({"options": FlitOptions(most_us=None)}, "`most_us` is a time"),  # type: ignore[arg-type]
        ({"options": {"preset": "qdr"}}, "`options` is a FlitOptions"),
        ({"seed": -1}, "`seed` is a whole number"),
        ({"seed": 2**64}, "`seed` is a whole number"),
        ({"traffic": 3}, "`traffic` is the name"),
    ],
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any], words: str) -> None:
    routing = routed("2-ary 2-tree", "minhop")
    with pytest.raises(FlitError if "options" in wrong else WorkloadError, match=words):
        routing.simulate_flits(**wrong)
    if "options" not in wrong:
        with pytest.raises(WorkloadError, match=words):
            routing.simulate(**wrong)


def test_a_simulation_can_be_declined() -> None:
    routing = routed("4-ary 2-tree", "minhop")
    asked = []

    def starting(most_bytes: int) -> bool:
        asked.append(most_bytes)
        return len(asked) > 1

    with pytest.raises(WorkloadError, match="was not to begin"):
        routing.simulate_flits("bcast", starting=starting)
    found = routing.simulate_flits("bcast", starting=starting)
    assert asked == [found.memory_bytes] * 2
    # None is false.
    ended = routing.simulate_flits(progress=lambda _now: None)  # type: ignore[arg-type,return-value]
    assert ended.outcome == "cut_short"


def test_examples_in_the_documentation_hold() -> None:
    found = doctest.testmod(runflat.routing, extraglobs={"runflat": runflat})
    assert (found.failed, found.attempted) == (0, 3)


def test_a_fabric_is_not_steady_while_its_buffers_fill_up() -> None:
    machine = runflat.make("6-ary 3-tree").fail(links=10, seed=3)
    routing = machine.route("dfsssp")
    assert isinstance(routing, Routing)
    # However wide the interval may be: for the first 0.4 ms sinks get a quarter more than later.
    early = routing.simulate_flits(options=FlitOptions(precision=1e-6, most_us=400))
    wide, close = (
        routing.simulate_flits(options=FlitOptions(precision=precision)) for precision in (0.3, 0.1)
    )
    assert wide.throughput_gb_s is not None
    assert wide.throughput_gb_s == pytest.approx(close.throughput_gb_s, rel=0.05)
    assert early.received_gb_s.sum() > 1.2 * wide.throughput_gb_s
