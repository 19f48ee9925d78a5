/* Several communicators lose processes at once, and are shrunk at once: posted in one order by even ranks and in the opposite
 * one by odd ranks, with blocking messages between live processes meanwhile.
 *
 *     ishrink COUNT [SECONDS before the shrinks] */
#include "runflat.h"

#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT_MAX = 64, MESSAGES = 20 };

/* Whether all processes of a communicator are there; those that failed later make it no error. */
static int is_whole(MPI_Comm comm)
{
    int one = 1, sum = 0, size, class;
    MPI_Comm_size(comm, &size);
    int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Error_class(code, &class);
    if (code != MPI_SUCCESS)
        MPIX_Comm_revoke(comm);
    return code == MPI_SUCCESS ? sum == size
                               : class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
}

/* Messages between two processes that both live; a dead partner is no error. */
static void talk(MPI_Comm comm)
{
    int rank, size, got = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int other = rank ^ 1;
    for (int at = 0; at < MESSAGES && other < size; at++) {
        int code = rank < other ? MPI_Send(&at, 1, MPI_INT, other, at, comm)
                                : MPI_Recv(&got, 1, MPI_INT, other, at, comm, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            return;
    }
}

int main(int count, char **words)
{
    MPI_Comm comms[COUNT_MAX], made[COUNT_MAX];
    MPI_Request requests[COUNT_MAX];
    int rank, size, shrinks = atoi(words[1]), whole = 1, smaller = 0;
    double before = count > 2 ? atof(words[2]) : 0;
    struct timespec nap = {(time_t)before, (long)(1e9 * (before - (double)(time_t)before))};
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int at = 0; at < shrinks; at++)
        if (MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 1);
    nanosleep(&nap, NULL);
    double begin = MPI_Wtime();
    for (int at = 0; at < shrinks; at++) {
        int one = rank % 2 ? shrinks - 1 - at : at;
        MPIX_Comm_ishrink(comms[one], &made[one], &requests[one]);
    }
    double posted = MPI_Wtime();
    talk(MPI_COMM_WORLD);
    MPI_Waitall(shrinks, requests, MPI_STATUSES_IGNORE);
    double ended = MPI_Wtime();
    for (int at = 0; at < shrinks; at++) {
        int now;
        MPI_Comm_size(made[at], &now);
        whole = whole && is_whole(made[at]);
        smaller += now < size;
    }
    printf("rank %d: %d shrunk, %d smaller, %s, posted in %.3f ms, all in %.3f ms\n", rank, shrinks,
           smaller, whole ? "all whole" : "NOT WHOLE", 1e3 * (posted - begin),
           1e3 * (ended - begin));
    fflush(stdout);
    MPI_Finalize();
}
