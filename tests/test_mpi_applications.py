"""An application as a distribution packs it, linked to its own Open MPI, unchanged on the wheel's and under the library.

HPC Challenge: HPL, PTRANS, STREAM, RandomAccess, FFT, latencies; it repairs nothing, so a death ends it.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from command import Answer, finish, program
from mpi_jobs.measured import mpirun_line
from mpi_jobs.parts import Parts
from mpi_jobs.processes import processes_with

HPCC = shutil.which("hpcc") or ""

pytestmark = pytest.mark.skipif(not HPCC, reason="hpcc: not installed (apt install hpcc)")

INPUT = "\n".join(
    [
        "HPL's input, by line", "of that form", "out  file", "6  device",
        "1  sizes", "{rows}  N", "1  block sizes", "40  NB", "0  mapping", "1  grids", "2  P", "2  Q",
        "16.0  threshold", "1  factorizations", "2  right", "1  stops", "4  at", "1  panels", "2  in",
        "1  recursive", "1  Crout", "1  broadcasts", "1  ring", "1  lookahead", "1  depth", "2  swap",
        "64  threshold", "0  L1", "0  U", "1  equilibration", "8  alignment",
        "-", "0  more sizes for PTRANS", "1200", "0  more blocks", "40", "",
    ]
)  # fmt: skip
"""Rows in blocks of 40 on a grid of 2x2."""

FEW, MANY = 300, 4000
"""Rows that take some tenths of a second, and so many seconds that it does not end before a death that is drawn."""

RESIDUALS = ("HPL_RnormI", "MPIFFT_maxErr", "PTRANS_residual", "MPIRandomAccess_Errors")


def prepared(parts: Parts, folder: Path, rows: int) -> dict[str, str]:
    """Write its input; the environment in which it finds the wheel's library in place of the one it was linked to."""
    folder.mkdir(exist_ok=True)
    (folder / "hpccinf.txt").write_text(INPUT.format(rows=rows))
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    return {**os.environ, "LD_LIBRARY_PATH": str(parts.mpicc.parent.parent / "lib")}


def results(folder: Path) -> dict[str, str]:
    """What it found."""
    found = dict(re.findall(r"^(\w+)=(.*)$", (folder / "hpccoutf.txt").read_text(), re.MULTILINE))
    return {name: found[name] for name in ("Success", *RESIDUALS)}


def run(parts: Parts, folder: Path, rows: int, *options: str) -> Answer:
    """Run it under the library."""
    environment = prepared(parts, folder, rows)
    command = program("mpi", "run", "--library", parts.library, "-n", "4", *options, HPCC)
    return finish(command, env=environment, cwd=folder, timeout=300)


def test_it_finds_the_same_as_without_the_library(parts: Parts, tmp_path: Path) -> None:
    environment = prepared(parts, tmp_path, FEW)
    without = finish(
        [*mpirun_line(parts, 4, preloaded=False), HPCC], env=environment, cwd=tmp_path, timeout=300
    )
    assert without.status == 0, without
    expected = results(tmp_path)
    assert expected["Success"] == "1"
    answer = run(parts, tmp_path, FEW)
    assert answer.status == 0, answer
    assert results(tmp_path) == expected
    assert "runflat:" not in answer.err


@pytest.mark.parametrize("kill", ["0@0.2", "2@1"])
def test_a_death_ends_it_at_once_and_leaves_nothing(
    parts: Parts, tmp_path: Path, kill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_OF", str(tmp_path))
    began = time.monotonic()
    answer = run(parts, tmp_path, MANY, "--kill", kill)
    assert time.monotonic() - began < 60
    assert answer.status == 1, answer
    rank = kill[0]
    assert re.search(rf"runflat: rank {rank} killed at .* not repaired", answer.err), answer
    assert "ended the job (MPI_Abort, or an error that is fatal)" in answer.err
    assert "Segmentation fault" not in answer.out + answer.err
    assert not [pid for pid in processes_with(f"TEST_OF={tmp_path}") if pid != os.getpid()]
