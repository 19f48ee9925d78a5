/* A rank dies in the middle of a write to another one's receive queue in shared memory, after which that one receives nothing: it
 * must end, and the job go on.
 *
 *     torn MILLISECONDS        with four ranks and two spares on one host
 *
 * Rank 1 does what the transport does between two instructions: it makes an item of its own the last of rank 2's queue, and dies
 * before it has told of it at the end of the queue, so long after all have begun. */
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A place in a segment that nothing uses, and what stands for no item. */
enum { UNUSED = 15 << 20, NONE = -2 };

/* The segment of a rank. */
static char *segment_of(int rank)
{
    char line[512], ending[16];
    unsigned long begin = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    snprintf(ending, sizeof ending, ".%d\n", rank);
    while (file && fgets(line, sizeof line, file)) {
        char *last = strrchr(line, '.');
        if (strstr(line, "/sm_segment.") && last && strcmp(last, ending) == 0)
            begin = strtoul(line, NULL, 16);
    }
    if (file)
        fclose(file);
    return (char *)begin;
}

static void tear_queue(int rank, int other)
{
    char *own = segment_of(rank), *torn = segment_of(other);
    if (!own || !torn)
        MPI_Abort(MPI_COMM_WORLD, 4);
    *(int64_t *)(own + UNUSED) = NONE;
    __atomic_exchange_n((int64_t *)torn + 1, (int64_t)rank << 32 | UNUSED, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int rank, size, sum = 0;
    if (argc < 2)
        return 2;
    const struct timespec nap = {0, 1000000 * atol(argv[1])};
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL && RF_Spares() == 2) {
        MPI_Barrier(comm);
        nanosleep(&nap, NULL);
        MPI_Comm_rank(comm, &rank);
        if (rank == 1) {
            tear_queue(1, 2);
            raise(SIGKILL);
        }
    }
    while (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        int code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (code == MPI_SUCCESS)
            code = RF_End(&comm);
        if (code == MPI_SUCCESS)
            printf("rank %d of %d: the sum is %d\n", rank, size, sum);
        else if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Finalize();
    return 0;
}
