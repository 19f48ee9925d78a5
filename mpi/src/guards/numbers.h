/* Numbers that Open MPI knows communicators by.
 *
 * Open MPI 5.0 looks for them one at a time: a communicator is made from one with a higher number only when no search from one with a lower
 * number is under way. A search that fails in its midst counts as under way ever after, and all the others wait. */
#ifndef RUNFLAT_NUMBERS_H
#define RUNFLAT_NUMBERS_H

#include <mpi.h>

/* Makes a communicator of this process alone, which nothing can be sent in, whatever else is under way; and frees it. Takes no other
 * process. MPI_SUCCESS, or a class. */
int make_single(MPI_Comm *made);
void free_single(MPI_Comm *made);

/* After a call that has failed to make a communicator, or was given up: others need not wait any more for the number that it was looking
 * for. Takes no other process. */
void free_numbers(void);

#endif
