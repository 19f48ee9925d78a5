"""Communicators made by a group, between two groups and merged from both: all live processes have them or none, on the real MPI."""

from __future__ import annotations

import re
from random import Random

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import Parts

KINDS = ("group", "between", "merge")

RANKS = 6

FAILURE = 75
"""MPIX_ERR_PROC_FAILED in Open MPI 5.0."""

REVOKED = 77
"""MPIX_ERR_REVOKED."""

LINE = re.compile(
    r"rank (\d+): (\d+) made, then class (\d+), (\d+) wrong, (\d+) handled, (\d+) left$", re.M
)


def told(text: str) -> dict[int, tuple[int, ...]]:
    """What each rank printed, by rank."""
    return {int(rank): tuple(map(int, rest)) for rank, *rest in LINE.findall(text)}


@pytest.mark.parametrize("kind", KINDS)
def test_communicators_have_the_right_processes_in_the_right_order(parts: Parts, kind: str) -> None:
    ended = run_job(parts, RANKS, [str(parts.program("tests/groups.c")), kind, "50"])
    callers = {rank for rank in range(RANKS) if rank or kind != "group"}
    ranks = told(ended.text)
    assert {rank: ranks[rank] for rank in callers} == dict.fromkeys(callers, (50, 0, 0, 0, RANKS))
    assert ended.status == 0
    assert not ended.left_behind


# Rank 3 leads a side.
@pytest.mark.parametrize(
    ("kind", "victim"), [("group", 1), ("between", 3), ("between", 4), ("merge", 3), ("merge", 4)]
)
def test_all_have_a_communicator_or_none(parts: Parts, kind: str, victim: int) -> None:
    at = Random(f"{kind} {victim}").uniform(0.1, 0.4)
    ended = run_job(
        parts, RANKS, [str(parts.program("tests/groups.c")), kind], kill=f"{victim}@{at:.4f}"
    )
    callers = {rank for rank in range(RANKS) if rank != victim and (rank or kind != "group")}
    ranks = told(ended.text)
    assert ended.ranks("killed") == {victim}
    assert callers <= ranks.keys(), ended.text
    assert len({ranks[rank] for rank in callers}) == 1, ended.text
    made, failure, wrong, handled, left = ranks[min(callers)]
    assert made > 0, "it died too early"
    assert (failure, wrong, handled, left) == (FAILURE, 0, handled, RANKS - 1)
    assert handled == (1 if kind != "merge" else 0), "an error is handled once"
    assert ended.in_time
    assert not ended.left_behind
    assert not ended.crash_words, ended.text


# Whoever is not in the group may die: it is made all the same.
def test_a_group_without_the_dead_is_made(parts: Parts) -> None:
    ended = run_job(
        parts, RANKS, [str(parts.program("tests/groups.c")), "group", "4000"], kill="0@0.05"
    )
    ranks = told(ended.text)
    assert ended.ranks("killed") == {0}
    assert ranks == dict.fromkeys(range(1, RANKS), (4000, 0, 0, 0, RANKS - 1)), ended.text
    assert ended.in_time
    assert not ended.left_behind


JOBS = (3, 2)
"""Processes that spawn, and that they spawn; the latter only may die with `--enable-recovery`."""

OF_JOBS = re.compile(
    r"^(?:spawner|spawned) (\d+): (\d+) made, then class (\d+), (\d+) wrong$", re.M
)


@pytest.mark.parametrize("kind", ["merge", "keep", "between"])
def test_communicators_of_two_jobs_have_the_right_processes(parts: Parts, kind: str) -> None:
    program = [str(parts.program("tests/jobs.c")), kind, str(JOBS[1]), "30"]
    ended = run_job(parts, JOBS[0], program)
    ranks = {rank: rest for rank, *rest in OF_JOBS.findall(ended.text)}
    assert ranks == {str(rank): ["30", "0", "0"] for rank in range(sum(JOBS))}, ended.text
    assert ended.status == 0, "nobody waits in MPI_Finalize"
    assert not ended.left_behind


@pytest.mark.parametrize("victim", [0, 2, 3, 4])
def test_jobs_are_merged_at_all_or_at_none(parts: Parts, victim: int) -> None:
    """Mpirun ends what is left of a spawned job 250 ms after a death in it."""
    at = Random(f"jobs {victim}").uniform(0.05, 0.3)
    program = [str(parts.program("tests/jobs.c")), "merge", str(JOBS[1]), "100000"]
    ended = run_job(
        parts, JOBS[0], [*program, str(victim), f"{at:.4f}"], options=["--enable-recovery"]
    )
    ranks = {int(rank): rest for rank, *rest in OF_JOBS.findall(ended.text)}
    live = set(range(sum(JOBS))) - {victim}
    may_be_ended = set() if victim < JOBS[0] else live - set(range(JOBS[0]))
    assert live - may_be_ended <= ranks.keys() <= live, ended.text
    assert len({made for made, _, _ in ranks.values()}) == 1, ended.text
    assert {failure for _, failure, _ in ranks.values()} <= {str(FAILURE), str(REVOKED)}
    assert {wrong for _, _, wrong in ranks.values()} == {"0"}
    assert not ended.ranks("step_limit"), ended.text
    assert ended.in_time
    assert not ended.left_behind
