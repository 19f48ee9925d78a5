/* A rank waits for a live one on a communicator that was made from that of the job, and the live one goes to a repair: it is interrupted too.
 *
 *     nested        with four ranks and a spare
 *
 * Rows are ranks 0, 1 and 2, 3. Rank 3 dies. Rank 1 waits for all ranks, and repairs; rank 0 waits for a message of rank 1 on a copy of their row,
 * which has no mode and no dead process. */
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG = 1 };

int main(int argc, char **argv)
{
    const struct timespec nap = {0, 200000000};
    MPI_Comm comm, row, copy;
    int rank, size, word = 0, code = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL && RF_Spares() > 0) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_split(comm, rank / 2, rank, &row);
        MPI_Comm_dup(row, &copy);
        if (rank == 3) {
            nanosleep(&nap, NULL);
            raise(SIGKILL);
        }
        code = rank == 0 ? MPI_Recv(&word, 1, MPI_INT, 1, TAG, copy, MPI_STATUS_IGNORE)
                         : MPI_Barrier(comm);
        printf("rank %d: %s\n", rank,
               RF_Is_failure(comm, code) ? "interrupted" : "not interrupted");
        MPI_Comm_free(&copy);
        MPI_Comm_free(&row);
        if (RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (comm != MPI_COMM_NULL && MPI_Barrier(comm) == MPI_SUCCESS) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (RF_End(&comm) == MPI_SUCCESS)
            printf("rank %d of %d at the end\n", rank, size);
    }
    MPI_Finalize();
    return 0;
}
