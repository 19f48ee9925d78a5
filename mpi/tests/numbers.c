/* A call that makes a communicator fails; what is made later from another one does not wait for the number that it was looking for.
 *
 *     numbers shrink|request|copy
 *
 * The last process dies while the others wait for it in MPI_Comm_dup of the world, whose number is the lowest. They then make a communicator
 * from one with a higher number: with MPIX_Comm_shrink, as its request, or as a copy of a communicator without the dead one. */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int make(const char *how, MPI_Comm all, MPI_Comm others, MPI_Comm *made)
{
    MPI_Request request;
    if (strcmp(how, "shrink") == 0)
        return MPIX_Comm_shrink(all, made);
    int code = strcmp(how, "request") == 0 ? MPIX_Comm_ishrink(all, made, &request)
                                           : MPI_Comm_idup(others, made, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int main(int argc, char **argv)
{
    const struct timespec nap = {0, 300000000};
    MPI_Comm all, others, unmade, made = MPI_COMM_NULL;
    int rank, size, count = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, 0, &others);
    if (rank == size - 1) {
        nanosleep(&nap, NULL);
        raise(SIGKILL);
    }
    int first = MPI_Comm_dup(MPI_COMM_WORLD, &unmade);
    int second = make(argc > 1 ? argv[1] : "shrink", all, others, &made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_size(made, &count);
    printf("rank %d: the first %s, the second %s, of %d\n", rank, first ? "fails" : "is made",
           second ? "fails" : "is made", count);
    MPI_Finalize();
    return 0;
}
