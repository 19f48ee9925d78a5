/* A process has died; its buddy sends the copy of its data to the process that takes over; one line of JSON.
 *
 *     reload BYTES alone|serial|overlapped
 *
 * alone: nobody dies, the data travels. serial: shrink, then the data. overlapped: the data travels while the communicator is
 * shrunk. Time from the death until both are done, the slowest process, in ms; buffers have been touched before. */
#include "runflat.h"

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    /* Of a death just after MPI_Init the launcher tells some 40 ms later than of others. */
    const struct timespec running = {0, 200000000};
    MPI_Comm carrier, made = MPI_COMM_NULL;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int rank, size, bytes = atoi(argv[1]);
    int alone = strcmp(argv[2], "alone") == 0, overlapped = strcmp(argv[2], "overlapped") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &carrier);
    /* The buddy is rank 0, rank 1 takes over. */
    char *data = rank < 2 ? malloc((size_t)bytes) : NULL;
    if (rank < 2)
        memset(data, rank, (size_t)bytes);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0)
            MPI_Send(data, bytes, MPI_BYTE, 1, 0, carrier);
        if (rank == 1)
            MPI_Recv(data, bytes, MPI_BYTE, 0, 0, carrier, MPI_STATUS_IGNORE);
    }
    nanosleep(&running, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (!alone && rank == size - 1)
        raise(SIGKILL);
    if (overlapped)
        MPIX_Comm_ishrink(MPI_COMM_WORLD, &made, &requests[0]);
    else if (!alone)
        MPIX_Comm_shrink(MPI_COMM_WORLD, &made);
    if (rank == 0)
        MPI_Isend(data, bytes, MPI_BYTE, 1, 0, carrier, &requests[1]);
    if (rank == 1)
        MPI_Irecv(data, bytes, MPI_BYTE, 0, 0, carrier, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    double ms = 1e3 * (MPI_Wtime() - begin), most = 0;
    MPI_Allreduce(&ms, &most, 1, MPI_DOUBLE, MPI_MAX, alone ? MPI_COMM_WORLD : made);
    if (rank == 0)
        printf("{\"ms\": %.4f}\n", most);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
