/* Messages that were given up before a failure ended them.
 *
 * Of a request that is freed while its message is under way nobody can be told an error, so MPI ends the job for one. Open MPI 5.0
 * frees requests itself, in collective calls that a failure has ended, and the error is that the other process has died or has given up the
 * communicator: nothing to end a job for. Other errors still do.
 *
 * Limit: after a failure or a revoke any error of a freed request is taken for one that comes of it. */
#include "guards/deaths.h"
#include "guards/young.h"
#include "state.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>

/* Stands before Open MPI's own function of the name; for such a message there is no communicator. */
__attribute__((visibility("default"))) void ompi_mpi_errors_are_fatal_comm_handler(MPI_Comm *comm,
                                                                                   int *code, ...)
{
    static void (*next)(MPI_Comm *, int *, ...);
    va_list rest;
    if (!comm && code && error_class(*code) == MPI_ERR_REQUEST && rf.ready &&
        (has_failures(rf.world) || has_seen_revoke()))
        return;
    va_start(rest, code);
    const char *words = va_arg(rest, const char *);
    va_end(rest);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_mpi_errors_are_fatal_comm_handler");
    next(comm, code, words, NULL);
}
