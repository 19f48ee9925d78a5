/* Communicators that are freed while uniform requests on them are under way, and an error handler that begins others.
 *
 *     freed        copies, freed before their requests are waited for
 *     freed dies   the last rank dies; the handler of the communicator posts a shrink */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>

enum { TURNS = 200 };

static int rank, size, calls;
static MPI_Comm shrunk = MPI_COMM_NULL;
static MPI_Request shrinks = MPI_REQUEST_NULL;

static MPI_Comm copy_of_world(void)
{
    MPI_Comm made;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(made, info);
    MPI_Info_free(&info);
    return made;
}

static void free_early(void)
{
    int right = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        int word = rank == 0 ? turn : -1, sum = 0, one = 1;
        MPI_Request requests[3];
        MPI_Comm comm = copy_of_world(), copy;
        MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &requests[0]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
        MPI_Comm_idup(comm, &copy, &requests[2]);
        MPI_Comm_free(&comm);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        MPI_Comm_free(&copy);
        right += word == turn && sum == size;
    }
    printf("rank %d: %d of %d right\n", rank, right, TURNS);
}

/* It is called when no request is being gone on with. */
static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    if (calls++ == 0)
        MPIX_Comm_ishrink(*comm, &shrunk, &shrinks);
}

static void handle_death(void)
{
    MPI_Errhandler handler;
    MPI_Request request;
    int left = 0, sum, one = 1, code;
    MPI_Comm comm = copy_of_world();
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Barrier(comm);
    if (rank == size - 1)
        raise(SIGKILL);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&shrinks, MPI_STATUS_IGNORE);
    MPI_Comm_size(shrunk, &left);
    printf("rank %d: %s, the handler was called %d times, %d left\n", rank,
           code == MPI_SUCCESS ? "no error" : "an error", calls, left);
    MPI_Comm_free(&shrunk);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && argv[1][0] == 'd')
        handle_death();
    else
        free_early();
    MPI_Finalize();
    return 0;
}
