/* Waiting that goes on with requests of this library. */
#ifndef RUNFLAT_COMPLETION_H
#define RUNFLAT_COMPLETION_H

#include "requests/requests.h"

#include <mpi.h>

/* Whether a blocking call may be left to MPI: nothing else must go on meanwhile. */
static inline bool goes_straight(void)
{
    return atomic_load_explicit(&works, memory_order_relaxed) == 0;
}

/* MPI_Wait that goes on with requests of this library. */
int wait_watching(MPI_Request *request, MPI_Status *status, const char *call);

#endif
