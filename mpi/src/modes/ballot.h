/* Uniform collective calls at the price of a barrier.
 *
 * A call that went well is followed by a barrier on a copy of the communicator. Who comes out of it knows that the call went well
 * at all processes, and returns: the call counts. Who runs into a failure, in the call or the barrier, cannot know whether it counts
 * for somebody. It revokes the copy; so all processes learn of it, whatever they are doing, when MPI makes progress there, and take part
 * in one agreement on how many calls count. They differ by one at the most, since nobody ends a call that another has not come to. The call
 * after the last that counts fails at all alike, and from then on every call is followed by an agreement (uniform.c).
 *
 * An agreement in Open MPI 5.0 takes four times as long as a barrier. Bouteiller and Bosilca 2022, Section III-B, have one after each
 * call. */
#ifndef RUNFLAT_BALLOT_H
#define RUNFLAT_BALLOT_H

#include <mpi.h>
#include <stdbool.h>

struct ballot;

/* Begins for a communicator; all its processes do. NULL: it could not be made, and every call is followed by an agreement. */
struct ballot *open_ballot(MPI_Comm comm);

/* The same with a copy that there is; waits for nobody. */
struct ballot *open_ballot_in(MPI_Comm copy, MPI_Comm comm);

/* Whether calls are still followed by barriers, but for the last one. */
bool is_open(const struct ballot *ballot);

/* Whether the next call is to be made at all: not if it is known to fail. */
bool is_call_wanted(const struct ballot *ballot);

/* What all make of a call that went `code` here, or was not wanted. A barrier is what follows a call, so nothing is done before. Calls no
 * error handler. */
int confirm(struct ballot *ballot, int code, bool is_barrier);

/* Takes part in the agreement if somebody has run into a failure. Called when MPI makes progress. */
void look_at_ballot(struct ballot *ballot);

/* Ends; all processes do, unless the communicator is revoked. */
void close_ballot(struct ballot *ballot);

#endif
