/* Spares: a ring of heat cells that keeps its size and order whatever process dies.
 *
 *     runflat mpi build -o rf
 *     mpicc 02_spares.c -Irf -Lrf -lrunflat_mpi -Wl,-rpath,$PWD/rf -o 02_spares
 *     runflat mpi run -n 10 --spares 2 --kill 3@0.3 ./02_spares 400
 *
 * Each rank owns CELLS cells of a rod and exchanges its outermost ones with its neighbours. Every tenth step is kept. The
 * result is compared with the same computation without MPI, so a wrong rank, a wrong step or lost data show. */
#include <mpi.h>
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELLS = 100, EVERY = 10 };

static double first_value(long cell)
{
    return (double)(cell * 37 % 101);
}

/* One step of `count` cells between two outer ones. */
static void step_cells(const double *old, double *new, int count)
{
    for (int at = 1; at <= count; at++)
        new[at] = 0.25 * old[at - 1] + 0.5 * old[at] + 0.25 * old[at + 1];
}

/* One step of all ranks; what MPI says. */
static int compute(MPI_Comm comm, double *cells)
{
    int rank, size, code;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double old[CELLS + 2];
    memcpy(old + 1, cells, sizeof(double) * CELLS);
    code = MPI_Sendrecv(&cells[CELLS - 1], 1, MPI_DOUBLE, right, 0, &old[0], 1, MPI_DOUBLE, left, 0,
                        comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = MPI_Sendrecv(&cells[0], 1, MPI_DOUBLE, left, 1, &old[CELLS + 1], 1, MPI_DOUBLE,
                            right, 1, comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) {
        double new[CELLS + 2];
        step_cells(old, new, CELLS);
        memcpy(cells, new + 1, sizeof(double) * CELLS);
    }
    return code;
}

/* The largest difference to the same steps without MPI. */
static double error_of(MPI_Comm comm, const double *cells, long steps)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    long all = (long)size * CELLS;
    double *old = malloc(sizeof(double) * (size_t)(all + 2)),
           *new = malloc(sizeof(double) * (size_t)(all + 2)), worst = 0;
    for (long cell = 0; cell < all; cell++)
        old[cell + 1] = first_value(cell);
    for (long step = 0; step < steps; step++) {
        old[0] = old[all], old[all + 1] = old[1];
        step_cells(old, new, (int)all);
        double *other = old;
        old = new, new = other;
    }
    for (int at = 0; at < CELLS; at++) {
        double error = cells[at] - old[(long)rank * CELLS + at + 1];
        worst = error > worst ? error : -error > worst ? -error : worst;
    }
    free(old);
    free(new);
    return worst;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 200;
    struct timespec nap = {0, 2000000};
    double cells[CELLS];
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL) {
        int rank, size;
        int64_t step = 0;
        RF_Protect(0, cells, sizeof cells);
        while (comm != MPI_COMM_NULL) {
            /* Here, so that a spare that wakes when others have none any more sees it, too. */
            if (RF_Shape() == RF_SMALLER) {
                MPI_Comm_rank(comm, &rank);
                if (rank == 0)
                    fprintf(stderr, "a rod that lacks a part is of no use: give more spares\n");
                MPI_Abort(MPI_COMM_WORLD, 4);
            }
            int code = RF_Restore(comm, &step);
            if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST) {
                MPI_Comm_rank(comm, &rank);
                for (int at = 0; at < CELLS; at++)
                    cells[at] = first_value((long)rank * CELLS + at);
                code = RF_Checkpoint(comm, step = 0);
            }
            for (; code == MPI_SUCCESS && step < steps; step++) {
                nanosleep(&nap, NULL); /* the work that a real program would do */
                code = compute(comm, cells);
                if (code == MPI_SUCCESS && (step + 1) % EVERY == 0)
                    code = RF_Checkpoint(comm, step + 1);
            }
            double all = 0;
            if (code == MPI_SUCCESS) {
                double worst = error_of(comm, cells, (long)step);
                code = MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
            }
            if (code == MPI_SUCCESS) {
                MPI_Comm_rank(comm, &rank);
                MPI_Comm_size(comm, &size);
                code = RF_End(&comm);
                if (code == MPI_SUCCESS) {
                    if (rank == 0)
                        printf("%d ranks, %ld steps, largest error %g\n", size, (long)step, all);
                    break;
                }
            }
            if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
                MPI_Abort(MPI_COMM_WORLD, 3);
            /* Where it is MPI_COMM_NULL now: its rank had moved on, and it was a spare to the end. */
        }
    }
    MPI_Finalize();
    return 0;
}
