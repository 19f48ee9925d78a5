/* What calls cost while nobody fails: the best of many blocks, the slowest process of each, in us, as one line of JSON.
 *
 *     latency LARGEST [KEY VALUE]     messages of 8, 64, 512, ... up to LARGEST bytes
 *                                     KEY VALUE: an info key for the communicator; without runflat's library nobody reads it */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 40, WARM_UP = 200, SMALLEST = 8, STEP = 8 };

static char *in, *out;
static int rank, size, bytes;
static MPI_Comm comm;

static double slowest(double own)
{
    double most;
    PMPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void ping_pong(void)
{
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, 1, 0, comm);
        MPI_Recv(in, bytes, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, 0, 0, comm);
    }
}

static void barrier(void)
{
    MPI_Barrier(comm);
}

static void bcast(void)
{
    MPI_Bcast(in, bytes, MPI_BYTE, 0, comm);
}

static void reduce(void)
{
    MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

/* `bytes` from each process to each. */
static void alltoall(void)
{
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
}

static const struct {
    const char *name;
    void (*call)(void);
} CALLS[] = {{"ping_pong", ping_pong}, {"barrier", barrier},     {"bcast", bcast},
             {"reduce", reduce},       {"allreduce", allreduce}, {"alltoall", alltoall}};

static double best_us(void (*call)(void))
{
    int calls = 400 / (1 + bytes / 8192) + 4;
    double best = 1e30;
    for (int block = 0; block < BLOCKS; block++) {
        PMPI_Barrier(comm);
        double begin = PMPI_Wtime();
        for (int done = 0; done < calls; done++)
            call();
        double us = slowest(1e6 * (PMPI_Wtime() - begin) / calls);
        best = us < best ? us : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    int largest = atoi(argv[1]);
    const char *separator = "{";
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    in = calloc((size_t)largest, (size_t)size);
    out = calloc((size_t)largest, (size_t)size);
    if (argc == 4) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, argv[2], argv[3]);
        MPI_Comm_set_info(comm, info);
        MPI_Info_free(&info);
    }
    bytes = SMALLEST;
    for (int turn = 0; turn < WARM_UP; turn++)
        allreduce();
    for (size_t one = 0; one < sizeof CALLS / sizeof *CALLS; one++) {
        for (bytes = SMALLEST; bytes <= largest; bytes *= STEP) {
            double us = best_us(CALLS[one].call);
            if (rank == 0)
                printf("%s\"%s_%d\": %.4f", separator, CALLS[one].name, bytes, us);
            separator = ", ";
            if (CALLS[one].call == barrier)
                break;
        }
    }
    if (rank == 0)
        printf("}\n");
    MPI_Finalize();
    return 0;
}
