"""`runflat spares`: substitutions and campaigns as users meet them; bad input; counts that add up in any order."""

import json
from pathlib import Path

import numpy as np
import pytest

from command import run
from runflat import RunflatError, spares
from runflat.spares.plan import SparesPlan
from runflat.spares.store import Part, merged
from runflat.spares.store import run as run_part

PLAN = """
shape = "6x6"
allocation = "2D(2,1)"
policies = ["hybrid(all)", "0D"]
failures = 9
samples = 600
"""


def test_substitute_prints_the_keys_that_scripts_rely_on() -> None:
    answer = run(
        "spares", "substitute", "--shape", "36x36", "--alloc", "2D(2,1)", "--fail", "147,91",
        "--policy", "hybrid(all)", "--json",
    )  # fmt: skip
    assert answer.status == 0
    found = answer.json
    assert found["outcome"] == "substituted"
    assert found["collisions_max"] == 1
    assert found["shape_kept"]
    assert sorted(found["node_of_rank"]) == sorted(set(found["node_of_rank"]))
    assert not {147, 91} & set(found["node_of_rank"])
    moved = {one["rank"]: (one["from_node"], one["to_node"]) for one in found["moved"]}
    before = spares.Job("36x36", "2D(2,1)").node_of_rank
    for rank, node in enumerate(found["node_of_rank"]):
        assert moved.get(rank, (node, node)) == (before[rank], node)


def test_fewer_messages_at_a_time_collide_less_and_take_more_rounds() -> None:
    failed = [(3, 3, 3), (5, 2, 6), (1, 7, 4), (2, 5, 5)]
    found = {
        sends: spares.Job("9x9x9", "3D(2,1)", sends=sends).substitute("0D", failed)
        for sends in (1, 4, 10, None)
    }
    assert found[10] == found[None]
    assert found[1].collision_max <= found[4].collision_max <= found[None].collision_max
    assert [found[sends].rounds_before for sends in (1, 4, 10)] == [6, 2, 1]
    assert found[1].rounds >= found[None].collision_max
    assert all(len(step.collisions) == 6 for step in found[1].steps)


def test_collectives_are_counted_phase_by_phase() -> None:
    job = spares.Job("5x5", "2D(2,1)", traffic="barrier")
    found = job.substitute("0D", [(1, 1), (2, 3)])
    assert len(found.steps[-1].collisions) > 1
    assert found.rounds == sum(found.steps[-1].collisions)
    words = (
        "spares",
        "study",
        "--alloc",
        "2D(2,1)",
        "--traffic",
        "exchange",
        "--samples",
        "2",
        "--shape",
    )
    assert run(*words, "9x9").status == 0
    answer = run(*words, "12x12")
    assert answer.status == 2
    assert "exchange has 120 phases, at most 64 are kept" in answer.err


def test_running_out_of_spares_is_an_outcome() -> None:
    answer = run(
        "spares", "substitute", "--shape", "8x8", "--alloc", "2D(2,1)", "--fail", "9,20,30",
        "--policy", "2D", "--json",
    )  # fmt: skip
    assert answer.status == 1
    assert answer.json["outcome"] == "no_spare_left"
    assert "13 nodes are free, but 2D reaches none" in answer.json["reason"]


def test_coordinates_and_numbers_name_the_same_nodes() -> None:
    job = spares.Job((36, 36), "2D(2,1)")
    assert spares.read_nodes("(3,4), 91") == [(3, 4), 91]
    assert job.number((3, 4)) == 147
    assert job.coordinates(147) == (3, 4)
    assert job.substitute("0D", [(3, 4)]) == job.substitute("0D", [147])


def test_study_gives_rows_with_shares_that_sum_to_one() -> None:
    answer = run(
        "spares", "study", "--shape", "6x6x6", "--torus", "--alloc", "3D(2,1)", "--policy", "hybrid(all)",
        "--policy", "0D", "--failures", "1..20", "--samples", "40", "--json",
    )  # fmt: skip
    assert answer.status == 0
    rows = answer.json["rows"]
    assert len(rows) == 40
    for row in rows:
        assert row["best"] <= row["average"] <= row["worst"]
        assert sum(row["share"].values()) == pytest.approx(1)
        assert sum(row["share_accumulated"].values()) == pytest.approx(1)
    assert rows[0]["share"]["3D"] == 1
    assert rows[20]["share"] == {"0D": 1}


