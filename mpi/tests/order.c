/* Agreements of a program beside non-blocking uniform calls: the order is that of the calls at all processes, however long they are
 * under way. Nobody fails.
 *
 *     order [request]      request: the agreement is MPIX_Comm_iagree */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>

enum { ROUNDS = 200, LOOKS = 200 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, failed = 0;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(comm, info);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request call, agreement = MPI_REQUEST_NULL;
        int one = 1, sum = 0, there, flag = 2, code;
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &call);
        for (int look = 0; look < LOOKS && rank % 2; look++)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE);
        if (argc > 1) {
            code = MPIX_Comm_iagree(comm, &flag, &agreement);
            if (code == MPI_SUCCESS)
                code = MPI_Wait(&agreement, MPI_STATUS_IGNORE);
        } else {
            code = MPIX_Comm_agree(comm, &flag);
        }
        wrong += flag != 2 || code != MPI_SUCCESS;
        failed += MPI_Wait(&call, MPI_STATUS_IGNORE) != MPI_SUCCESS || sum != size;
    }
    printf("rank %d: %d agreements wrong, %d calls failed\n", rank, wrong, failed);
    MPI_Finalize();
    return 0;
}
