/* What a spare costs while it waits: the processor time of its RF_Init, beside the time on the clock.
 *
 *     asleep SECONDS        with a spare or more
 *
 * Ranks meet in barriers for so long, and sleep between them; then the job ends. */
#include <mpi.h>
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds on a clock; that of the process counts all of its threads. */
static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    const struct timespec nap = {0, 10000000};
    double seconds = argc > 1 ? atof(argv[1]) : 3;
    int rank, is_spare;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double begin = now(CLOCK_MONOTONIC), worked = now(CLOCK_PROCESS_CPUTIME_ID);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    is_spare = comm == MPI_COMM_NULL;
    if (is_spare)
        printf("spare %d waited %.3f s and worked %.3f s\n", rank, now(CLOCK_MONOTONIC) - begin,
               now(CLOCK_PROCESS_CPUTIME_ID) - worked);
    for (int goes_on = 1; !is_spare && goes_on;) {
        nanosleep(&nap, NULL);
        goes_on = now(CLOCK_MONOTONIC) - begin < seconds;
        MPI_Allreduce(MPI_IN_PLACE, &goes_on, 1, MPI_INT, MPI_LAND, comm);
    }
    if (!is_spare && RF_End(&comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