def test_a_job_runs_until_every_spare_is_used() -> None:
    job = spares.Job("7x7", "2D(2,1)")
    campaign = spares.Campaign(job, ["hybrid(all)"], job.spares + 1)
    rows = campaign.rows(campaign.run(range(64)), 64)
    assert [row.unrecoverable for row in rows] == [0] * job.spares + [1]


def test_dead_nodes_are_left_before_the_first_failure() -> None:
    job = spares.Job("7x7", "2D(2,1)")
    campaign = spares.Campaign(job, ["0D"], job.spares, dead=[(1, 1), (2, 2)])
    rows = campaign.rows(campaign.run(range(32)), 32)
    assert [row.unrecoverable for row in rows][-3:] == [0, 1, 1]


def test_more_dead_nodes_than_spares_leave_no_job_to_run() -> None:
    job = spares.Job("5x5", "2D(1,1)")
    campaign = spares.Campaign(job, ["0D", "2D"], 2, dead=[0, 1, 2])
    rows = campaign.rows(campaign.run(range(20)), 20)
    assert [row.unrecoverable for row in rows] == [0, 0, 1, 1]
    assert rows[2].average is None


def test_idle_spares_fail_where_that_is_asked_for() -> None:
    job = spares.Job("5x5", "2D(2,1)")
    campaign = spares.Campaign(job, ["0D"], 8, spares.Choices(victims="alive"))
    (tally,) = campaign.run(range(200))
    assert tally.idle.sum() > 0
    assert np.array_equal(
        tally.idle + tally.degrees.sum(axis=1) + tally.unrecovered.cumsum(), [200] * 8
    )


def test_counts_are_the_same_for_any_partition(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    plan = SparesPlan.read(path)
    whole = plan.campaign().run(range(600))
    assert run_part(plan, tmp_path / "parts", Part(2, 3)) is None
    assert run_part(plan, tmp_path / "parts", Part(1, 3)) is None
    together = run_part(plan, tmp_path / "parts", Part(3, 3))
    assert together is not None
    for one, other in zip(whole, together, strict=True):
        assert all(
            np.array_equal(getattr(one, field), getattr(other, field)) for field in vars(one)
        )
    assert merged(plan, tmp_path / "parts", 3) is not None


def test_a_campaign_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    plan = SparesPlan.read(path)
    monkeypatch.setattr("runflat.spares.store.SAVED_EVERY_S", 0.0)
    monkeypatch.setattr(spares.Campaign, "chunk", 256)

    def stop(done: int, _total: int) -> None:
        if done > 256:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_part(plan, tmp_path / "out", Part(1, 1), progress=stop)
    seen: list[int] = []
    run_part(plan, tmp_path / "out", Part(1, 1), progress=lambda done, _total: seen.append(done))
    assert seen[0] == 512
    answer = run("spares", "run", path, "-o", tmp_path / "out", "--json")
    rows = plan.campaign().rows(plan.campaign().run(range(600)), 600)
    assert [row["average"] for row in answer.json["rows"]] == [row.average for row in rows]
    path.write_text(PLAN.replace("600", "601"))
    assert run("spares", "run", path, "-o", tmp_path / "out").status == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--alloc", "2D(2,1)", "--fail", "99"),
            "there is no node 99: the machine has nodes 0 to 63",
        ),
        (("--alloc", "2D(2,1)", "--fail", "(9,1)"), "there is no node (9, 1) on a machine of 8x8"),
        (("--alloc", "2D(2,8)", "--fail", "1"), "2D(2,8) is thicker than the machine"),
        (
            ("--alloc", "2D(3,1)", "--fail", "1"),
            "2D(3,1) keeps more sides than there are dimensions",
        ),
        (
            ("--alloc", "3D(2,1)", "--fail", "1"),
            "3D(2,1) is for 3 dimensions, the machine has 2: 8x8",
        ),
        (("--alloc", "2D", "--fail", "1"), "an allocation is written as `2D(2,1)`"),
        (("--alloc", "2D(2,1)", "--fail", "x"), "there is no host 'x' among the 64"),
        (("--alloc", "2D(2,1)", "--fail", "1,1"), "node 1 fails twice"),
        (
            ("--alloc", "2D(2,1)", "--fail", "1", "--policy", "3D"),
            "the network has 2: give at most 2D",
        ),
        (("--alloc", "2D(2,1)", "--fail", "1", "--policy", "best"), "a method is written as"),
        (
            ("--alloc", "2D(2,1)", "--fail", "1", "-p", "points=27"),
            "a 27-point stencil has 3 dimensions",
        ),
    ],
)
def test_wrong_input_says_what_is_allowed(options: tuple[str, ...], words: str) -> None:
    answer = run("spares", "substitute", "--shape", "8x8", *options)
    assert answer.status == 2
    assert words in answer.err
    assert not answer.out


