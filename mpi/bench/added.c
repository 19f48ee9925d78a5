/* What the library adds to calls while nobody fails: blocks of calls through it and past it (PMPI_) take turns in one process, so that
 * whatever else the machine does meets both. One line of JSON: us a call past it, and through it by the median of the ratios of pairs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 1000, CALLS_A_BLOCK = 100, WARM_UP = 1000, WAYS = 2 };

static MPI_Comm comm;
static int rank, size;
static char in[4096], out[4096];

#define BOTH_WAYS(NAME, PAST, THROUGH)                                                                                    \
    static void NAME##_past(void)                                                                                         \
    {                                                                                                                     \
        PAST;                                                                                                             \
    }                                                                                                                     \
    static void NAME##_through(void)                                                                                      \
    {                                                                                                                     \
        THROUGH;                                                                                                          \
    }

#define PING_PONG(SEND, RECV)                                                                                             \
    if (rank == 0) {                                                                                                      \
        SEND(out, 8, MPI_BYTE, 1, 0, comm);                                                                               \
        RECV(in, 8, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);                                                             \
    } else if (rank == 1) {                                                                                               \
        RECV(in, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);                                                             \
        SEND(out, 8, MPI_BYTE, 0, 0, comm);                                                                               \
    }

BOTH_WAYS(ping_pong, PING_PONG(PMPI_Send, PMPI_Recv), PING_PONG(MPI_Send, MPI_Recv))
BOTH_WAYS(barrier, PMPI_Barrier(comm), MPI_Barrier(comm))
BOTH_WAYS(bcast, PMPI_Bcast(in, 8, MPI_BYTE, 0, comm), MPI_Bcast(in, 8, MPI_BYTE, 0, comm))
BOTH_WAYS(reduce, PMPI_Reduce(out, in, 1, MPI_DOUBLE, MPI_SUM, 0, comm), MPI_Reduce(out, in, 1, MPI_DOUBLE, MPI_SUM, 0, comm))
BOTH_WAYS(allreduce, PMPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, comm), MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, comm))
BOTH_WAYS(alltoall, PMPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, comm), MPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, comm))

static const struct {
    const char *name;
    void (*call[WAYS])(void);
} CALLS[] = {
    {"ping_pong", {ping_pong_past, ping_pong_through}}, {"barrier", {barrier_past, barrier_through}},
    {"bcast", {bcast_past, bcast_through}},             {"reduce", {reduce_past, reduce_through}},
    {"allreduce", {allreduce_past, allreduce_through}}, {"alltoall", {alltoall_past, alltoall_through}},
};

static double block_us(void (*call)(void))
{
    PMPI_Barrier(comm);
    double begin = PMPI_Wtime();
    for (int done = 0; done < CALLS_A_BLOCK; done++)
        call();
    PMPI_Barrier(comm);
    return 1e6 * (PMPI_Wtime() - begin) / CALLS_A_BLOCK;
}

static int compare(const void *left, const void *right)
{
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

static double median(double *values)
{
    qsort(values, PAIRS, sizeof *values, compare);
    return values[PAIRS / 2];
}

int main(int argc, char **argv)
{
    static double past[PAIRS], ratio[PAIRS];
    const char *separator = "{";
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int turn = 0; turn < WARM_UP; turn++)
        allreduce_through();
    for (size_t one = 0; one < sizeof CALLS / sizeof *CALLS; one++) {
        for (int pair = 0; pair < PAIRS; pair++) {
            double us[WAYS];
            /* Who is first takes turns too. */
            for (int turn = 0; turn < WAYS; turn++)
                us[(turn + pair) % WAYS] = block_us(CALLS[one].call[(turn + pair) % WAYS]);
            past[pair] = us[0];
            ratio[pair] = us[1] / us[0];
        }
        if (rank == 0)
            printf("%s\"%s\": %.4f, \"%s_ratio\": %.4f", separator, CALLS[one].name, median(past), CALLS[one].name, median(ratio));
        separator = ", ";
    }
    if (rank == 0)
        printf("}\n");
    MPI_Finalize();
    return 0;
}
