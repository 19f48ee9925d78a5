/* Communicators that last.
 *
 * Open MPI 5.0 goes on with some things after a communicator is freed, or when all are at the end, and needs it then: a large message under
 * way to a process that has freed the communicator is never answered, so that its sender waits for ever, though it is revoked; and
 * agreements that were given up write into it at the end. */
#ifndef RUNFLAT_LASTING_H
#define RUNFLAT_LASTING_H

#include <mpi.h>

/* MPI keeps a communicator whoever frees it. Its number is not used again. */
void make_last(MPI_Comm comm);

/* The same if it is revoked. */
void make_last_if_revoked(MPI_Comm comm);

#endif
