/* Numbers of communicators that a repair frees are not used again: messages may still come for them.
 *
 *     reuse       with three ranks and a spare
 *
 * Ranks fill the free numbers with copies before rank 2 dies: any other number below the last of them is then in use. */
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Open MPI's own: the number of a communicator, as text. */
char *ompi_comm_print_cid(MPI_Comm comm);

enum { COPIES = 12 };

static int number_of(MPI_Comm comm)
{
    return atoi(ompi_comm_print_cid(comm));
}

/* Notes numbers that copies have; they are freed again. */
static int find_free(MPI_Comm comm, int numbers[COPIES])
{
    MPI_Comm made[COPIES];
    int code = MPI_SUCCESS;
    for (int at = 0; at < COPIES && code == MPI_SUCCESS; at++) {
        code = MPI_Comm_dup(comm, &made[at]);
        numbers[at] = code == MPI_SUCCESS ? number_of(made[at]) : -1;
    }
    for (int at = 0; at < COPIES && code == MPI_SUCCESS; at++)
        code = MPI_Comm_free(&made[at]);
    return code;
}

static bool was_in_use(int number, const int was_free[COPIES])
{
    for (int at = 0; at < COPIES; at++)
        if (number == was_free[at])
            return false;
    return number < was_free[COPIES - 1];
}

int main(int argc, char **argv)
{
    int was_free[COPIES], rank;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(comm, &rank);
    if (RF_Spares() == 1) {
        /* All have the numbers before anybody dies. */
        if (find_free(comm, was_free) != MPI_SUCCESS || MPI_Barrier(comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 4);
        if (rank == 2)
            raise(SIGKILL);
        int code = MPI_Recv(&rank, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
        if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
        printf("rank %d: number %d %s\n", rank, number_of(comm),
               was_in_use(number_of(comm), was_free) ? "is used again" : "was free");
    }
    RF_End(&comm);
    MPI_Finalize();
    return 0;
}
