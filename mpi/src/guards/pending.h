#ifndef GUARDS_PENDING_H
#define GUARDS_PENDING_H

#include <mpi.h>
#include <stdbool.h>

/* Whether a request that has not ended has failed. It has ended then, but for a receive from any process, which may go on. */
bool has_failed(MPI_Request request);

#endif
