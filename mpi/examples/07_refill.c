/* Spares that do not run out: whoever dies is replaced by a spare, and a new process becomes a spare in its place.
 *
 *     runflat mpi build -o rf
 *     mpicc 07_refill.c -Irf -Lrf -lrunflat_mpi -Wl,-rpath,$PWD/rf -o 07_refill
 *     runflat mpi run -n 4 --spares 1 --refill ./07_refill 300 5
 *
 * Every now and then a rank dies of its own accord, five times here, though there is one spare. Each rank counts its steps; a
 * number that is not the same at all ranks, or not the last step, would show. */
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EVERY = 10 };

/* One step: all ranks have the same count. */
static int compute(MPI_Comm comm, long *count)
{
    const struct timespec nap = {0, 2000000};
    long low;
    nanosleep(&nap, NULL); /* the work that a real program would do */
    int code = MPI_Allreduce(count, &low, 1, MPI_LONG, MPI_MIN, comm);
    if (code == MPI_SUCCESS)
        *count = low + 1;
    return code;
}

/* Whether this rank dies in this step, when so many have died: the deaths are spread over the steps and the ranks. */
static int dies(MPI_Comm comm, long step, long steps, long deaths, long died)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return died < deaths && step == steps * (died + 1) / (deaths + 1) && rank == (died + 1) % size;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 300, deaths = argc > 2 ? atol(argv[2]) : 5, died = 0,
         count = 0;
    int64_t step = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL) {
        RF_Protect(0, &count, sizeof count);
        int code = RF_Restore(comm, &step);
        for (;;) {
            if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST)
                code = RF_Checkpoint(comm, step = count = 0);
            /* Who has just taken over does not know how many have died. */
            if (code == MPI_SUCCESS)
                code = MPI_Allreduce(MPI_IN_PLACE, &died, 1, MPI_LONG, MPI_MAX, comm);
            /* A new spare for each that is gone, before the work goes on. */
            if (code == MPI_SUCCESS && RF_Spares() == 0) {
                int refilled = RF_Refill(&comm);
                /* Started without --refill, as the library has said: it goes on with the spares that there are. */
                if (refilled != RF_ERR_UNPROTECTED)
                    code = refilled;
            }
            for (; code == MPI_SUCCESS && step < steps; step++) {
                if (dies(comm, step, steps, deaths, died))
                    raise(SIGKILL);
                code = compute(comm, &count);
                if (code == MPI_SUCCESS && (step + 1) % EVERY == 0)
                    code = RF_Checkpoint(comm, step + 1);
            }
            int rank, size;
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &size);
            if (code == MPI_SUCCESS && (code = RF_End(&comm)) == MPI_SUCCESS) {
                if (rank == 0)
                    printf("%d ranks, %ld steps, counted %ld\n", size, steps, count);
                break;
            }
            if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
                MPI_Abort(MPI_COMM_WORLD, 3);
            if (comm == MPI_COMM_NULL)
                break; /* a spare to the end */
            died++;
            code = RF_Restore(comm, &step);
        }
    }
    MPI_Finalize();
    return 0;
}
