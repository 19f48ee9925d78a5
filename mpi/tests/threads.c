/* Barriers with MPI_THREAD_MULTIPLE until a process dies: what the others take its death for. Open MPI 5.0 has MPI_ERR_OTHER there.
 *
 *     threads MODE     MODE: "local" or "coll", of the error uniformity */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { DEATH = 50 };

int main(int argc, char **argv)
{
    const struct timespec nap = {0, 1000000};
    int rank, size, level, code = MPI_SUCCESS, class;
    MPI_Comm comm;
    MPI_Info info;
    if (argc < 2)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", argv[1]);
    MPI_Comm_set_info(comm, info);
    for (int call = 0; code == MPI_SUCCESS; call++) {
        if (call == DEATH && rank == size / 2)
            raise(SIGKILL);
        nanosleep(&nap, NULL);
        code = MPI_Barrier(comm);
    }
    MPI_Error_class(code, &class);
    printf("rank %d: threads %d, class %d, a failure: %d\n", rank, level == MPI_THREAD_MULTIPLE,
           class, RF_Is_failure(comm, code));
    fflush(stdout);
    MPIX_Comm_revoke(comm);
    MPI_Finalize();
    return 0;
}
