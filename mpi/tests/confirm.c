/* Uniform calls of all kinds while one or two processes die at random moments: do all that live count the same calls, with the same error?
 *
 *     confirm SEED
 *
 * The seed draws the calls, who dies, and when. After a call that went well one process waits for a message of another, which sends it
 * only if the call went well there too: were it not uniform, it would wait for ever. Now and then the communicator is copied
 * and freed. */
#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 200000, COPY_EVERY = 16, WAIT_EVERY = 2, MOST_US = 30000, COUNT = 64 };

static unsigned state;
static atomic_bool is_over; /* who has come to the end does not die before it has told */
static long in[COUNT * 64], out[COUNT * 64];

static int draw(int below)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)below);
}

/* Whether this process has memory of a barrier. */
static bool has_barrier(void)
{
    char line[4352];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, "/memfd:runflat-barrier");
    if (maps)
        fclose(maps);
    return found;
}

static void *die_later(void *us)
{
    struct timespec nap = {0, *(long *)us * 1000};
    nanosleep(&nap, NULL);
    if (!is_over)
        raise(SIGKILL);
    return NULL;
}

static int call(MPI_Comm comm, int size)
{
    int root = draw(size), count = 1 + draw(COUNT);
    switch (draw(6)) {
    case 0:
        return MPI_Barrier(comm);
    case 1:
        return MPI_Bcast(in, count, MPI_LONG, root, comm);
    case 2:
        return MPI_Reduce(out, in, count, MPI_LONG, MPI_SUM, root, comm);
    case 3:
        return MPI_Allreduce(out, in, count, MPI_LONG, MPI_SUM, comm);
    case 4:
        return MPI_Gather(out, count, MPI_LONG, in, count, MPI_LONG, root, comm);
    default:
        return MPI_Alltoall(out, count, MPI_LONG, in, count, MPI_LONG, comm);
    }
}

int main(int argc, char **argv)
{
    int rank, size, code = MPI_SUCCESS, class = MPI_SUCCESS, calls = 0, token = 0;
    MPI_Comm comm, next, rest;
    MPI_Info info;
    pthread_t thread;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(comm, info);
    state = (unsigned)atoi(argv[1]);
    int victim = draw(size), other = draw(2) ? draw(size) : victim;
    long us[2] = {draw(MOST_US), draw(MOST_US)}, after_us = us[rank == other];
    MPI_Barrier(comm);
    bool had_barrier = has_barrier();
    if (rank == victim || rank == other)
        pthread_create(&thread, NULL, die_later, &after_us);
    for (; calls < CALLS && code == MPI_SUCCESS; calls++) {
        int waits = draw(size), sends = draw(size);
        code = call(comm, size);
        if (code == MPI_SUCCESS && calls % WAIT_EVERY == 0 && waits != sends && waits != victim &&
            waits != other && sends != victim && sends != other) {
            if (rank == sends)
                MPI_Send(&token, 1, MPI_INT, waits, 1, comm);
            if (rank == waits)
                MPI_Recv(&token, 1, MPI_INT, sends, 1, comm, MPI_STATUS_IGNORE);
        }
        if (code == MPI_SUCCESS && calls % COPY_EVERY == COPY_EVERY - 1) {
            code = MPI_Comm_dup(comm, &next);
            if (code == MPI_SUCCESS) {
                MPI_Comm_free(&comm);
                comm = next;
            }
        }
    }
    is_over = true;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    MPIX_Comm_revoke(comm);
    MPIX_Comm_shrink(comm, &rest);
    int mine[4] = {calls, -calls, class, -class}, most[4];
    MPI_Allreduce(mine, most, 4, MPI_INT, MPI_MAX, rest);
    MPI_Comm_rank(rest, &rank);
    if (rank == 0)
        printf("seed %s, %s: first error after call %d to %d, class %d to %d: %s\n", argv[1],
               had_barrier ? "shared memory" : "messages", -most[1], most[0], -most[3], most[2],
               most[0] == -most[1] && most[2] == -most[3] && most[2] != MPI_SUCCESS
                   ? "uniform"
                   : "not uniform");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
