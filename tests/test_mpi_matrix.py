"""The kill matrix tells a job that lost its data from one that did not."""

import math

import pytest

from mpi_jobs import losses, matrix
from mpi_jobs.job import Ended
from mpi_jobs.losses import Layout

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


def may_be_lost(layout: Layout, lines: str) -> bool:
    """Judge events of one second each: `1 killed; 3 took_over 1`."""
    events = []
    for time, line in enumerate(lines.split("; ")):
        rank, event, *more = line.split()
        events.append({"t": float(time), "rank": int(rank), "event": event})
        if more:
            events[-1]["as"] = int(more[0])
    return losses.may_be_lost(layout, events, math.inf)


RING = Layout(range(4))
KEPT = "; ".join(f"{rank} checkpoint" for rank in (0, 2, 3, 4))


@pytest.mark.parametrize(
    ("layout", "lines", "answer"),
    [
        (RING, "1 killed", False),
        (RING, "1 killed; 2 killed", True),
        (RING, "3 killed; 0 killed", True),
        (RING, "1 killed; 3 killed", False),
        (RING, "1 killed; 4 took_over 1; 2 killed", True),
        (RING, "1 killed; 4 took_over 1; 4 killed", False),
        (RING, f"1 killed; 4 took_over 1; {KEPT}; 2 killed", False),
        (RING, f"1 killed; 4 took_over 1; {KEPT}; 2 killed; 4 killed", True),
        (RING, "1 killed; 0 checkpoint; 2 checkpoint; 3 checkpoint; 2 killed", True),
        (Layout(range(4), slots=2), "0 killed; 1 killed", False),
        (Layout(range(4), slots=2), "0 killed; 2 killed", True),
        (Layout(range(8), parity=4), "0 killed; 1 killed", False),
        (Layout(range(8), parity=4), "0 killed; 2 killed", True),
        (Layout(range(8), parity=4), "0 killed; 8 took_over 0; 8 killed", False),
        (Layout([0, 1, 3, 4], moves=True), "1 killed; 4 killed", False),
        (Layout([0, 1, 3, 4], moves=True), "1 killed; 3 killed", True),
        (Layout([0, 1, 3, 4], moves=True), "1 killed; 0 repaired; 4 killed", True),
    ],
)
def test_data_are_lost_with_all_who_held_them(layout: Layout, lines: str, answer: bool) -> None:
    assert may_be_lost(layout, lines) == answer


def test_a_loss_without_need_is_noticed() -> None:
    ended = Ended("", 0, True, 1.0, [
        {"t": 0.1 * time, "rank": rank, "event": "checkpoint", "version": version}
        for time, rank, version in ((0, 0, 0), (0, 1, 0), (2, 0, 0), (2.1, 2, 0))
    ] + [{"t": 0.1, "rank": 1, "event": "killed"}])  # fmt: skip
    assert matrix.began_again(CELL, ended)
    assert not matrix.may_have_lost(CELL, ended)
    ended.events.append({"t": 0.11, "rank": 0, "event": "killed"})
    assert matrix.may_have_lost(CELL, ended)
