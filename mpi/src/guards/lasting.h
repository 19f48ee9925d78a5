/* Communicators that last.
 *
 * Open MPI 5.0 goes on with some things after a communicator is freed, or when all are at the end, and needs it then: a large message under
 * way to a process that has freed the communicator is never answered, so that its sender waits for ever, though it is revoked; and
 * agreements that were given up write into it at the end. And a message whose communicator is freed where it comes to is kept for the
 * next one of that number, which then takes it for its own first message and leaves that one aside for ever. */
#ifndef RUNFLAT_LASTING_H
#define RUNFLAT_LASTING_H

#include <mpi.h>

/* MPI keeps a communicator whoever frees it, and its number is not used again, until what this returns is freed, if ever. */
MPI_Request make_last(MPI_Comm comm);

/* The same, before it is freed, if messages may be under way in it: it is revoked, or one of its processes has failed. */
void make_last_if_broken(MPI_Comm comm);

#endif
