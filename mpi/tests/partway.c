/* A window cannot be made at one process alone, by a failure that the others do not see: does anybody wait for ever?
 *
 *     partway create|allocate|shared|dynamic NUMBER
 *
 * Of the communicators that MPI makes inside of the call, rank 1 takes that of the number for failed though it is whole and the others go
 * on with it; beyond the last one, rank 1 takes the whole call for failed at its end, when all others have the window. The library then
 * makes a communicator there, to free the number, and frees it: before that somebody revokes another one of that number, which rank 1
 * has not got. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Communicators until that which fails; 0: the call is over. */
static int left, rank, is_last_step, has_failed, revoked;

/* These stand before Open MPI's own functions of the names. */
int ompi_comm_activate(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int);
int ompi_osc_base_select(void *, void **, size_t, ptrdiff_t, MPI_Comm, int, int *);
_Bool ompi_comm_revoke_local(MPI_Comm, _Bool);

/* Of a call that went `code`. */
static int spoil(int code)
{
    if (code != MPI_SUCCESS || rank != 1 || has_failed)
        return code;
    has_failed = 1;
    return MPI_ERR_NO_MEM;
}

int ompi_comm_activate(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                       const void *second, _Bool sends_first, int mode)
{
    int (*next)(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_activate");
    left -= left > 1;
    is_last_step = left == 1;
    int code = next(made, parent, bridge, first, second, sends_first, mode);
    is_last_step = 0;
    return code;
}

int PMPI_Comm_free(MPI_Comm *made)
{
    int (*next)(MPI_Comm *);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_free");
    if (has_failed && left > 0 && revoked++ == 0)
        ompi_comm_revoke_local(*made, 0);
    return next(made);
}

/* The library looks at the barrier of an activation with it. */
int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    int (*next)(MPI_Request *, int *, MPI_Status *);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Test");
    int code = next(request, done, status);
    return is_last_step && *done ? spoil(code) : code;
}

int ompi_osc_base_select(void *window, void **base, size_t size, ptrdiff_t unit, MPI_Comm comm,
                         int flavor, int *model)
{
    int (*next)(void *, void **, size_t, ptrdiff_t, MPI_Comm, int, int *);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_osc_base_select");
    int code = next(window, base, size, unit, comm, flavor, model);
    return left > 0 ? spoil(code) : code;
}

static int make(const char *what)
{
    static int memory;
    const MPI_Aint bytes = sizeof memory;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Win window;
    void *base;
    if (strcmp(what, "create") == 0)
        return MPI_Win_create(&memory, bytes, 1, MPI_INFO_NULL, comm, &window);
    if (strcmp(what, "dynamic") == 0)
        return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window);
    if (strcmp(what, "shared") == 0)
        return MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, &base, &window);
    return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &base, &window);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "create";
    int number = argc > 2 ? atoi(argv[2]) : 1, sum = 0, class = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    left = number + 1;
    int code = make(what);
    left = 0;
    MPI_Error_class(code, &class);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %s, error %s, sum %d\n", rank, has_failed && revoked ? "failed" : "went on",
           class == MPI_SUCCESS     ? "none"
           : class == MPI_ERR_OTHER ? "other"
                                    : "own",
           sum);
    MPI_Finalize();
    return 0;
}
