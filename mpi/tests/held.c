/* News of a communicator that is half made, many times as often as there are processes: is the last of it told once it is made?
 *
 *     held NEWS
 *
 * While rank 1 makes a copy it hears that often of failures there, and at last of a revoke. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, news, told;

/* These are Open MPI's own; the test stands before the first. */
int ompi_comm_activate_nb(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int,
                          MPI_Request *);
int ompi_comm_activate(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int);
_Bool ompi_comm_revoke_local(MPI_Comm, _Bool);

static void tell(MPI_Comm made)
{
    if (rank != 1 || news == 0)
        return;
    for (; told < news; told++)
        ompi_comm_revoke_local(made, 1);
    ompi_comm_revoke_local(made, 0);
    news = 0;
}

int ompi_comm_activate(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                       const void *second, _Bool sends_first, int mode)
{
    int (*next)(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_activate");
    tell(*made);
    return next(made, parent, bridge, first, second, sends_first, mode);
}

int ompi_comm_activate_nb(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                          const void *second, _Bool sends_first, int mode, MPI_Request *request)
{
    int (*next)(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int,
                MPI_Request *);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_activate_nb");
    tell(*made);
    return next(made, parent, bridge, first, second, sends_first, mode, request);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    news = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Comm copy = MPI_COMM_NULL;
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &copy), class = 0, is_revoked = 0;
    news = 0;
    if (code == MPI_SUCCESS) {
        code = MPI_Barrier(copy);
        MPI_Error_class(code, &class);
        MPIX_Comm_is_revoked(copy, &is_revoked);
    }
    printf("rank %d: heard %d times, %s, barrier %s\n", rank, told,
           is_revoked ? "revoked" : "not revoked",
           class == MPIX_ERR_REVOKED ? "revoked" : "not revoked");
    if (copy != MPI_COMM_NULL)
        MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
