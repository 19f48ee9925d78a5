/* Waiting that sees failures and goes on with requests of this library. */
#ifndef RUNFLAT_COMPLETION_H
#define RUNFLAT_COMPLETION_H

#include "modes.h"
#include "requests.h"

#include <mpi.h>

/* Whether a blocking call on a communicator may be left to MPI: nothing can interrupt it, and nothing else must go on. */
static inline bool goes_straight(MPI_Comm comm)
{
    return atomic_load_explicit(&works, memory_order_relaxed) == 0 && range_of(comm) == RANGE_LOCAL;
}

/* MPI_Wait, with an eye on failures and on requests of this library that are under way. */
int wait_watching(MPI_Request *request, MPI_Status *status);

#endif
