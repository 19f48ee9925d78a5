"""How many spares a run needs: tails against plain sums and draws, allocations against closed forms."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import Answer, run
from runflat import spares
from runflat.spares import Run, SparesError
from runflat.spares.granted import granted
from runflat.spares.sizing import (
    around,
    candidates,
    granted_candidates,
    near_cube,
    smallest,
    unrecoverable_by_policy,
)
from runflat.spares.tails import binomial_tail, poisson_tail


def plan(*arguments: str) -> Answer:
    return run("spares", "plan", *arguments)


@given(mean=st.floats(0.001, 60), most=st.integers(0, 100))
def test_a_poisson_tail_is_the_plain_sum(mean: float, most: int) -> None:
    below = math.fsum(math.exp(-mean) * mean**n / math.factorial(n) for n in range(most + 1))
    assert poisson_tail(most, mean) == pytest.approx(1 - below, abs=1e-12)


@given(nodes=st.integers(1, 60), most=st.integers(0, 60), per_mille=st.integers(1, 999))
@settings(max_examples=50)
def test_a_binomial_tail_is_the_exact_sum(nodes: int, most: int, per_mille: int) -> None:
    dead = Fraction(per_mille, 1000)
    exact = sum(
        math.comb(nodes, n) * dead**n * (1 - dead) ** (nodes - n) for n in range(most + 1, nodes + 1)
    )  # fmt: skip
    assert binomial_tail(most, nodes, float(dead)) == pytest.approx(float(exact), rel=1e-9, abs=0)


def test_tails_stay_right_where_numbers_are_large_or_small() -> None:
    assert poisson_tail(0, 1e-9) == pytest.approx(1e-9, rel=1e-8)
    assert poisson_tail(3, 1e-3) == pytest.approx(1e-12 / 24 * (1 - 0.0008), rel=1e-6)
    assert poisson_tail(1_000_000, 1e6) == pytest.approx(0.5, abs=1e-3)
    assert poisson_tail(1_003_000, 1e6) == pytest.approx(0.00135, rel=0.01)
    assert poisson_tail(-1, 5) == 1
    assert binomial_tail(5, 5, 0.3) == 0
    assert binomial_tail(4, 5, 1 - 1e-17) == 1
    tails = [poisson_tail(most, 1000.5) for most in range(0, 3000, 7)]
    assert all(one >= other for one, other in pairwise(tails))


@pytest.mark.parametrize("idle_fail", [False, True])
def test_the_abort_probability_is_that_of_drawn_lifetimes(idle_fail: bool) -> None:
    used, spares, hours, mtbf = 60, 5, 10.0, 200.0
    asked = Run(hours, mtbf, 0.01, idle_fail)
    rng = random.Random(3)
    runs, aborted = 6000, 0
    for _ in range(runs):
        # Each place draws the life of its node; a dead one takes a spare, whose life begins then or began before.
        waiting = sorted((rng.expovariate(1 / mtbf) for _ in range(spares)), reverse=True)
        left = spares if not idle_fail else sum(life > hours for life in waiting)
        lives = [rng.expovariate(1 / mtbf) for _ in range(used)]
        if idle_fail:
            aborted += sum(life <= hours for life in lives) > left
            continue
        failures = 0
        for life in lives:
            at = life
            while at <= hours:
                failures += 1
                at += rng.expovariate(1 / mtbf)
        aborted += failures > spares
    expected = asked.abort_probability(used, spares)
    spread = math.sqrt(expected * (1 - expected) / runs)
    assert abs(aborted / runs - expected) < 4 * spread
    assert 0.02 < expected < 0.2, "the case tells something"


@pytest.mark.parametrize("idle_fail", [False, True])
def test_the_spares_needed_are_the_fewest(idle_fail: bool) -> None:
    for nodes, hours, risk in [(1, 1, 0.5), (100, 10, 0.01), (4096, 72, 0.01), (50_000, 200, 1e-9)]:
        asked = Run(hours, 26_000, risk, idle_fail)
        needed = asked.spares_needed(nodes)
        assert needed is not None
        assert asked.abort_probability(nodes, needed) <= risk
        assert needed == 0 or asked.abort_probability(nodes, needed - 1) > risk
        among = asked.spares_needed_of(nodes + 1)
        plain = next(
            k for k in range(nodes + 1) if asked.abort_probability(nodes + 1 - k, k) <= risk
        )
        assert among == plain


def test_candidates_count_spares_corners_and_shares() -> None:
    found = candidates((6, 5, 4), Run(10, 20, 1e-3))
    for one in found:
        sides, thickness = (int(word) for word in one.allocation[3:-1].split(","))
        grid = np.indices(one.shape).reshape(3, -1)
        high = [
            grid[axis] >= one.shape[axis] - thickness if axis < sides else grid[axis] < 0
            for axis in range(3)
        ]
        assert one.spares == int(np.logical_or.reduce(high).sum())
        assert one.corner == int((np.sum(high, axis=0) > 1).sum())
        assert one.used + one.spares == 120
        assert one.share == pytest.approx(one.spares / 120)
    best = smallest(found)
    assert best is not None
    assert best.fits
    assert not any(one.fits and one.spares < best.spares for one in found)
    cube = candidates((10, 10), Run(1, 1e6, 0.01))[-1]
    assert cube.share == pytest.approx(cube.share_by_formula)


def test_near_cubes_hold_the_nodes_and_are_the_smallest() -> None:
    for dimensions in (1, 2, 3):
        for nodes in [*range(1, 200), 4096, 4097]:
            shape = near_cube(nodes, dimensions)
            assert math.prod(shape) >= nodes
            assert max(shape) - min(shape) <= 1
            assert math.prod([*shape[1:], shape[0] - 1]) < nodes, "the next smaller holds fewer"
    assert near_cube(4096, 3) == (16, 16, 16)
    found = around(4096, 2, Run(72, 26_000, 0.01))
    assert found is not None
    assert (found.shape, found.used) == ((65, 64), 4096)


def test_slides_that_reach_fewer_spares_are_aborted_more_often() -> None:
    asked = Run(72, 2600, 0.01)
    one = smallest(candidates((12, 12), asked))
    assert one is not None
    found = unrecoverable_by_policy(
        one, asked, ["0D", "1D", "2D", "hybrid(all)"], torus=False, samples=200, seed=1
    )
    assert found["0D"] == pytest.approx(one.abort_probability)
    assert found["hybrid(all)"] == pytest.approx(one.abort_probability)
    assert found["0D"] < found["1D"] < found["2D"]
    # One column of spares: a 2D slide moves everything into it, and the next finds none.
    assert found["2D"] == pytest.approx(poisson_tail(1, one.expected_failures), abs=1e-3)


def test_the_command_says_how_many_and_where() -> None:
    answer = plan("--shape", "24x24x24", "--hours", "72", "--mtbf", "26000", "--json")
    found = answer.json
    assert answer.status == 0
    assert found["outcome"] == "planned"
    assert found["spares_needed"] == 53
    assert found["abort_probability"] <= 0.01
    assert found["allocation"] == "3D(1,1)"
    assert [one["spares"] for one in found["candidates"]] == [576, 1128, 1657]
    same = plan(
        "--shape", "24x24x24", "--hours", "72", "--system-mtbf", str(26000 / 24**3), "--json"
    )
    assert same.json["spares_needed"] == 53
    shown = plan("--nodes", "4096", "--hours", "72", "--mtbf", "26000", "--risk", "0.01").out
    assert "20 on top" in shown
    assert "1D(1,20)" in shown
    told = plan("--shape", "12x12", "--hours", "72", "--mtbf", "2600", "--policy", "1D", "--samples", "50").out  # fmt: skip
    assert "above the accepted risk" in told
    assert "the smallest that keeps it: 2D(1,3)" in told


def test_the_allocation_that_a_policy_needs_keeps_the_risk() -> None:
    base = ["--shape", "12x12", "--hours", "72", "--mtbf", "2600", "--samples", "400", "--json"]
    found = plan(*base, "--policy", "1D", "--policy", "0D").json
    assert found["policies"]["1D"] > found["risk"] >= found["policies"]["0D"]
    assert list(found["policy_allocations"]) == ["1D"]
    own = found["policy_allocations"]["1D"]
    assert own["measured"] <= found["risk"]
    # Those between the two are too few: the campaign says so of each.
    job = spares.Job("12x12", own["allocation"])
    assert job.spares == own["spares"] > 12


def test_where_nothing_fits_it_is_a_finding() -> None:
    answer = plan("--shape", "3x3", "--hours", "72", "--mtbf", "10", "--json")
    assert answer.status == 1
    assert answer.json["outcome"] == "no_allocation"
    assert answer.json["spares_needed"] is None
    endless = ("--nodes", "10", "--hours", "1e6", "--mtbf", "1", "--idle-fail")
    assert plan(*endless).status == 1
    assert "No number of spares" in plan(*endless).out
    # So many spares are needed that no grid is as large: a number, and no table.
    many = plan("--nodes", "9000000", "--hours", "10", "--mtbf", "10", "--idle-fail", "--json").json
    assert many["spares_needed"] > 15_000_000
    assert many["candidates"] == []
    assert plan("--shape", "1", "--hours", "1", "--mtbf", "1").status == 1
    assert plan("--shape", "1x8", "--hours", "1", "--mtbf", "1").status == 1


BASE = ("--hours", "72", "--mtbf", "26000")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--nodes", "9", "--shape", "3x3", *BASE), "one of --shape"),
        (BASE, "one of --shape"),
        (("--nodes", "9", "--hours", "1"), "either --mtbf"),
        (("--nodes", "9", *BASE, "--system-mtbf", "1"), "either --mtbf"),
        (("--nodes", "9", "--hours", "0", "--mtbf", "1"), "run time"),
        (("--nodes", "9", "--hours", "nan", "--mtbf", "1"), "run time"),
        (("--nodes", "9", "--hours", "1", "--mtbf", "-5"), "MTBF"),
        (("--nodes", "9", *BASE, "--risk", "1"), "write 1% or 0.01"),
        (("--nodes", "9", *BASE, "--risk", "0%"), "both excluded"),
        (("--nodes", "9", *BASE, "--risk", "low"), "--risk is written as"),
        (("--nodes", "9", *BASE, "--policy", "1D"), "give --shape"),
        (("--nodes", "9", *BASE, "--samples", "5"), "is for --policy"),
        (("--shape", "3x0", *BASE), "at least 1 node"),
        (("--shape", "cube", *BASE), "24x24x24"),
        (("--shape", "9x9", *BASE, "--policy", "5D"), "5D"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], part: str) -> None:
    answer = plan(*arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert part in answer.err


def test_a_run_asks_for_what_can_be() -> None:
    for wrong in [(0, 1, 0.1), (1, math.inf, 0.1), (1, 1, 0), (1, 1, 1)]:
        with pytest.raises(SparesError):
            Run(*wrong)


def test_schedulers_grant_more_than_a_job_asks_for() -> None:
    assert granted((11, 11, 11), "k") == (12, 12, 12)
    assert granted((11, 11, 11), "bgq") == (16, 16, 16)
    assert granted((5, 3), "xk7") == (8, 3)
    assert granted((12, 12, 12), "k") == (12, 12, 12)
    assert granted((1, 8), "bgq") == (1, 8)
    with pytest.raises(SparesError, match="3 dimensions"):
        granted((11, 11), "k")


def test_what_a_job_is_granted_may_be_enough() -> None:
    run = Run(720, 26_000, 0.01)
    [only] = granted_candidates((11, 11, 11), "k", run)
    assert (only.allocation, only.shape, only.spares) == ("11x11x11", (12, 12, 12), 397)
    assert only.corner == 397 - 3 * 11 * 11
    assert only.fits
    assert only.share_by_formula is None
    # Nothing is left of a job that fills its blocks: more has to be asked for.
    found = granted_candidates((12, 12, 12), "k", run)
    assert [one.spares == 0 for one in found] == [True] + [False] * (len(found) - 1)
    assert [one.fits for one in found] == [False] * (len(found) - 1) + [True]


def test_where_no_spare_is_needed_none_is_named() -> None:
    answer = plan("--shape", "3x3", "--hours", "1", "--mtbf", "26000")
    assert answer.status == 0
    assert "No spare is needed." in answer.out
    found = plan("--shape", "1", "--hours", "72", "--mtbf", "26000", "--json")
    assert (found.status, found.json["outcome"], found.json["allocation"]) == (0, "planned", None)
    assert plan("--nodes", "99999999999999", "--hours", "72", "--mtbf", "26000").status == 2


def test_plan_finds_the_spares_in_the_gap() -> None:
    base = ("--hours", "720", "--mtbf", "26000")
    found = plan("--job", "11x11x11", "--system", "k", *base, "--policy", "0D", "--json").json
    assert (found["shape"], found["job"], found["system"]) == ([12, 12, 12], [11, 11, 11], "k")
    assert found["allocation"] == "11x11x11"
    assert found["policies"]["0D"] < 0.01
    for wrong in (("--job", "11x11x11"), ("--job", "4x4", "--system", "k")):
        answer = plan(*wrong, *base)
        assert answer.status == 2, answer
