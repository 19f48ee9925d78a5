"""What else one can do about failed nodes: a search instead of slides, lines left out, spares between two jobs; and slowdowns."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import run
from runflat import spares
from runflat.spares import SparesError
from runflat.spares.alternatives import leave_out_all, leave_out_fewest
from runflat.spares.slowdown import mean_slowdown, read_send_time, slowdown

GRID = ("--shape", "10x10", "--alloc", "2D(2,1)")
FAILED = "12,37,45,61,78,83"


def test_a_search_collides_less_than_slides_and_says_how_far_it_is_from_the_best() -> None:
    found, slid = (
        run("spares", "substitute", *GRID, "--fail", FAILED, "--policy", policy, "--json").json
        for policy in ("optimal(trials=500)", "hybrid(all)")
    )
    assert found["collision_bound"] == 2
    assert 2 <= found["collisions_max"] < slid["collisions_max"]
    assert all(step["degree"] is None for step in found["steps"])
    answer = run("spares", "substitute", *GRID, "--fail", FAILED, "--policy", "optimal(trials=500)")
    assert "no placement" in answer.out
    assert "ranks move" in answer.out


def test_a_search_keeps_to_its_budget() -> None:
    job = spares.Job("10x10", "2D(2,1)")
    failed = [int(word) for word in FAILED.split(",")]
    for most in (1, 5):
        steps = job.substitute(f"optimal(moves={most})", failed).steps
        assert all(1 <= len(step.moves) <= most for step in steps)


def test_a_search_is_compared_on_the_same_failures() -> None:
    job = spares.Job("10x10", "2D(2,1)")
    campaign = spares.Campaign(job, ["hybrid(all)", "optimal(trials=40)"], 10)
    rows = campaign.rows(campaign.run(range(300)), 300)
    slid, found = rows[:10], rows[10:]
    pairs = [(one.average, other.average) for one, other in zip(slid, found, strict=True)]
    assert all(search <= slide for slide, search in pairs if search is not None)
    assert found[7].average < 0.85 * slid[7].average
    assert all(row.share == {} and row.unrecoverable == 0 for row in found)


@pytest.mark.parametrize("text", ["optimal(trials=x)", "optimal(moves=0)", "optimal(", "optimal()"])
def test_a_search_is_written_in_one_way(text: str) -> None:
    answer = run("spares", "study", *GRID, "--policy", text)
    assert answer.status == 2
    assert "optimal(trials=1000, moves=30)" in answer.err


def test_every_sequence_is_for_slides() -> None:
    with pytest.raises(SparesError, match="take a policy that slides"):
        spares.Job("5x5", "2D(2,1)").worst("optimal", 2)


def test_figure_1_leaves_25_of_36_nodes() -> None:
    found = leave_out_all((6, 6), [(3, 3)])
    assert (found.nodes, found.shape, found.work) == (25, [5, 5], 36 / 25)
    # One line is enough for neighbours to stay neighbours.
    assert leave_out_fewest((6, 6), [(3, 3)]).nodes == 30


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    picks=st.lists(st.integers(0, 10_000), max_size=5),
)
@settings(max_examples=60)
def test_the_fewest_lines_are_what_trying_all_finds(shape: list[int], picks: list[int]) -> None:
    nodes = list(itertools.product(*(range(length) for length in shape)))
    failed = [nodes[pick % len(nodes)] for pick in picks]
    found = leave_out_fewest(shape, failed)
    lines = [(along, at) for along, length in enumerate(shape) for at in range(length)]
    best = 0
    for count in range(min(len(failed), len(lines)) + 1):
        for out in itertools.combinations(lines, count):
            if all(any(node[along] == at for along, at in out) for node in failed):
                left = [length - sum(a == d for a, _ in out) for d, length in enumerate(shape)]
                best = max(best, math.prod(left))
    assert found.nodes == best
    assert found.nodes == math.prod(found.shape)
    for node in failed:
        assert any(at in out for at, out in zip(node, found.left_out, strict=True))


def test_many_failures_leave_out_lines_one_by_one() -> None:
    failed = [(x, (7 * x) % 40) for x in range(40)]
    found = leave_out_fewest((40, 40), failed)
    assert (found.shape, found.work) == ([20, 20], 4)
    assert math.isinf(leave_out_fewest((2,), [(0,), (1,)]).work)
    assert leave_out_fewest((40, 40), [(3, y) for y in range(25)]).shape == [39, 40]


def test_five_collisions_on_k_take_three_times_as_long() -> None:
    assert slowdown(5, read_send_time("k", 2)) == pytest.approx(3, abs=0.1)
    assert slowdown(5, read_send_time("TSUBAME", 3)) == 1
    assert slowdown(5, read_send_time("2.5", 4)) == 2
    assert mean_slowdown([0, 1, 0, 1], 2.0) == 1.25
    assert mean_slowdown([], 2.0) is None
    for wrong in ("0.5", "cray", "inf"):
        with pytest.raises(SparesError, match="1 or more"):
            read_send_time(wrong, 2)
    with pytest.raises(SparesError, match="Table 2"):
        read_send_time("k", 4)
    words = ("--policy", "0D", "--failures", "1..3", "--samples", "50", "--slowdown", "k")
    rows = run("spares", "study", *GRID, *words, "--json").json["rows"]
    assert all(1 <= row["slowdown"] <= row["worst"] / 1.7 for row in rows)


def test_jobs_at_a_boundary_use_the_same_spares() -> None:
    job = spares.Job("11x6", "boundary(1)")
    assert job.job_shapes == [(5, 6), (5, 6)]
    assert (job.ranks, job.spares, job.collision_max, job.round_count) == (60, 6, 1, 1)
    assert {job.coordinates(node)[0] for node in range(66)} - {
        job.coordinates(node)[0] for node in job.node_of_rank
    } == {5}
    found = job.substitute("0D", [(4, 2), (6, 2), (3, 3), (7, 3)])
    both, first, second = found.steps[-1].collisions
    assert max(first, second) <= both == found.collision_max <= first + second
    assert (found.rounds_before, found.rounds, found.spares_left) == (1, both, 2)
    assert not found.shape_kept
    # All the spares between them are used up by the failures of one job.
    lost = job.substitute("0D", [(0, y) for y in range(6)] + [(10, 0)])
    assert lost.outcome == "no_spare_left"
    answer = run("spares", "substitute", "--shape", "3x6", "--alloc", "boundary(2)", "--fail", "0")
    assert answer.status == 2
    assert "thicker than the machine" in answer.err
    answer = run("spares", "substitute", "--shape", "11x6", "--alloc", "boundary(1)", "--fail", "9")
    assert "each job alone" in answer.out


def test_a_job_of_its_own_shape_keeps_all_beyond_it() -> None:
    job = spares.Job("12x12x12", "11x11x11")
    assert (job.job_shape, job.spares) == ((11, 11, 11), 12**3 - 11**3)
    assert job.node_of_rank == spares.Job("12x12x12", "3D(3,1)").node_of_rank
    for wrong, said in (("13x1x1", "does not fit"), ("0x1x1", "written as"), ("4x4", "dimensions")):
        with pytest.raises(SparesError, match=said):
            spares.Job("12x12x12", wrong)
