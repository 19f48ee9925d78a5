/* A first message to a process of a host whose processes have all died.
 *
 * The first `count` ranks die; the last rank, which has had nothing to do with rank 2, sends to it before MPI has told of that. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    const struct timespec nap = {0, 500000000};
    int rank, size, class, count = argc > 1 ? atoi(argv[1]) : 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    nanosleep(&nap, NULL);
    if (rank < count)
        raise(SIGKILL);
    nanosleep(&nap, NULL);
    if (rank == size - 1) {
        int code = MPI_Ssend(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
        MPI_Error_class(code, &class);
        printf("rank %d: %s\n", rank, code == MPI_SUCCESS ? "sent" : "not sent");
    }
    MPI_Finalize();
    return 0;
}
