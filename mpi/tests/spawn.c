/* A program that spawns two more processes of itself: are they under the library too, with what it was told?
 *
 * Prints how many of all processes have the library, and the step limit that the youngest was told. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

enum { MORE = 2 };

int main(int argc, char **argv)
{
    MPI_Comm parent, between, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, MORE, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
    else
        between = parent;
    MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
    const char *limit = getenv("RUNFLAT_STEP_LIMIT_S");
    int rank, size, flag = 1, own[2] = {dlsym(RTLD_DEFAULT, "RF_Init") != NULL, 0}, sum[2];
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    if (rank == size - 1)
        own[1] = limit ? atoi(limit) : 0;
    MPIX_Comm_agree(all, &flag);
    MPI_Allreduce(own, sum, 2, MPI_INT, MPI_SUM, all);
    if (rank == 0)
        printf("%d of %d processes have the library, the youngest was told %d s\n", sum[0], size,
               sum[1]);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    return 0;
}
