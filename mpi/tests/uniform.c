/* Collective calls in a row while a process dies in their midst: do all see the first error at the same call, of one class?
 *
 *     uniform MODE [AHEAD [persistent]]     MODE: "local" or "coll"; AHEAD: so many non-blocking or persistent calls are under way
 *                                           at a time (0: blocking) */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 2000, DEATH = 50, AHEAD_MAX = 16 };

int main(int argc, char **argv)
{
    int rank, size, ahead = argc > 2 ? atoi(argv[2]) : 0, persistent = argc > 3,
                    values[AHEAD_MAX + 1] = {0}, call, class = MPI_SUCCESS, code = MPI_SUCCESS;
    MPI_Request requests[AHEAD_MAX];
    MPI_Comm comm, rest;
    MPI_Info info;
    if (argc < 2 || ahead > AHEAD_MAX)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", argv[1]);
    MPI_Comm_set_info(comm, info);
    MPI_Barrier(comm);
    for (int at = 0; at < ahead && persistent; at++)
        MPI_Bcast_init(&values[at], 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[at]);
    for (call = 0; call < CALLS && code == MPI_SUCCESS; call++) {
        if (call == DEATH && rank == size / 2)
            raise(SIGKILL);
        if (ahead == 0) {
            code = MPI_Bcast(values, 1, MPI_INT, 0, comm);
            continue;
        }
        /* Each rank waits for them in another order. */
        for (int at = 0; at < ahead && !persistent; at++)
            MPI_Ibcast(&values[at], 1, MPI_INT, 0, comm, &requests[at]);
        if (persistent)
            MPI_Startall(ahead, requests);
        for (int at = 0; at < ahead; at++) {
            int now = rank % 2 ? ahead - 1 - at : at,
                one = MPI_Wait(&requests[now], MPI_STATUS_IGNORE);
            code = one != MPI_SUCCESS ? one : code;
        }
    }
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    for (int at = 0; at < ahead && persistent; at++)
        if (requests[at] == MPI_REQUEST_NULL || MPI_Request_free(&requests[at]) != MPI_SUCCESS)
            printf("a persistent request is gone\n");
    MPIX_Comm_revoke(comm);
    MPIX_Comm_shrink(comm, &rest);
    int mine[4] = {call, -call, class, -class}, most[4];
    MPI_Allreduce(mine, most, 4, MPI_INT, MPI_MAX, rest);
    MPI_Comm_rank(rest, &rank);
    if (rank == 0)
        printf("uniform %s: first error at call %d to %d, class %d to %d: %s\n", argv[1], -most[1],
               most[0], -most[3], most[2],
               most[0] == -most[1] && most[2] == -most[3] && most[2] != MPI_SUCCESS
                   ? "uniform"
                   : "not uniform");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
