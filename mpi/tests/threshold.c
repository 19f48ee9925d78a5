/* A process dies between the shrink of MPI_Finalize and its barrier: do all others end well?
 *
 *     threshold      rank 2 dies
 */
#include <mpi.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

static int rank;

/* Stands before Open MPI's own function of the name, and that of the library. */
int ompi_coll_base_barrier_intra_doublering(MPI_Comm comm, void *module)
{
    int (*next)(MPI_Comm, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_coll_base_barrier_intra_doublering");
    fprintf(stderr, "rank %d is at the barrier\n", rank);
    if (rank == 2)
        raise(SIGKILL);
    return next(comm, module);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return MPI_Finalize();
}
