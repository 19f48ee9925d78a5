/* Collective calls that return the same error class at all processes.
 *
 * After the call the processes agree on how it went. Bouteiller and Bosilca 2022, Section III-B. */
#ifndef RUNFLAT_UNIFORM_H
#define RUNFLAT_UNIFORM_H

#include "modes/handlers.h"

#include <mpi.h>
#include <stdbool.h>

/* Whether an error does not say what it is, and may be a failure that has ended the call. */
bool may_mean_failure(int code);

/* What an error of a call on a communicator says. Open MPI 5.0 has MPI_ERR_OTHER and its kind for some calls that a failure has ended
 * (with MPI_THREAD_MULTIPLE for barriers, nearly always): where processes have failed, or the communicator is revoked, that is a failure. */
int meant_by(MPI_Comm comm, int code);

/* Takes note of what others say of a call: this process may not know of the failure yet. Returns the code. */
int told(MPI_Comm comm, int code);

/* What all make of a collective call on a communicator that went `code` here. Calls no error handler. */
int settle_all(MPI_Comm comm, int code);

/* The same, and calls `late` as `agree_or_call` does. */
int settle_all_or_call(MPI_Comm comm, int code, void (*late)(void *context), void *context);

/* A process's vote in an agreement on a call that went `code` there. The lowest FREE_VOTES bits say how it went; the four
 * after them are ones, for other votes of who calls; those above say the class of an error that is no failure. */
int vote_on(int code);

enum { FREE_VOTES = 8 };

/* What follows from all votes, after an agreement that went `agreed`, where the call went `code`. */
int outcome_of(int code, int agreed, int votes);

/* Replaces the request of a collective call that was posted with `code` by one that ends when all have agreed on the call. */
int agree_after(MPI_Comm comm, int code, MPI_Request *request);

#endif
