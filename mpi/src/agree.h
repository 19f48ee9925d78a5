/* Agreements that a revoke can interrupt.
 *
 * MPIX_Comm_agree waits for every live process, revoked or not. A process that has turned to a repair never comes, so
 * whoever waits for it must be told by the revoke. */
#ifndef RUNFLAT_AGREE_H
#define RUNFLAT_AGREE_H

#include <mpi.h>
#include <stdbool.h>

/* Agrees on the bitwise and of `flag` as MPIX_Comm_agree does; MPIX_ERR_REVOKED if the communicator is revoked before the
 * result is known here. It may be known elsewhere then; and the agreement is pending, see `finish_agreements`. */
int agree_unless_revoked(MPI_Comm comm, int *flag);

/* Agreements on the communicator of the job are counted, so that after a failure none stays pending: since each begins when
 * the one before has ended, processes differ by one at the most. */
void count_agreements(MPI_Comm comm);

/* A process's vote on who has taken part in how many: all bits for one that has no rank. */
int vote_on_agreements(bool has_rank);

/* Takes part in the last agreement if, by what all votes have in common, others have, and waits until it has ended. */
void finish_agreements(int votes);

/* Whether a communicator is revoked, as far as is known here. */
bool is_revoked(MPI_Comm comm);

#endif
