"""The binding for mpi4py programs, on the real MPI."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from command import finish
from mpi_jobs.job import run_job
from mpi_jobs.parts import ROOT, Parts
from runflat import mpi
from runflat.mpi.library import handle_of

EXAMPLE = str(ROOT / "mpi/examples/04_spares.py")

pytest.importorskip("mpi4py", reason="mpi4py: not installed")

SHRINK = """
from mpi4py import MPI
from runflat import mpi
import os, signal, time
world = MPI.COMM_WORLD
rank = world.Get_rank()
comms = [world.Dup() for _ in range(3)]
world.Barrier()
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
later = [mpi.shrink_later(comm) for comm in comms]
MPI.Request.Waitall([request for request, _ in later])
made = [take() for _, take in later]
print("shrunk to", [comm.allreduce(1) for comm in made], flush=True)
"""

LATER = """
from mpi4py import MPI
from runflat import mpi
import array, time
count = array.array("q", [0])
job = mpi.start()
job.protect(0, count)
while job.goes_on:
    with job.recoverable():
        kept = MPI.REQUEST_NULL
        step = job.restore()
        if step is None:
            step, count[0] = 0, 0
            kept = job.checkpoint_later(step)
        while step < 100:
            count[0] += job.comm.allreduce(1)
            time.sleep(0.002)
            step += 1
            if step % 5 == 0:
                kept.wait()
                kept = job.checkpoint_later(step)
        kept.wait()
        counts = job.comm.allgather(count[0])
        job.end()
        print("counted", counts, flush=True)
"""

SEVERAL = """
from mpi4py import MPI
from runflat import mpi
import array, sys, time
wait = {"all": MPI.Request.Waitall, "some": MPI.Request.Waitsome}[sys.argv[1]]
count = array.array("q", [0])
job = mpi.start()
job.protect(0, count)
while job.goes_on:
    with job.recoverable():
        comm = job.comm
        rank, size = comm.rank, comm.size
        step = job.restore()
        if step is None:
            step, count[0] = 0, 0
            job.checkpoint(step)
        while step < 150:
            given, got = array.array("q", [1]), array.array("q", [0])
            open_ = [comm.Irecv(got, source=(rank - 1) % size), comm.Isend(given, dest=(rank + 1) % size)]
            while wait(open_) and any(open_):
                pass
            count[0] += got[0]
            time.sleep(0.002)
            step += 1
            if step % 10 == 0:
                job.checkpoint(step)
        job.end()
        print("counted", count[0], flush=True)
"""

REFILLED = """
from mpi4py import MPI
from runflat import mpi
import array, os, signal, sys, time
world = MPI.COMM_WORLD
place = world.rank if world.size > 1 else -1
state = array.array("q", [0, 0])
job = mpi.start()
job.protect(0, state)
while job.goes_on:
    with job.recoverable():
        step = job.restore()
        if step is None:
            state[:] = array.array("q", [0, 0])
            job.checkpoint(step := 0)
        while step < 40:
            if place == 1 and step == 10 or place == 3 and step == 30:
                os.kill(os.getpid(), signal.SIGKILL)
            if step == 20 and not state[1]:
                state[1] = 1
                job.checkpoint(step)
                if sys.argv[1] == "dies" and place == 2 and os.fork() == 0:
                    time.sleep(0.03)
                    os.kill(os.getppid(), signal.SIGKILL)
                    os._exit(0)
                try:
                    job.refill()
                    print("refilled,", job.spares, "spares", flush=True)
                except mpi.InterruptedCallError:
                    print("refill interrupted", flush=True)
                    raise
            state[0] += job.comm.allreduce(1)
            step += 1
            if step % 5 == 0 and step != 20:
                job.checkpoint(step)
        job.end()
        print("counted", state[0], flush=True)
"""

TRUNCATED = """
from mpi4py import MPI
from runflat import mpi
job = mpi.start()
try:
    with job.recoverable():
        other = 1 - job.comm.rank
        MPI.Request.Waitall([job.comm.Irecv(bytearray(100), source=other), job.comm.Isend(bytearray(900), dest=other)])
