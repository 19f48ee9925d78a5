/* Who stands for which rank: the same at all processes that have buried the same dead.
 *
 * A place is where a process stands: its rank in the world, or that of the dead one which it was started for. */
#ifndef RUNFLAT_ROSTER_H
#define RUNFLAT_ROSTER_H

#include <mpi.h>
#include <stdbool.h>

/* Ranks and spares at the beginning, as the launch says; `spares` as RF_Init has it. False: that does not fit, which was said. */
bool open_roster(int spares);
void close_roster(void);

/* Takes note of the processes that are not in a pool any more: the policy says who takes over for them. */
void bury(MPI_Comm pool);

/* The lowest place whose process is dead; -1: none. */
int first_dead(void);

/* A new process stands at a dead place, the last of a pool of the former one and it: a spare. */
void welcome(int place, MPI_Comm pool);

/* What a new process must know: which places have failed, and (~place) been filled again, in order; and the places of the
 * processes of the pool. */
const int *roster_history(int *events);
const int *places_in_pool(void);
bool open_roster_again(int spares, int events, const int *history, int members,
                       const int *place_in);

/* Whether there is a policy, without which a spare takes over from nobody; and the spares that are left. */
bool has_policy(void);
int spare_count(void);

/* How often ranks have got other places, at all alike since this process knows of the job. */
int rank_moves(void);

/* Whether ranks are lost because no spare was left. */
bool has_lost_ranks(void);

/* The rank that this process has now; -1: it is a spare. */
int own_rank(void);

/* The ranks in their order; at a spare, the spares. Of the last pool whose dead are buried. */
MPI_Group own_group(void);

/* The rank in that pool of the process at a place; MPI_UNDEFINED: it is dead. */
int member_at(int place);

/* The ranks that there are as they were numbered at the beginning, in order; room for as many as the communicator of the job
 * has. They are the same numbers as now unless ranks were lost. */
void first_numbers(int *ranks);

/* How many ranks there were at the beginning. */
int first_count(void);

/* The place of a rank by its first number; -1: the rank is lost. */
int place_of(int rank);

#endif
