"""Checkpoints of MPI jobs that lose processes: second copies, parity, what has changed in memory; on the real MPI."""

from __future__ import annotations

import re

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import Parts


@pytest.mark.parametrize(
    ("corrupt", "version"),
    [("3", "[1-9][0-9]*"), ("2", "0")],
    ids=["the other copy is good", "the other copy is gone"],
)
def test_copies_that_have_changed_in_memory_are_not_used(
    parts: Parts, corrupt: str, version: str
) -> None:
    """Rank 1 dies, whose second copy is at rank 2; that of rank 3 is at rank 0."""
    program = [str(parts.program("examples/02_spares.c")), "150"]
    ended = run_job(
        parts, 6, program, spares=2, kill="1@0.2", environment={"RUNFLAT_CORRUPT": corrupt}
    )
    assert "has changed in memory; it is left out" in ended.text, ended.text
    assert "4 ranks, 150 steps, largest error 0" in ended.text, ended.text
    again = [one["version"] for one in ended.events if one["event"] in ("restored", "checkpoint") and one["t"] > ended.first("repaired")]  # fmt: skip
    assert re.fullmatch(version, str(again[0])), again[:8]
    assert not ended.crash_words


@pytest.mark.parametrize(
    ("ranks", "parity", "kill", "corrupt", "again"),
    [
        (4, "3", "1@0.2", "", True),
        (8, "4", "1@0.2,2@0.2", "", True),
        (8, "4", "0@checkpoint,5@repair", "", None),
        (8, "4", "1@0.2,3@repair", "", False),
        (8, "4", "1@0.2", "4", True),
    ],
    ids=["all in one", "in two groups", "in phases", "in one group", "in one, and memory changes"],
)
def test_parity_gives_back_what_one_of_a_group_had(
    parts: Parts, ranks: int, parity: str, kill: str, corrupt: str, again: bool | None
) -> None:
    program = [str(parts.program("examples/02_spares.c")), "150"]
    told = {"RUNFLAT_PARITY": parity, "RUNFLAT_CORRUPT": corrupt}
    ended = run_job(parts, ranks + 3, program, spares=3, kill=kill, environment=told)
    assert ended.in_time
    assert f"{ranks} ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed")
    assert ("has changed in memory" in ended.text) == bool(corrupt)
    if again is not None:
        assert bool(ended.ranks("restored")) == again, ended.text


@pytest.mark.parametrize("parity", ["0", "3"], ids=["second copies", "parity"])
@pytest.mark.parametrize("kill", ["", "1@0.2", "2@checkpoint+0.0005", "0@0.15,3@0.3"])
def test_checkpoints_beside_the_computation_bring_data_back(
    parts: Parts, kill: str, parity: str
) -> None:
    program = [str(parts.program("examples/06_background.c")), "150"]
    told = {"RUNFLAT_PARITY": parity}
    ended = run_job(parts, 6, program, spares=2, kill=kill, environment=told)
    assert "4 ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed") == {int(one.split("@")[0]) for one in kill.split(",") if one}
    versions = [one["version"] for one in ended.events if one["event"] == "checkpoint"]
    assert set(versions) >= set(range(100, 151, 10))
    assert "has changed in memory" not in ended.text
    assert not ended.crash_words


IN_SQUARE = {
    "RUNFLAT_SHAPE": "3x3",
    "RUNFLAT_ALLOCATION": "2D(2,1)",
    "RUNFLAT_POLICY": "hybrid(all)",
}


@pytest.mark.parametrize("parity", ["0", "4"], ids=["second copies", "parity"])
def test_ranks_that_become_spares_hand_over_what_they_hold(parts: Parts, parity: str) -> None:
    """Ranks slide twice, and one that holds what another one's data are brought back from sleeps then."""
    program = [str(parts.program("tests/collective.c")), "220", "creation"]
    told = IN_SQUARE | {"RUNFLAT_PARITY": parity}
    ended = run_job(parts, 9, program, spares=5, kill="3@0.1,2@restore+0.1", environment=told)
    assert "4 ranks, 220 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed") == {2, 3}
    assert ended.ranks("handed")
    died = [one["t"] for one in ended.events if one["event"] == "killed"]
    later = [one for one in ended.events if one["event"] == "restored" and one["t"] > max(died)]
    assert {one["rank"] for one in later} == {4, 5, 7, 8}, later
    assert not ended.crash_words
