/* What the library adds to calls while nobody fails: blocks of calls past it (PMPI_), through it, and through it on a communicator whose
 * collective calls are uniform take turns in one process, so that whatever else the machine does meets all. One line of JSON: us a call past
 * it (the median), and the others as the median of their ratios to the block past it of the same turn. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 400, CALLS_A_BLOCK = 100, WARM_UP = 20 };

static MPI_Comm plain, comm;
static int rank, size;
static char in[4096], out[4096];

#define BOTH_WAYS(NAME, PAST_IT, THROUGH_IT) \
    static void NAME##_past(void)            \
    {                                        \
        PAST_IT;                             \
    }                                        \
    static void NAME##_through(void)         \
    {                                        \
        THROUGH_IT;                          \
    }

#define PING_PONG(SEND, RECV)                                 \
    if (rank == 0) {                                          \
        SEND(out, 8, MPI_BYTE, 1, 0, comm);                   \
        RECV(in, 8, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE); \
    } else if (rank == 1) {                                   \
        RECV(in, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE); \
        SEND(out, 8, MPI_BYTE, 0, 0, comm);                   \
    }

BOTH_WAYS(ping_pong, PING_PONG(PMPI_Send, PMPI_Recv), PING_PONG(MPI_Send, MPI_Recv))
BOTH_WAYS(barrier, PMPI_Barrier(comm), MPI_Barrier(comm))
BOTH_WAYS(bcast, PMPI_Bcast(in, 8, MPI_BYTE, 0, comm), MPI_Bcast(in, 8, MPI_BYTE, 0, comm))
BOTH_WAYS(reduce, PMPI_Reduce(out, in, 1, MPI_DOUBLE, MPI_SUM, 0, comm),
          MPI_Reduce(out, in, 1, MPI_DOUBLE, MPI_SUM, 0, comm))
BOTH_WAYS(allreduce, PMPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, comm),
          MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, comm))
BOTH_WAYS(alltoall, PMPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, comm),
          MPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, comm))

static const struct {
    const char *name;
    void (*past)(void), (*through)(void);
} CALLS[] = {
    {"ping_pong", ping_pong_past, ping_pong_through},
    {"barrier", barrier_past, barrier_through},
    {"bcast", bcast_past, bcast_through},
    {"reduce", reduce_past, reduce_through},
    {"allreduce", allreduce_past, allreduce_through},
    {"alltoall", alltoall_past, alltoall_through},
};

enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

static double block_us(void (*call)(void), MPI_Comm on)
{
    comm = on;
    PMPI_Barrier(plain);
    double begin = PMPI_Wtime();
    for (int done = 0; done < CALLS_A_BLOCK; done++)
        call();
    PMPI_Barrier(plain);
    return 1e6 * (PMPI_Wtime() - begin) / CALLS_A_BLOCK;
}

static int compare(const void *left, const void *right)
{
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

static double median(double *values)
{
    qsort(values, TURNS, sizeof *values, compare);
    return values[TURNS / 2];
}

/* Blocks past the library on `plain` and through it on another communicator in turn; prints what both take. */
static void compare_ways(int one, MPI_Comm other, const char *ratio_name)
{
    static double past[TURNS], ratio[TURNS];
    for (int turn = -WARM_UP; turn < TURNS; turn++) {
        double us[2];
        /* Who is first takes turns too. */
        for (int way = 0; way < 2; way++) {
            bool is_past = (way + turn) % 2 == 0;
            us[is_past] =
                block_us(is_past ? CALLS[one].past : CALLS[one].through, is_past ? plain : other);
        }
        if (turn >= 0) {
            past[turn] = us[1];
            ratio[turn] = us[0] / us[1];
        }
    }
    if (rank == 0)
        printf("\"%s_%s_us\": %.4f, \"%s_%s\": %.4f, ", CALLS[one].name, ratio_name, median(past),
               CALLS[one].name, ratio_name, median(ratio));
}

int main(int argc, char **argv)
{
    MPI_Comm uniform;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    MPI_Comm_dup(MPI_COMM_WORLD, &uniform);
    /* Who wants to know whether a call went well has errors returned. */
    MPI_Comm_set_errhandler(uniform, MPI_ERRORS_RETURN);
    MPI_Comm_rank(plain, &rank);
    MPI_Comm_size(plain, &size);
    if (rank == 0)
        printf("{");
    /* First while no communicator has a mode. */
    for (int one = 0; one < CALL_COUNT; one++)
        compare_ways(one, plain, "added");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(uniform, info);
    for (int one = 0; one < CALL_COUNT; one++)
        compare_ways(one, uniform, "uniform");
    if (rank == 0)
        printf("\"turns\": %d}\n", TURNS);
    MPI_Finalize();
    return 0;
}
