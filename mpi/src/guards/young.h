/* Communicators that are being made.
 *
 * Open MPI 5.0 crashes when it learns that a process has failed, or that somebody has revoked, while a communicator with that
 * process is half made: `ompi_comm_revoke_local` calls collective functions that it has not got yet. This library puts itself
 * before that function and holds such news back until the communicator is there. */
#ifndef RUNFLAT_YOUNG_H
#define RUNFLAT_YOUNG_H

#include <mpi.h>
#include <stdbool.h>

/* Whether a communicator has ever been revoked here. */
bool has_seen_revoke(void);

/* How often MPI has been told that a communicator is revoked, or has lost a process: as long as it stays, nothing of that is new. */
unsigned news_told(void);

/* Before a call that makes a communicator. */
void begin_making(void);

/* After it: `code` is what it returned, and is returned. `made` is where the communicator is by now; NULL: there is none to tell of.
 * (A place, since a call may stand among the arguments itself.) */
int end_making(int code, const MPI_Comm *made);

/* In its midst: a communicator is there that MPI has made for itself. */
void note_made(MPI_Comm made);

/* A communicator is freed. */
void forget_made(MPI_Comm comm);

/* Frees a communicator of this library. */
void free_made(MPI_Comm *comm);

#endif
