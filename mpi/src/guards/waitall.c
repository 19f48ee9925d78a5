/* Requests that have failed before somebody waits for all of several, without their statuses.
 *
 * Open MPI 5.0 looks at the errors of such requests only while it writes statuses down: without any, MPI_Waitall, and collective calls that
 * wait like it inside, end well, without the data. The library stands before its function and gives it statuses. */
#include "state.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

typedef int function(size_t count, MPI_Request requests[], MPI_Status statuses[]);

/* For so many requests there is room on the stack. */
enum { FEW = 64 };

/* As the function has it that is given no statuses: the failure of a process or communicator, if one of the requests has failed so. */
static int failure_in(size_t count, const MPI_Status statuses[])
{
    for (size_t at = 0; at < count; at++)
        if (statuses[at].MPI_ERROR == MPIX_ERR_PROC_FAILED ||
            statuses[at].MPI_ERROR == MPIX_ERR_REVOKED)
            return statuses[at].MPI_ERROR;
    return MPI_ERR_IN_STATUS;
}

static int wait_for_all(function *next, size_t count, MPI_Request requests[], MPI_Status statuses[])
{
    int code = next(count, requests, statuses);
    return code == MPI_ERR_IN_STATUS ? failure_in(count, statuses) : code;
}

__attribute__((visibility("default"))) int
ompi_request_default_wait_all(size_t count, MPI_Request requests[], MPI_Status statuses[])
{
    static function *next;
    MPI_Status few[FEW];
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_request_default_wait_all");
    if (statuses != MPI_STATUSES_IGNORE)
        return next(count, requests, statuses);
    if (count <= FEW)
        return wait_for_all(next, count, requests, few);
    MPI_Status *many = new_table(count, sizeof *many);
    int code = wait_for_all(next, count, requests, many);
    free(many);
    return code;
}
