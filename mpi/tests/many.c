/* A job with many communicators loses a rank: all are interrupted, and it is repaired.
 *
 *     many COUNT     copies of the job's communicator; prints for each rank how many are interrupted after the repair */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Comm comm, *copies;
    int rank, place, count, interrupted = 0, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    count = argc > 1 ? atoi(argv[1]) : 1;
    copies = malloc(sizeof *copies * (size_t)count);
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    bool is_first = RF_Spares() > 0;
    for (int at = 0; is_first && at < count; at++)
        if (MPI_Comm_dup(comm, &copies[at]) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    if (is_first) {
        MPI_Barrier(comm);
        if (place == 1)
            raise(SIGKILL);
        while (MPI_Barrier(copies[place % count]) == MPI_SUCCESS)
            ;
        if (RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    for (int at = 0; is_first && at < count; at++) {
        int flag;
        MPIX_Comm_is_revoked(copies[at], &flag);
        interrupted += flag;
        MPI_Comm_free(&copies[at]);
    }
    MPI_Comm_rank(comm, &rank);
    printf("rank %d of %d: %d interrupted\n", rank, sum, interrupted);
    RF_End(&comm);
    MPI_Finalize();
    return 0;
}
