/* Copies on their way between processes. */
#ifndef RUNFLAT_TRANSFER_H
#define RUNFLAT_TRANSFER_H

#include "copies.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* A copy that goes from one process of a communicator to another. */
struct transfer {
    int number, from, to;
    size_t bytes;
};

/* Waits for requests until all have ended, well or not: one that fails has the communicator revoked, so that the others end. */
bool finish_requests(MPI_Comm comm, int count, MPI_Request *requests);

/* Carries copies of a version where they are to be; each process does its part, `own` is its rank. False: a failure, or no memory. */
bool carry(MPI_Comm comm, int own, int64_t version, int count, const struct transfer *transfers);

#endif
