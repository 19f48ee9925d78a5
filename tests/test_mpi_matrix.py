"""The kill matrix tells a job that lost its data from one that did not."""

import pytest

from mpi_jobs import matrix
from mpi_jobs.job import Ended

CELL = matrix.Cell(ranks=2, spares=2, kill="0@0.1")
BEFORE = ["0 checkpoint 0", "1 checkpoint 0", "0 killed"]


def began_again(lines: list[str]) -> bool:
    events = []
    for time, line in enumerate(lines):
        rank, event, *version = line.split()
        events.append({"t": float(time), "rank": int(rank), "event": event})
        if version:
            events[-1]["version"] = int(version[0])
    return matrix.began_again(CELL, Ended("", 0, True, 1.0, events))


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        (["1 checkpoint 10", "2 checkpoint 10"], False),
        (["1 checkpoint 0", "2 checkpoint 0"], True),
        (["2 reduced", "2 checkpoint 0", "3 launched", "0 checkpoint 10"], False),
        (["2 reduced", "2 checkpoint 0", "3 launched", "0 checkpoint 0"], True),
    ],
    ids=["goes on", "begins anew", "spares alone begin anew", "the next attempt begins anew"],
)
def test_a_job_that_had_data_has_begun_again(after: list[str], answer: bool) -> None:
    assert began_again(BEFORE + after) == answer


def test_a_job_without_data_begins_rightly() -> None:
    assert not began_again(["0 checkpoint 0", "0 killed", "1 checkpoint 0", "2 checkpoint 0"])
