/* Persistent collective calls that are uniform.
 *
 * A program holds MPI's own request from the `_init` call to MPI_Request_free. While it is started, a request of this library,
 * which ends when all have agreed on the call, stands in for it wherever the program waits. */
#ifndef RUNFLAT_PERSISTENT_H
#define RUNFLAT_PERSISTENT_H

#include <mpi.h>

/* Keeps the request of a collective call on a communicator whose collective calls are uniform. */
void keep_persistent(MPI_Comm comm, MPI_Request request);

/* Requests that stand in for those of an array, in an array as long; NULL: none does. */
MPI_Request *stand_in(int count, const MPI_Request requests[]);

/* Takes what became of an array with stand-ins back to the program's own; frees the former. */
void stand_back(int count, MPI_Request requests[], MPI_Request *others);

#endif
