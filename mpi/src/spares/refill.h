/* Spares started anew at the places of processes that have died.
 *
 * Each is spawned alone, a job of its own to the launcher, since with a job all of its processes go: Open MPI 5.0 ends a spawned
 * job when one of its processes dies, and with `--enable-recovery` only that one. */
#ifndef RUNFLAT_REFILL_H
#define RUNFLAT_REFILL_H

#include <mpi.h>
#include <stdbool.h>

/* Whether the launch allows it: mpirun has `--enable-recovery` (RUNFLAT_REFILL). */
bool may_refill(void);

/* Starts a process at each place whose process is dead, lowest first, until one cannot be started. All processes of the pool
 * call it, newcomers too from when they are there; a larger pool takes its place, and newcomers learn of the votes of the repair.
 * MPI_SUCCESS, or at all alike the class of a failure. */
int refill(MPI_Comm *pool, int votes);

/* The place that this process was started for; -1: it was there from the beginning. */
int place_of_newcomer(void);

/* A newcomer becomes one of the pool, which is `spares` as RF_Init has it told the rest of it. False: the others have given it up. */
bool join_pool(int spares, MPI_Comm *pool, int *votes);

#endif
