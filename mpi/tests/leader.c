/* The first process of a window dies when all others have it nearly made, and read from its memory: does anybody wait for ever?
 *
 *     leader create|allocate|dynamic
 *
 * On several hosts each process reads from the first one's memory at the end of the call. Here the first one lets go of what it needs no
 * more, sleeps, so that all others have asked, and is killed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, is_inside, asked;

/* These stand before Open MPI's own functions of the names. */
int ompi_comm_free(MPI_Comm *);
void *ompi_osc_rdma_peer_lookup(void *, int);

int ompi_comm_free(MPI_Comm *gone)
{
    int (*next)(MPI_Comm *);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_free");
    if (is_inside && rank == 0) {
        usleep(200000);
        raise(SIGKILL);
    }
    return next(gone);
}

void *ompi_osc_rdma_peer_lookup(void *module, int peer)
{
    void *(*next)(void *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_osc_rdma_peer_lookup");
    asked += is_inside && peer == 0;
    return next(module, peer);
}

static int make(const char *what)
{
    static int memory;
    const MPI_Aint bytes = sizeof memory;
    MPI_Win window;
    void *base;
    if (strcmp(what, "create") == 0)
        return MPI_Win_create(&memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (strcmp(what, "dynamic") == 0)
        return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "create";
    int sum = 0, one = 1;
    MPI_Comm left;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    is_inside = 1;
    int code = make(what);
    is_inside = 0;
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left);
    printf("rank %d: %s, %s, %d are left\n", rank, asked ? "asked" : "had it",
           code == MPI_SUCCESS                   ? "made"
           : RF_Is_failure(MPI_COMM_WORLD, code) ? "failed"
                                                 : "another error",
           sum);
    MPI_Finalize();
    return 0;
}
