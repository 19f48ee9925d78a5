/* Calls on MPI_COMM_SELF beside the same calls on MPI_COMM_WORLD: do these still have the right result?
 *
 *     alone dup|idup|idup-info|shrink|ishrink|agree|iagree [ROUNDS]
 *
 * In each round some processes make the call alone first, the others after that of all. */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Agrees on all bits but that of the round, which rank 0 clears: whether the result is that. */
static bool agree(MPI_Comm comm, bool by_request, int round)
{
    MPI_Request request;
    int rank, cleared = ~(1 << round % 16), flag;
    MPI_Comm_rank(comm, &rank);
    flag = rank == 0 ? cleared : ~0;
    int code = by_request ? MPIX_Comm_iagree(comm, &flag, &request) : MPIX_Comm_agree(comm, &flag);
    if (by_request && code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS && flag == cleared;
}

/* Makes a communicator: whether all have it. */
static bool make(MPI_Comm comm, const char *how)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm made;
    int code, size, one = 1, sum = 0;
    if (strcmp(how, "dup") == 0)
        code = MPI_Comm_dup(comm, &made);
    else if (strcmp(how, "idup") == 0)
        code = MPI_Comm_idup(comm, &made, &request);
    else if (strcmp(how, "idup-info") == 0)
        code = MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &made, &request);
    else if (strcmp(how, "shrink") == 0)
        code = MPIX_Comm_shrink(comm, &made);
    else
        code = MPIX_Comm_ishrink(comm, &made, &request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return false;
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    MPI_Comm_free(&made);
    return sum == size;
}

static bool call(MPI_Comm comm, const char *how, int round)
{
    return strstr(how, "agree") ? agree(comm, how[0] == 'i', round) : make(comm, how);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "dup";
    int rounds = argc > 2 ? atoi(argv[2]) : 100, right = 0, alone = 0, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds; round++) {
        bool first = (rank + round) % 2 == 0;
        if (first)
            alone += call(MPI_COMM_SELF, how, round);
        right += call(MPI_COMM_WORLD, how, round);
        if (!first)
            alone += call(MPI_COMM_SELF, how, round);
    }
    printf("rank %d: %d of %d right, %d alone\n", rank, right, rounds, alone);
    MPI_Finalize();
    return 0;
}
