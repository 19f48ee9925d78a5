"""Jobs that come together while their processes go on: spawned, or connected over a port, on the real MPI."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from mpi_jobs.job import Ended, run_job
from mpi_jobs.parts import Parts

PYTHON = """
import sys
from mpi4py import MPI
from runflat import mpi
world = MPI.COMM_WORLD
if MPI.Comm.Get_parent() != MPI.COMM_NULL:
    MPI.Comm.Get_parent().Merge(True).allreduce(1)
    sys.exit()
half = world.Split(world.rank % 2, world.rank)
port = world.bcast(MPI.Open_port() if world.rank == 0 else None)
meet = mpi.connect_later if world.rank % 2 else mpi.accept_later
turns = 0
for request, take in (
    mpi.spawn_later(sys.executable, [__file__], 2, comm=world),
    meet(port, comm=half),
):
    while not request.Test():
        turns += 1
    print("together", take().Merge(False).allreduce(1), "meanwhile", turns, flush=True)
"""


def joined(ended: Ended) -> list[tuple[str, ...]]:
    """Group, communicators got and whole ones, calls made meanwhile, of each process that told them."""
    return re.findall(
        r"rank \d+ of group (-?\d+): (\d+) joined, (\d+) whole, (\d+) tests, the longest took",
        ended.text,
    )


@pytest.mark.parametrize(("how", "count"), [("spawn", 1), ("spawn", 3), ("meet", 1), ("meet", 3)])
def test_jobs_come_together_while_processes_go_on(parts: Parts, how: str, count: int) -> None:
    ended = run_job(parts, 8, [str(parts.program("tests/dynamic.c")), how, str(count)])
    told = joined(ended)
    assert len(told) == 8, ended.text
    for group, got, whole, tests in told:
        assert got == whole == ("1" if int(group) > 0 else str(count)), ended.text
        assert int(tests) > 5, ended.text
    assert ended.in_time
    assert ended.status == 0
    assert not ended.left_behind
    assert not ended.crash_words, ended.text


@pytest.mark.parametrize("kill", ["2@join", "0@join+0.02", "1@join+0.2"])
def test_all_have_the_spawned_processes_or_none(
    parts: Parts, kill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes that are spawned end with those that would have them.

    After 0.2 s they begin, and connect later: a death in between now and then keeps mpirun from ending. Where they begin faster,
    without libfabric, there is no such moment that is the same on every machine.
    """
    monkeypatch.delenv("OMPI_MCA_btl", raising=False)
    ended = run_job(parts, 5, [str(parts.program("tests/dynamic.c")), "spawn", "2"], kill=kill)
    told = joined(ended)
    assert len(ended.ranks("killed")) == 1, ended.text
    assert len(told) == 4, ended.text
    assert len({got for _, got, _, _ in told}) == 1, ended.text
    assert ended.in_time
    assert not ended.left_behind
    assert "Signal: Segmentation" not in ended.text, ended.text


def test_processes_end_that_are_spawned_when_their_parents_are_gone(
    parts: Parts, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    ended = run_job(
        parts, 3, [str(parts.program("tests/unborn.c")), str(there)], options=["--enable-recovery"]
    )
    assert there.exists()
    assert ended.ranks("failure_detected") == {0, 1}, ended.told
    assert set(re.findall(r"rank (\d) has none", ended.text)) == {"0", "1"}, ended.text
    assert ended.text.count("a spawned process goes on") == 2, ended.text
    assert ended.in_time, ended.text
    assert not ended.left_behind
    assert not ended.crash_words, ended.text


@pytest.mark.parametrize("who", ["spawned", "all"])
def test_all_come_back_from_a_disconnect_after_a_death(parts: Parts, who: str) -> None:
    """Open MPI waits there for the dead."""
    program = [str(parts.program("tests/disconnect.c")), who]
    ended = run_job(parts, 3, program, options=["--enable-recovery"])
    assert ended.ranks("failure_detected") >= {0, 2}, ended.told
    told = re.findall(r"(?:spawned|rank) (\d): class (\d+), done", ended.text)
    assert len(told) == 4, ended.text
    assert {code for _, code in told} <= {"75", "77"}, ended.text
    assert ended.in_time
    assert not ended.left_behind
    assert not ended.crash_words, ended.text


@pytest.mark.parametrize("kill", ["0@join+0.001", "1@join+0.002"])
def test_all_of_a_group_are_connected_or_none(parts: Parts, kill: str) -> None:
    program = [str(parts.program("tests/dynamic.c")), "meet", "1", "unused"]
    settings = {"RUNFLAT_STEP_LIMIT_S": "5", "RUNFLAT_MEET_S": "3"}
    ended = run_job(parts, 6, program, kill=kill, environment=settings)
    told = joined(ended)
    assert len(told) == 5, ended.text
    assert len({group for group, _, _, _ in told}) == 2, ended.text
    assert len({(group, got) for group, got, _, _ in told}) == 2, ended.text
    assert ended.in_time
    assert not ended.left_behind
    assert not ended.crash_words, ended.text


@pytest.mark.parametrize(
    ("what", "word"),
    [("spawn", "SPAWN"), ("spawns", "SPAWN"), ("connect", "PORT"), ("accept", "PORT")],
)
def test_what_cannot_be_had_is_no_failure(parts: Parts, what: str, word: str) -> None:
    """No such program, nobody at the port: all get the same class, which no repair mends, and go on."""
    program = [str(parts.program("tests/refused.c")), what]
    ended = run_job(parts, 4, program, environment={"RUNFLAT_MEET_S": "1"})
    told = re.findall(rf"rank \d: {word}, a failure: 0, made: 0, 4 go on", ended.text)
    assert len(told) == 4, ended.text
    assert ended.in_time
    assert not ended.left_behind
    assert not ended.crash_words, ended.text


def test_python_jobs_come_together_while_processes_go_on(parts: Parts, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py: not installed")
    (tmp_path / "program.py").write_text(PYTHON, encoding="utf-8")
    ended = run_job(
        parts, 4, [sys.executable, str(tmp_path / "program.py")],
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert len(re.findall(r"together 6 meanwhile [1-9]", ended.text)) == 4, ended.text
    assert len(re.findall(r"together 4 meanwhile [1-9]", ended.text)) == 4, ended.text
    assert not ended.left_behind


def test_spawned_processes_come_under_the_library(parts: Parts) -> None:
    program = [str(parts.compiled("tests/spawn.c", []))]
    ended = run_job(parts, 3, program, environment={"LD_PRELOAD": str(parts.library)})
    assert "5 of 5 processes have the library, the youngest was told 30 s" in ended.text, ended.text
    assert ended.in_time
    assert not ended.left_behind
    assert "WARNING" not in ended.text


def test_spawned_processes_get_what_there_is_room_for(parts: Parts) -> None:
    """MPI takes 256 characters."""
    program = [str(parts.compiled("tests/spawn.c", []))]
    long = {"RUNFLAT_POLICY_LIBRARY": "/none" * 40}
    ended = run_job(parts, 3, program, environment={"LD_PRELOAD": str(parts.library)} | long)
    assert "5 of 5 processes have the library, the youngest was told 30 s" in ended.text, ended.text
    assert "MPI has no room for RUNFLAT_POLICY_LIBRARY=/none" in ended.text
