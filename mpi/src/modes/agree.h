/* Agreements that a revoke can interrupt.
 *
 * MPIX_Comm_agree waits for every live process, revoked or not. A process that has turned to a repair never comes, so
 * whoever waits for it must be told by the revoke. */
#ifndef RUNFLAT_AGREE_H
#define RUNFLAT_AGREE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* How long a result may still come after a revoke, in s: where others have it already, it is on its way. */
#define PATIENCE_S 0.2

/* Whether a communicator has this process alone. It has nobody to agree with there; and Open MPI 5.0 may take an agreement on it for one
 * on another communicator, so that both go wrong: always for MPI_COMM_SELF and MPI_COMM_WORLD, elsewhere when its number is used again. */
bool is_alone(MPI_Comm comm);

/* Begins an agreement as MPIX_Comm_iagree does, if there is anybody to agree with. */
int iagree(MPI_Comm comm, int *flag, MPI_Request *request);

/* MPIX_Comm_agree, safe against other threads. */
int agree_waiting(MPI_Comm comm, int *flag);

/* Agrees on the bitwise and of `flag` as MPIX_Comm_agree does; MPIX_ERR_REVOKED if the communicator has been revoked for
 * `patience_s` before the result is known here. It may be known elsewhere then; and the agreement is pending, see
 * `join_last_agreement`. */
int agree_unless_revoked(MPI_Comm comm, int *flag, double patience_s);

/* The same after PATIENCE_S, and calls `late` once when the result takes longer than that: who has not come may wait for what this process
 * can end. */
int agree_or_call(MPI_Comm comm, int *flag, void (*late)(void *context), void *context);

/* The same as `agree_unless_revoked`, given up at once when `other` is revoked; `comm` may be. */
int agree_unless_other_revoked(MPI_Comm comm, int *flag, MPI_Comm other);

/* What became of a step of all, whose `code` is MPI_SUCCESS, the class of a failure, or an error that a repair does not mend
 * (MPI_ERR_NO_MEM, MPI_ERR_IO, RF_ERR_ARGUMENT): MPI_SUCCESS, such an error of any rank, or the class of a failure, at all alike.
 * RF_ERR_ARGUMENT too if `number` is not the same at all. Interrupted by a revoke, see `agree_unless_revoked`. */
int outcome_of_all(MPI_Comm comm, int code, int64_t number, double patience_s);

/* The same without patience, in a phase of its own (see inject.h). */
int agree_on_outcome(MPI_Comm comm, int code, int64_t number);

/* Agreements on the communicator of the job are counted, so that after a failure none stays pending: since each begins when
 * the one before has ended, processes differ by one at the most. */
void count_agreements(MPI_Comm comm);

/* A process's vote on who has taken part in how many: all bits for one that has no rank. */
int vote_on_agreements(bool has_rank);

/* Takes part in the last agreement if, by what all votes have in common, others have. */
void join_last_agreement(int votes);

/* Whether no agreement is pending any more. Now and then Open MPI 5.0 does not bring the result to all when processes die
 * meanwhile: after PATIENCE_S it is left, `all` is false then, and the communicator must not be freed. */
bool has_ended_agreements(bool *all);

/* Whether a communicator is revoked, as far as is known here. */
bool is_revoked(MPI_Comm comm);

#endif
