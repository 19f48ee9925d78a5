/* Barriers with MPI_THREAD_MULTIPLE until a process dies: what the others take its death for. Open MPI 5.0 has MPI_ERR_OTHER there.
 *
 *     threads MODE     MODE: "local" or "coll", of the error uniformity; "waits": two threads wait, the first one's wait ends well, and
 *                      then the last process dies, which the second one waits for (three processes) */
#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <runflat.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DEATH = 50 };

static void rest(int ms)
{
    const struct timespec nap = {ms / 1000, ms % 1000 * 1000000l};
    nanosleep(&nap, NULL);
}

/* A barrier that is waited for. */
struct wait {
    MPI_Comm comm;
    int after_ms, code;
};

static void *wait_for_all(void *place)
{
    struct wait *own = place;
    MPI_Request request;
    rest(own->after_ms);
    own->code = MPI_Ibarrier(own->comm, &request);
    if (own->code == MPI_SUCCESS)
        own->code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return NULL;
}

/* Errors of requests must not come to the handler of MPI_COMM_WORLD, which is fatal, when the first thread has ended its wait. */
static int wait_twice(MPI_Comm comm, int rank, int size)
{
    struct wait waits[] = {{MPI_COMM_NULL, rank == 0 ? 0 : 200, 0}, {MPI_COMM_NULL, 100, 0}};
    pthread_t thread;
    int class;
    for (int one = 0; one < 2; one++)
        if (MPI_Comm_dup(comm, &waits[one].comm) != MPI_SUCCESS)
            return 3;
    if (rank == size - 1) {
        wait_for_all(&waits[0]);
        rest(100);
        raise(SIGKILL);
    }
    pthread_create(&thread, NULL, wait_for_all, &waits[1]);
    wait_for_all(&waits[0]);
    pthread_join(thread, NULL);
    MPI_Error_class(waits[1].code, &class);
    printf("rank %d: class %d, then class %d\n", rank, waits[0].code, class);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
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
    bool waits = strcmp(argv[1], "waits") == 0;
    MPI_Info_set(info, "mpix_error_uniform", waits ? "coll" : argv[1]);
    MPI_Comm_set_info(comm, info);
    if (waits)
        return wait_twice(comm, rank, size);
    for (int call = 0; code == MPI_SUCCESS; call++) {
        if (call == DEATH && rank == size / 2)
            raise(SIGKILL);
        rest(1);
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
