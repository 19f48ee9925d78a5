/* Intercommunicators, and what is merged from them, so that all of both sides have the new communicator or none.
 *
 * Agreements on intercommunicators do not end in Open MPI 5.0, and what waits in its own calls for the other side waits for ever if that
 * side has failed. Here all of both sides come together in one communicator first (meeting.h); the rest are agreements on it.
 *
 * Limits: all must be in the world; the caller must see to the others. */
#ifndef RUNFLAT_BETWEEN_H
#define RUNFLAT_BETWEEN_H

#include <mpi.h>
#include <stdbool.h>

/* Not an error: some of the processes are not in the world, and nothing was done; at all of both sides alike. */
enum { NOT_IN_WORLD = -1 };

/* As MPI_Intercomm_create and MPI_Intercomm_merge, by all processes of both sides. Call no error handler; return MPI_SUCCESS, a
 * class, or NOT_IN_WORLD. */
int create_between(MPI_Comm comm, int leader, MPI_Comm between, int other, int tag, MPI_Comm *made);
int merge_between(MPI_Comm comm, int high, MPI_Comm *made);

#endif
