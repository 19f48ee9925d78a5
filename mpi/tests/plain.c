/* A program that knows nothing of runflat: it recovers with MPI's own calls, as any program for a fault-tolerant MPI does.
 *
 * Started with the library preloaded, so that MPI_Finalize ends although processes are dead. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, one = 1, sum = 0, code = MPI_SUCCESS, left = 0;
    MPI_Comm comm, rest, again;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int call = 0; code == MPI_SUCCESS; call++) {
        if (call == 20 && rank % 3 == 1)
            raise(SIGKILL);
        code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    MPIX_Comm_revoke(comm);
    MPIX_Comm_shrink(comm, &rest);
    MPI_Comm_dup(rest, &again);
    MPI_Comm_size(again, &left);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again);
    MPI_Comm_rank(again, &rank);
    if (rank == 0)
        printf("%d of %d processes left, they add up to %d\n", left, size, sum);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