except MPI.Exception as error:
    print("passed through", error.Get_error_class() == MPI.ERR_IN_STATUS, flush=True)
job.end()
"""

REPAIR = """
from mpi4py import MPI
from runflat import mpi
job = mpi.start()
turns = 0
try:
    if MPI.COMM_WORLD.rank < 3:
        job.checkpoint(1)
except mpi.InterruptedCallError:
    request, take = job.repair_later()
    while not request.Test():
        turns += 1
    take()
print("repaired", job.comm.allreduce(1), job.is_smaller, turns > 0 or MPI.COMM_WORLD.rank == 3, flush=True)
job.end()
try:
    job.repair_later()
except mpi.MpiRecoveryError as error:
    print("refused", error.code == mpi.ARGUMENT, flush=True)
"""

ENDS = """
import sys, time
from mpi4py import MPI
from runflat import mpi
job = mpi.start()
while job.goes_on:
    with job.recoverable():
        if job.comm.rank == 1 and MPI.COMM_WORLD.rank == 1:
            if sys.argv[1] == "exit":
                sys.exit("no use")
            print("no use", file=sys.stderr, flush=True)
            if sys.argv[1] == "closed":
                sys.stdout.close()
                sys.stderr = None
            raise ValueError("no use")
        there = job.comm.allreduce(1)
        print("rank", job.comm.rank, "of", there, flush=True)
        job.end()
"""

SPAWN = """
import sys
from mpi4py import MPI
from runflat import mpi
world = MPI.COMM_WORLD
if len(sys.argv) > 1:
    parent = MPI.Comm.Get_parent()
    print(sys.argv[1], parent.Merge(True).allreduce(1), flush=True)
    sys.exit()
for wrong in (([], None), (["a", "b"], [1])):
    try:
        mpi.spawn_multiple_later(wrong[0], counts=wrong[1], comm=world)
    except ValueError:
        print("refused", flush=True)
request, take = mpi.spawn_multiple_later([sys.executable] * 2, [(__file__, "one"), (__file__, "two")], [1, 2], comm=world)
request.Wait()
print("parents", take().Merge(False).allreduce(1), flush=True)
"""

PRELOADED = (
    """
