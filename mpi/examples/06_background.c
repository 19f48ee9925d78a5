/* Checkpoints beside the computation: a ring that passes tokens while copies of its fields travel.
 *
 *     runflat mpi build -o rf
 *     mpicc 06_background.c -Irf -Lrf -lrunflat_mpi -Wl,-rpath,$PWD/rf -o 06_background
 *     runflat mpi run -n 6 --spares 2 --kill 3@0.3 ./06_background 400
 *
 * In each step a rank passes its token to the right and adds the one it got, and one more, to all of its field. New against
 * 02_spares: RF_Icheckpoint copies the field and gives a request; the copy goes to another rank and is agreed on while steps go
 * on, in MPI's own calls that wait or test. The result is compared with what tokens and fields must be by then. */
#include <mpi.h>
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CELLS = 1 << 16, EVERY = 10 };

/* What a rank owns. */
static struct {
    long token;
    long cells[CELLS];
} own;

static void first_values(int rank)
{
    own.token = rank;
    for (long at = 0; at < CELLS; at++)
        own.cells[at] = at;
}

/* One step of all ranks; what MPI says. */
static int compute(MPI_Comm comm)
{
    const struct timespec nap = {0, 2000000}; /* the work that a real program would do */
    int rank, size;
    long got = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    nanosleep(&nap, NULL);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int code = MPI_Sendrecv(&own.token, 1, MPI_LONG, right, 0, &got, 1, MPI_LONG, left, 0, comm,
                            MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return code;
    own.token = got + 1;
    for (long at = 0; at < CELLS; at++)
        own.cells[at] += own.token;
    return MPI_SUCCESS;
}

/* The largest difference to what must be there after so many steps. */
static long error_of(MPI_Comm comm, long steps)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    long added = 0, token = rank, worst;
    for (long step = 1; step <= steps; step++) {
        token = ((rank - step) % size + size) % size + step;
        added += token;
    }
    worst = labs(own.token - token);
    for (long at = 0; at < CELLS; at++)
        worst = labs(own.cells[at] - at - added) > worst ? labs(own.cells[at] - at - added) : worst;
    return worst;
}

/* Steps up to the last one, with a checkpoint under way; what MPI says. */
static int go_on(MPI_Comm comm, int64_t *step, long steps, MPI_Request *kept)
{
    int code = MPI_SUCCESS;
    for (; code == MPI_SUCCESS && *step < steps; ++*step) {
        code = compute(comm);
        if (code == MPI_SUCCESS && (*step + 1) % EVERY == 0) {
            code = MPI_Wait(kept, MPI_STATUS_IGNORE); /* the one before, long since there */
            if (code == MPI_SUCCESS)
                code = RF_Icheckpoint(comm, *step + 1, kept);
        }
    }
    return code == MPI_SUCCESS ? MPI_Wait(kept, MPI_STATUS_IGNORE) : code;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 200;
    MPI_Request kept = MPI_REQUEST_NULL;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL) {
        int rank, size;
        int64_t step = 0;
        RF_Protect(0, &own, sizeof own);
        while (comm != MPI_COMM_NULL) {
            if (RF_Shape() == RF_SMALLER)
                MPI_Abort(MPI_COMM_WORLD, 4); /* a ring that lacks a part is of no use */
            int code = RF_Restore(comm, &step);
            if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST) {
                MPI_Comm_rank(comm, &rank);
                first_values(rank);
                code = RF_Icheckpoint(comm, step = 0, &kept);
            }
            if (code == MPI_SUCCESS)
                code = go_on(comm, &step, steps, &kept);
            long all = 0;
            if (code == MPI_SUCCESS) {
                long worst = error_of(comm, steps);
                code = MPI_Allreduce(&worst, &all, 1, MPI_LONG, MPI_MAX, comm);
            }
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &size);
            if (code == MPI_SUCCESS)
                code = RF_End(&comm);
            if (code == MPI_SUCCESS) {
                if (rank == 0)
                    printf("%d ranks, %ld steps, largest error %ld\n", size, steps, all);
                break;
            }
            if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
                MPI_Abort(MPI_COMM_WORLD, 3);
            MPI_Wait(&kept, MPI_STATUS_IGNORE); /* the repair has ended it */
        }
    }
    MPI_Finalize();
    return 0;
}
