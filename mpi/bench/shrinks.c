/* After one process has died: shrinks of several communicators, one after the other or all at once; one line of JSON.
 *
 *     shrinks COUNT blocking|nonblocking
 *
 * `first_ms` holds finding the failure, `again_ms` the same communicators once more; both by communicator, the slowest process. */
#include "runflat.h"

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT_MAX = 64 };

static double post_ms;

static double shrink_all(int count, int at_once, MPI_Comm *comms, MPI_Comm *made)
{
    MPI_Request requests[COUNT_MAX];
    double begin = MPI_Wtime();
    for (int at = 0; at < count; at++) {
        if (at_once)
            MPIX_Comm_ishrink(comms[at], &made[at], &requests[at]);
        else
            MPIX_Comm_shrink(comms[at], &made[at]);
    }
    post_ms = 1e3 * (MPI_Wtime() - begin) / count;
    if (at_once)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    return 1e3 * (MPI_Wtime() - begin) / count;
}

static double slowest(double own, MPI_Comm comm)
{
    double most = -1;
    if (MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return most;
}

int main(int argc, char **argv)
{
    /* Of a death just after MPI_Init the launcher tells some 40 ms later than of others. */
    const struct timespec running = {0, 200000000};
    MPI_Comm comms[COUNT_MAX], made[COUNT_MAX], again[COUNT_MAX];
    int rank, size, count = atoi(argv[1]), at_once = strcmp(argv[2], "nonblocking") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int at = 0; at < count; at++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
    nanosleep(&running, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        raise(SIGKILL);
    double first = shrink_all(count, at_once, comms, made);
    double post = slowest(post_ms, made[0]);
    first = slowest(first, made[0]);
    double second = shrink_all(count, at_once, comms, again);
    second = slowest(second, made[0]);
    if (rank == 0)
        printf("{\"first_ms\": %.4f, \"again_ms\": %.4f, \"post_ms\": %.4f}\n", first, second,
               post);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