import sys
from runflat import mpi
mpi.preload(sys.argv[1])
mpi.preload()
"""
    + LATER
)


@pytest.mark.parametrize("kill", ["", "1@0.1", "0@0.1,2@repair+0.001", "3@checkpoint"])
def test_python_ranks_are_back_with_their_data(parts: Parts, kill: str) -> None:
    ended = run_job(
        parts, 6, [sys.executable, EXAMPLE, "300"], spares=2, kill=kill,
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert "4 ranks: pi is 3.1415927" in ended.text, ended.text
    assert bool(ended.ranks("killed")) == bool(kill)
    assert not ended.left_behind
    assert not ended.crash_words


def test_python_shrinks_many_at_once(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SHRINK, encoding="utf-8")
    ended = run_job(
        parts, 4, [sys.executable, str(tmp_path / "program.py")],
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert len(re.findall(r"shrunk to \[3, 3, 3\]", ended.text)) == 3, ended.text


@pytest.mark.parametrize("kill", ["", "1@0.1"])
def test_python_keeps_checkpoints_later(parts: Parts, tmp_path: Path, kill: str) -> None:
    (tmp_path / "program.py").write_text(LATER, encoding="utf-8")
    ended = run_job(
        parts, 4, [sys.executable, str(tmp_path / "program.py")], spares=1, kill=kill,
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert ended.text.count("counted [300, 300, 300]") == 3, ended.text
    assert bool(ended.ranks("killed")) == bool(kill)


@pytest.mark.parametrize("call", ["all", "some"])
def test_python_repairs_what_waits_for_several_requests(
    parts: Parts, tmp_path: Path, call: str
) -> None:
    (tmp_path / "program.py").write_text(SEVERAL, encoding="utf-8")
    ended = run_job(
        parts, 4, [sys.executable, str(tmp_path / "program.py"), call], spares=1, kill="1@checkpoint+0.01",
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert ended.text.count("counted 150") == 3, ended.text
    assert ended.ranks("killed") == {1}


@pytest.mark.parametrize("how", ["lives", "dies"])
def test_python_starts_new_spares(parts: Parts, tmp_path: Path, how: str) -> None:
    """Who is to have died within the call ("dies") may do so after it on a busy machine: the job is run again then."""
    (tmp_path / "program.py").write_text(REFILLED, encoding="utf-8")
    told = {"LD_PRELOAD": str(parts.library), "RUNFLAT_REFILL": "1"}
    for _ in range(5):
        ended = run_job(
            parts, 6, [sys.executable, str(tmp_path / "program.py"), how], spares=2,
            environment=told, options=["--enable-recovery"],
        )  # fmt: skip
        if how == "lives" or "refill interrupted" in ended.text:
            break
    assert ended.text.count("counted 160") == 4, ended.text
    if how == "lives":
        assert ended.text.count("refilled, 2 spares") == 4, ended.text
    else:
        assert ended.text.count("refill interrupted") >= 3, ended.text
    assert len(ended.ranks("took_over")) >= 2
    assert not ended.crash_words


def test_python_passes_on_what_is_no_failure(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TRUNCATED, encoding="utf-8")
    ended = run_job(
        parts, 2, [sys.executable, str(tmp_path / "program.py")],
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert ended.text.count("passed through True") == 2, ended.text


@pytest.mark.parametrize("how", ["raise", "exit", "closed"])
def test_python_that_ends_by_itself_has_failed(parts: Parts, tmp_path: Path, how: str) -> None:
    (tmp_path / "program.py").write_text(ENDS, encoding="utf-8")
    ended = run_job(
        parts, 4, [sys.executable, str(tmp_path / "program.py"), how], spares=1,
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert "no use" in ended.text
    assert sorted(re.findall(r"rank (\d) of 3\n", ended.text)) == ["0", "1", "2"], ended.text
    assert ended.ranks("finalized") == {0, 2, 3}
    assert ended.in_time


def test_python_repairs_later(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(REPAIR, encoding="utf-8")
    ended = run_job(
        parts, 4, [sys.executable, str(tmp_path / "program.py")], spares=1, kill="1@checkpoint",
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert ended.text.count("repaired 3 False True") == 3, ended.text
    assert ended.text.count("refused True") == 3, ended.text


def test_python_spawns_several_programs(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SPAWN, encoding="utf-8")
    ended = run_job(
        parts, 2, [sys.executable, str(tmp_path / "program.py")],
        environment={"LD_PRELOAD": str(parts.library)},
    )  # fmt: skip
    assert ended.text.count("refused") == 4, ended.text
    assert re.findall(r"(?:one|two|parents) \d", ended.text).count("parents 5") == 2, ended.text
    assert (ended.text.count("one 5"), ended.text.count("two 5")) == (1, 2)


@pytest.mark.parametrize("kill", ["", "1@0.1", "0@checkpoint,2@repair"])
def test_python_loads_the_library_itself_under_plain_mpirun(
    parts: Parts, tmp_path: Path, kill: str
) -> None:
    (tmp_path / "program.py").write_text(PRELOADED, encoding="utf-8")
    words = [sys.executable, str(tmp_path / "program.py"), str(parts.library)]
    ended = run_job(parts, 5, words, spares=2, kill=kill)
    assert ended.text.count("counted [300, 300, 300]") == 3, ended.text
    assert bool(ended.ranks("killed")) == bool(kill)
    assert len(ended.ranks("finalized")) == 5 - len(ended.ranks("killed"))
    assert not ended.crash_words


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("from mpi4py import rc; rc.initialize = False; from mpi4py import MPI; mpi.preload()", "loaded already"),
        ("mpi.preload('/nowhere.so')", "cannot be loaded"),
        ("mpi.preload()", "runflat mpi build"),
    ],
    ids=["too-late", "no-file", "not-built"],
)  # fmt: skip
def test_python_says_why_the_library_is_not_loaded(
    parts: Parts, tmp_path: Path, program: str, said: str
) -> None:
    answer = finish(
        [sys.executable, "-c", f"from runflat import mpi; {program}"],
        env={"XDG_CACHE_HOME": str(tmp_path), "MPICC": str(parts.mpicc)},
    )
    assert said in answer.err
    assert answer.status == 1


def test_python_without_the_library_says_how_to_start(parts: Parts) -> None:
    ended = run_job(parts, 2, [sys.executable, EXAMPLE])
    assert "start with `runflat mpi run`" in ended.text


def outside_of_a_job(**calls: Any) -> mpi.Job:
    """Give a job without MPI, whose library has those calls alone."""
    job = object.__new__(mpi.Job)
    job._memory, job._success, job._has_warned = {}, 0, False
    job._library = SimpleNamespace(**calls)
    return job


def test_what_is_no_communicator_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a communicator .* is needed, got None"):
        handle_of(None)  # type: ignore[arg-type]


def test_memory_is_any_writable_array_in_c_order() -> None:
    kept: list[int] = []
    job = outside_of_a_job(RF_Protect=lambda _name, _room, size: kept.append(size) or 0)
    for field in (np.zeros((3, 4)), np.zeros(3, complex), np.zeros(2, "i4,f8"), bytearray(5), np.zeros(0)):  # fmt: skip
        job.protect(0, field)
    assert kept == [96, 48, 24, 5, 0]
    fortran = np.zeros((3, 4), order="F")
    with pytest.raises(TypeError, match=r"protect its transpose \(array\.T\)"):
        job.protect(0, fortran)
    job.protect(0, fortran.T)
    objects = np.array([{}], dtype=object)
    in_records = np.zeros(1, [("a", "i8"), ("b", object)])
    job.protect(0, np.zeros(1, [("O", "i8")]))
    for wrong, why in (
        (np.zeros(9)[::2], "not contiguous"),
        (b"not writable", "only be read"),
        (objects, "Python objects"),
        (in_records, "Python objects"),
        ([1, 2], "writable buffer.*got list"),
        (np.zeros(3, "M8[s]"), "writable buffer.*got ndarray"),
    ):
        with pytest.raises(TypeError, match=why):
            job.protect(0, wrong)


def test_memory_that_only_its_protection_refers_to_is_warned_of_once() -> None:
    job = outside_of_a_job(RF_Protect=lambda *_: 0)
    job.comm = SimpleNamespace(Get_rank=lambda: 0)  # type: ignore[assignment]
    field, part, words = np.zeros(4), np.zeros(8)[2:4], bytearray(3)
    for name, memory in enumerate((field, part, words, np.zeros(0))):
        job.protect(name, memory)
    # Of the last one nobody knows, but it has no bytes; of a part the program may hold the whole.
    del part
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job._warn_of_forgotten()
    field = field + 1
    with pytest.warns(RuntimeWarning, match=r"nothing but its protection refers to memory 0 any"):
        job._warn_of_forgotten()
    del words
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job._warn_of_forgotten()


def test_names_and_versions_are_whole_numbers_that_c_has() -> None:
    """Else another memory would be named, or another version kept."""
    names: list[int] = []
    job = outside_of_a_job(RF_Protect=lambda name, _room, _size: names.append(name) or 0)
    job.protect(np.int64(-7), bytearray(1))
    assert names == [-7]
    for wrong, error in (
        (2**32, ValueError),
        (1.5, TypeError),
        ("2", TypeError),
        (True, TypeError),
    ):
        with pytest.raises(error, match=rf"the name of memory .*got {wrong!r}"):
            job.protect(wrong, bytearray(1))
    for call in (job.checkpoint, job.checkpoint_later):
        with pytest.raises(ValueError, match=r"the version .* 64 bits; got 18446744073709551621"):
            call(2**64 + 5)
        with pytest.raises(TypeError, match=r"the version .*got 1\.5"):
            call(1.5)  # type: ignore[arg-type]
