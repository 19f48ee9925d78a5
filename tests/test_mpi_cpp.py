"""Recovery from C++: `runflat.h` compiles as it stands, and a program is linked and recovers; on the real MPI."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import ROOT, Parts, run

FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'mpi/include'}"]

COUNT = """
#include <runflat.h>
#include <chrono>
#include <iostream>
#include <thread>
#include <vector>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_NULL;
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    std::vector<long> counts(100);
    RF_Protect(0, counts.data(), counts.size() * sizeof(long));
    std::int64_t step = 0;
    int rank = -1, size = 0;
    int code = comm == MPI_COMM_NULL ? MPI_SUCCESS : RF_Restore(comm, &step);
    while (comm != MPI_COMM_NULL) {
        if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST) {
            counts.assign(counts.size(), 0);
            code = RF_Checkpoint(comm, step = 0);
        }
        for (; code == MPI_SUCCESS && step < 200; step++) {
            long one = 1, all = 0;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            code = MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, comm);
            for (long &count : counts)
                count += all;
            if (code == MPI_SUCCESS && (step + 1) % 10 == 0)
                code = RF_Checkpoint(comm, step + 1);
        }
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (code == MPI_SUCCESS && (code = RF_End(&comm)) == MPI_SUCCESS) {
            std::cout << "rank " << rank << " of " << size << " counted " << counts.back() << std::endl;
            break;
        }
        if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
        if (comm != MPI_COMM_NULL)
            code = RF_Restore(comm, &step);
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def compiler(parts: Parts) -> Path:
    """The C++ wrapper of the MPI, which needs a compiler."""
    wrapper = parts.mpicc.with_name("mpicxx")
    if not wrapper.exists():
        pytest.skip(f"mpicxx: not beside {parts.mpicc}")
    if not shutil.which("g++"):
        pytest.skip("g++: not installed")
    return wrapper


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_the_header_is_cpp(compiler: Path, tmp_path: Path, standard: str) -> None:
    source = tmp_path / "header.cpp"
    source.write_text("#include <runflat.h>\n#include <runflat.h>\n", encoding="utf-8")
    run([str(compiler), f"-std={standard}", "-pedantic", *FLAGS, "-fsyntax-only", str(source)])


def test_a_cpp_program_recovers(compiler: Path, parts: Parts, tmp_path: Path) -> None:
    source, program, lib = tmp_path / "count.cpp", tmp_path / "count", parts.library.parent
    source.write_text(COUNT, encoding="utf-8")
    linked = [f"-L{lib}", "-lrunflat_mpi", f"-Wl,-rpath,{lib}"]
    run([str(compiler), "-std=c++17", *FLAGS, str(source), "-o", str(program), *linked])
    ended = run_job(parts, 4, [str(program)], spares=1, kill="1@0.1")
    for rank in range(3):
        assert f"rank {rank} of 3 counted 600\n" in ended.text, ended.text
    assert ended.ranks("killed") == {1}
    assert ended.ranks("took_over") == {3}
    assert not ended.crash_words