def test_more_failures_than_nodes_are_refused() -> None:
    answer = run(
        "spares",
        "study",
        "--shape",
        "4x4",
        "--alloc",
        "2D(1,1)",
        "--failures",
        "1..99",
        "--samples",
        "1",
    )
    assert answer.status == 2
    assert "99 failures on a machine of 16 nodes" in answer.err
    with pytest.raises(RunflatError, match="nothing is drawn"):
        spares.Job("4x4", "2D(1,1)").worst("1D", 2, choices=spares.Choices())


def test_proved_worst_cases_are_those_of_all_sequences() -> None:
    words = (
        "spares",
        "study",
        "--shape",
        "5x5",
        "--alloc",
        "2D(2,1)",
        "--worst",
        "--failures",
        "2..3",
    )
    answer = run(*words, "--policy", "0D", "--policy", "1D", "--json")
    assert answer.status == 0, answer.err
    job = spares.Job("5x5", "2D(2,1)")
    known = {policy: job.worst(policy, 3) for policy in ("0D", "1D")}
    assert len(answer.json["worst"]) == 4
    for row in answer.json["worst"]:
        assert row["exact"]
        assert row["bound"] == known[row["policy"]][row["failures"] - 1].collision_max
        found = job.substitute(row["policy"], row["sequence"], choices=spares.Choices(pick="fixed"))
        assert found.collision_max == row["collision_max"] == row["bound"]


def test_a_proof_that_ends_early_says_what_is_open() -> None:
    words = ("spares", "study", "--shape", "8x8", "--alloc", "2D(2,1)", "--policy", "1D", "--worst")
    answer = run(*words, "--failures", "4", "--states", "50")
    assert answer.status == 0
    assert "open: " in answer.out
    one = spares.Job("8x8", "2D(2,1)").worst_proved("1D", 4, states_max=50)[-1]
    assert not one.exact
    assert one.collision_max < one.bound


def test_proofs_refuse_what_they_do_not_look_at() -> None:
    words = ("spares", "study", "--shape", "8x8", "--alloc", "2D(2,1)")
    for more, message in (
        (("--worst",), "proved for 0D and 1D"),
        (("--worst", "--policy", "1D", "--torus"), "not on a torus"),
        (("--worst", "--policy", "0D", "--samples", "9"), "--samples"),
        (("--worst", "--policy", "0D", "--pick", "random"), "--pick fixed"),
        (("--states", "9"), "--worst"),
    ):
        answer = run(*words, *more)
        assert answer.status == 2
        assert message in answer.err
    with pytest.raises(RunflatError, match="nothing is drawn"):
        spares.Job("4x4", "2D(1,1)").worst_proved("1D", 2, choices=spares.Choices())
    with pytest.raises(RunflatError, match="at least 1 failure"):
        spares.Job("4x4", "2D(1,1)").worst_proved("1D", 0)


def test_a_report_may_end_a_proof() -> None:
    def stop(one: spares.WorstCase) -> None:
        if one.failures == 2:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        spares.Job("6x6", "2D(1,1)").worst_proved("0D", 4, report=stop)


def test_the_json_is_the_same_for_the_same_seed() -> None:
    words = ("spares", "study", "--shape", "6x6", "--alloc", "2D(2,1)", "--samples", "50", "--json")
    assert run(*words).out == run(*words).out
    assert run(*words).out != run(*words, "--seed", "2").out
    assert json.loads(run(*words).out)["seed"] == 1
