/* The paper's Figure 3 and Listing 1: a process that one library does not know dies while the library waits for a live one.
 *
 *     range KEY VALUE where [how]     KEY VALUE: the info key; where: "outside" or "inside" the library's communicator; how: "past": it
 *                                     waits in a call that goes past the recovery library; "busy": it waits in no call
 *
 * The lower half of the world is the library. Its rank 0 waits for a message that rank 1 does not send before it is told to; the
 * process that dies is the last of the world, or the last of the library. Prints what rank 0 got and after how many ms. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, lower, value = 0, class = MPI_SUCCESS, there = 0;
    char read[MPI_MAX_INFO_VAL + 1] = "";
    const char *how = argc > 4 ? argv[4] : "";
    MPI_Comm library, copy;
    MPI_Info info;
    if (argc < 4)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lower = rank < size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, lower, rank, &library);
    MPI_Info_create(&info);
    MPI_Info_set(info, argv[1], argv[2]);
    if (lower)
        MPI_Comm_set_info(library, info);
    /* The mode goes with a copy, and can be asked for. */
    MPI_Comm_dup(library, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Comm_get_info(copy, &info);
    MPI_Info_get(info, "mpix_error_range", MPI_MAX_INFO_VAL, read, &there);
    int victim = strcmp(argv[3], "inside") == 0 ? size / 2 - 1 : size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim) {
        usleep(200000);
        raise(SIGKILL);
    }
    double begin = MPI_Wtime();
    if (rank == 0) {
        int code, is_revoked;
        if (strcmp(how, "busy") == 0) {
            usleep(600000);
            MPIX_Comm_is_revoked(copy, &is_revoked);
            code = is_revoked ? MPIX_ERR_REVOKED : MPI_SUCCESS;
        } else if (strcmp(how, "past") == 0) {
            code = PMPI_Recv(&value, 1, MPI_INT, 1, 7, copy, MPI_STATUS_IGNORE);
        } else {
            code = MPI_Recv(&value, 1, MPI_INT, 1, 7, copy, MPI_STATUS_IGNORE);
        }
        if (code != MPI_SUCCESS)
            MPI_Error_class(code, &class);
        const char *word = class == MPIX_ERR_REVOKED       ? "REVOKED"
                           : class == MPIX_ERR_PROC_FAILED ? "PROC_FAILED"
                                                           : "SUCCESS";
        printf("range %s: %s after %.1f ms\n", read, word, 1e3 * (MPI_Wtime() - begin) - 200);
        fflush(stdout);
    } else if (rank == 1) {
        usleep(900000);
        MPI_Send(&value, 1, MPI_INT, 0, 7, copy);
    }
    MPI_Finalize();
    return 0;
}
