/* A barrier of processes that share a host: each counts in a place of its own in memory that all have, and looks at those of the others.
 *
 * The packaged Open MPI has messages alone for that, some log2(n) after each other, and where processes share cores each waits for another
 * turn of the scheduler. Here a process that has been let run once is there for all. */
#ifndef RUNFLAT_BARRIER_H
#define RUNFLAT_BARRIER_H

#include <mpi.h>
#include <stdbool.h>

struct barrier;

/* Makes one for all processes of a communicator, and is a barrier itself: who comes out of it with MPI_SUCCESS knows that all have come.
 * NULL at all, if they are on several hosts, are many, or do not get the memory. */
int make_barrier(MPI_Comm comm, struct barrier **made);

/* Waits until all have come. MPIX_ERR_PROC_FAILED: not all have, and one has failed or the communicator is revoked. `must_hear`: MPI is to
 * make progress even if nobody has to be waited for, now and then at the least. */
int wait_for_all(struct barrier *barrier, bool must_hear);

/* Waits for nobody; NULL is left out. */
void free_barrier(struct barrier *barrier);

#endif
