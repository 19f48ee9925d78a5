"""MPI_Comm_idup: copies of communicators as requests, on the real MPI."""

from __future__ import annotations

import re

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import Parts

WHOLE = "attribute 1, torus 1, returns 1, range group, sum 10"


def test_a_copy_has_what_the_communicator_had_at_the_call(parts: Parts) -> None:
    ended = run_job(parts, 5, [str(parts.program("tests/duplicate.c")), "8"])
    assert ended.text.count(WHOLE) == 5, ended.text
    assert ended.text.count("3200 made, 5 left") == 5, ended.text
    assert ended.status == 0
    assert not ended.left_behind


@pytest.mark.parametrize("count", ["1", "8"])
@pytest.mark.parametrize("kill", ["2@0.05", "0@0.08", "1@0.06,3@0.061"])
def test_all_have_a_copy_or_none(parts: Parts, count: str, kill: str) -> None:
    program = [str(parts.program("tests/duplicate.c")), count, "rounds"]
    ended = run_job(parts, 6, program, kill=kill)
    told = re.findall(r"rank \d+: (\d+) made, (\d+) left", ended.text)
    live = 6 - len(ended.ranks("killed"))
    assert len(ended.ranks("killed")) == len(kill.split(","))
    assert told == [(told[0][0], str(live))] * live, ended.text
    assert ended.in_time
    assert not ended.left_behind
    assert not ended.crash_words, ended.text


def test_a_copy_ends_for_those_who_wait_when_another_has_left(parts: Parts) -> None:
    """Rank 1 has begun the repair before it has come to the copy."""
    program = [str(parts.program("tests/left.c"))]
    ended = run_job(parts, 5, program, spares=1, environment={"RUNFLAT_STEP_LIMIT_S": "15"})
    assert sorted(re.findall(r"rank (\d): no copy\n", ended.text)) == ["0", "2"], ended.text
    assert len(re.findall(r"rank \d of 4 at the end\n", ended.text)) == 4, ended.text
    assert ended.ranks("took_over") == {4}
    assert not ended.crash_words
