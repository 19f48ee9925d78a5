/* Communicators made by some processes of another one, without the rest of it.
 *
 * Agreements are of all of a communicator, so those that have no common one yet cannot agree: a process that gives up while others have
 * the new one already must tell them. Numbers are found by messages as in MPI_Comm_create_group, but on this library's copy of
 * MPI_COMM_WORLD, under a tag of their own: what is left there by a process that gives up disturbs nobody. Who has the new
 * communicator agrees on it; who has not, tells all and leaves. Since the agreement ends well only if all have begun it, all have the
 * communicator or none, and nobody waits for one that has left.
 *
 * Limits: processes of other jobs cannot be told; there, and where an agreement does not end within SURE_S after a failure, a process
 * gives up by itself, and others may have the communicator then. */
#ifndef RUNFLAT_MEETING_H
#define RUNFLAT_MEETING_H

#include "requests/calls.h"

#include <mpi.h>
#include <stdbool.h>

struct meeting {
    MPI_Comm parent,
        watched
            [2]; /* messages are on `parent`; after a revoke of a watched one some may not come */
    MPI_Group group;
    int count, *ranks; /* in `parent` */
    unsigned long key; /* of the call; 0: none */
    int tag;           /* the next one is that of bad news */
    bool in_world;
    int mode;               /* how a number is found, see steps.h */
    int beside, beside_tag; /* a rank that this process alone hears too; negative: none */
    int known;              /* failures that were looked at */
    bool failed;
    double troubled_at; /* of the first failure or revoke that was seen; 0: none */
    int looks;
};

/* The ranks in the world of a group, to be freed; NULL: not all are there. */
int *ranks_in_world(MPI_Group group, int *count);

/* Begins with ranks of the world, which it takes over. */
struct meeting begin_meeting(MPI_Comm watched, int *ranks, int count, unsigned long key);

/* The same where not all are in the world: on the communicator of the program, with its tag. */
struct meeting begin_meeting_of(MPI_Comm comm, MPI_Group group, int tag);

/* Begins with both sides of an intercommunicator; its group is the caller's to fill in. */
struct meeting begin_meeting_between(MPI_Comm comm);

void end_meeting(struct meeting *meeting);

/* Waits for a call that all make, which went `code` so far. Returns MPI_SUCCESS, or a class; MPI may write to what the call was given for
 * ever then. */
int await(struct meeting *meeting, int code, MPI_Request *request);

/* What keeps the processes from coming together, as far as is known here: MPI_SUCCESS or a class. */
int trouble(struct meeting *meeting);

/* Tells all that this process has given up. */
void tell_trouble(const struct meeting *meeting, int class);

/* Makes a communicator of all; `votes` are this process's and become what all have in common. Returns MPI_SUCCESS, or a class. */
int meet(struct meeting *meeting, int *votes, MPI_Comm *made);

/* Agrees on how what they did together went, on a communicator of all that all have. */
int settle_meeting(struct meeting *meeting, MPI_Comm all, int code, int *votes);

#endif
