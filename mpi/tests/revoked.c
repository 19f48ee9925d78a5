/* A process revokes a communicator while another one waits in a call on it. Nobody dies.
 *
 *     revoked send|bcast local|coll DOUBLES [free]
 *
 * Rank 0 revokes a copy of the world, frees it with `free`, and waits for word from rank 1, whose call on the copy must end: MPI_Send to rank 0,
 * or MPI_Bcast as its root, whose own part may end at once. It prints the class of the error. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT_MAX = 1 << 17, TAG = 3 };

static double data[COUNT_MAX];

static void set_uniform(MPI_Comm comm, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", value);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    const struct timespec nap = {0, 200000000};
    MPI_Comm comm;
    int rank, class = MPI_SUCCESS;
    if (argc < 4 || atoi(argv[3]) > COUNT_MAX)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    set_uniform(comm, argv[2]);
    MPI_Barrier(comm);
    if (rank == 0) {
        nanosleep(&nap, NULL);
        MPIX_Comm_revoke(comm);
        if (argc > 4)
            MPI_Comm_free(&comm);
        MPI_Recv(&class, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("the call ended with %s\n", class == MPIX_ERR_REVOKED ? "revoked"
                                           : class == MPI_SUCCESS    ? "success"
                                                                     : "another error");
    } else {
        int code = strcmp(argv[1], "send") == 0
                       ? MPI_Send(data, atoi(argv[3]), MPI_DOUBLE, 0, TAG, comm)
                       : MPI_Bcast(data, atoi(argv[3]), MPI_DOUBLE, 1, comm);
        if (code != MPI_SUCCESS)
            MPI_Error_class(code, &class);
        MPI_Send(&class, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
