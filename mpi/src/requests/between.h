/* Intercommunicators, and what is merged from them, so that all of both sides have the new communicator or none.
 *
 * Agreements on intercommunicators do not end in Open MPI 5.0, and what waits in its own calls for the other side waits for ever if that
 * side has failed. Here all of both sides come together in one communicator first (meeting.h); the rest are agreements on it.
 *
 * That is for processes of the world, who can tell each other. With those of other jobs both sides of a merge find a number together and
 * then agree on what they have made.
 *
 * Limits: Open MPI 5.0 does not tell every process of a failure in another job; the caller must see to MPI_Intercomm_create there. */
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

/* The same as merge_between where not all are in the world. */
int merge_jobs(MPI_Comm comm, int high, MPI_Comm *made);

#endif
