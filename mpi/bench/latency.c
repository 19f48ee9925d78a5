/* What calls cost while nobody fails: the best of many blocks, the slowest process of each, in us, as one line of JSON.
 *
 *     latency [KEY VALUE]     KEY VALUE: an info key for the communicator; without runflat's library nobody reads it */
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 60, WARM_UP = 200 };

static double slowest(double own)
{
    double most;
    PMPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Times CALL, CALLS of them a block. */
#define TIME(NAME, CALLS, CALL)                                                                                           \
    do {                                                                                                                  \
        double best = 1e30;                                                                                               \
        for (int block = 0; block < BLOCKS; block++) {                                                                    \
            PMPI_Barrier(comm);                                                                                           \
            double begin = PMPI_Wtime();                                                                                  \
            for (int call = 0; call < (CALLS); call++)                                                                    \
                CALL;                                                                                                     \
            double us = slowest(1e6 * (PMPI_Wtime() - begin) / (CALLS));                                                  \
            best = us < best ? us : best;                                                                                 \
        }                                                                                                                 \
        if (rank == 0)                                                                                                    \
            printf("%s\"%s\": %.4f", separator, NAME, best);                                                              \
        separator = ", ";                                                                                                 \
    } while (0)

static void ping_pong(int rank, MPI_Comm comm, void *data, int bytes)
{
    if (rank == 0) {
        MPI_Send(data, bytes, MPI_BYTE, 1, 0, comm);
        MPI_Recv(data, bytes, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(data, bytes, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_BYTE, 0, 0, comm);
    }
}

int main(int argc, char **argv)
{
    static double in[8192], out[8192];
    const char *separator = "{";
    int rank;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    if (argc == 3) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, argv[1], argv[2]);
        MPI_Comm_set_info(comm, info);
        MPI_Info_free(&info);
    }
    for (int turn = 0; turn < WARM_UP; turn++)
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm);
    TIME("ping_pong_8", 2000, ping_pong(rank, comm, in, 8));
    TIME("ping_pong_65536", 100, ping_pong(rank, comm, in, 65536));
    TIME("barrier", 500, MPI_Barrier(comm));
    TIME("bcast_8", 500, MPI_Bcast(in, 1, MPI_DOUBLE, 0, comm));
    TIME("allreduce_8", 500, MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm));
    TIME("allreduce_65536", 50, MPI_Allreduce(in, out, 8192, MPI_DOUBLE, MPI_SUM, comm));
    if (rank == 0)
        printf("}\n");
    MPI_Finalize();
    return 0;
}
