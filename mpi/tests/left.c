/* Ranks copy their communicator by a request, to which another one never comes: it has turned to the repair before.
 *
 *     left        with four ranks and a spare */
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

/* What a rank waits in when rank 3 dies. */
static int wait_in_call(MPI_Comm comm, int rank)
{
    const struct timespec nap = {0, 300000000};
    MPI_Comm made;
    MPI_Request request;
    int word;
    if (rank == 3) {
        nanosleep(&nap, NULL);
        raise(SIGKILL);
    }
    if (rank == 1)
        return MPI_Recv(&word, 1, MPI_INT, 3, 0, comm, MPI_STATUS_IGNORE);
    int code = MPI_Comm_idup(comm, &made, &request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("rank %d: %s\n", rank, made == MPI_COMM_NULL ? "no copy" : "a copy");
    return code;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int rank, size;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL && RF_Spares() == 1) {
        MPI_Comm_rank(comm, &rank);
        int code = wait_in_call(comm, rank);
        if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (MPI_Barrier(comm) == MPI_SUCCESS && RF_End(&comm) == MPI_SUCCESS)
            printf("rank %d of %d at the end\n", rank, size);
    }
    MPI_Finalize();
    return 0;
}
