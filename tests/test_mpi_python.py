"""The binding for mpi4py programs, on the real MPI."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import ROOT, Parts

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


def test_python_without_the_library_says_how_to_start(parts: Parts) -> None:
    ended = run_job(parts, 2, [sys.executable, EXAMPLE])
    assert "start with `runflat mpi run`" in ended.text
