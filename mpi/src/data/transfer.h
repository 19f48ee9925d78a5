/* Data on its way between processes, step by step without waiting. */
#ifndef RUNFLAT_TRANSFER_H
#define RUNFLAT_TRANSFER_H

#include "data/copies.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Messages on a communicator. One that fails has it revoked, so that the others end. */
struct flight {
    MPI_Comm comm;
    int count;
    MPI_Request *requests;
    bool good;
};

/* No message yet. */
void begin_flight(struct flight *flight, MPI_Comm comm);

/* Sends or receives bytes, of any number; they stay where they are until the flight has ended. */
void send_bytes(struct flight *flight, const void *data, size_t bytes, int to, int tag);
void receive_bytes(struct flight *flight, void *data, size_t bytes, int from, int tag);

/* Says that this process cannot go on: what is under way ends, here and at the others. */
void give_up_flight(struct flight *flight);

/* Whether all messages have ended, well or not (`good`). */
bool has_landed(struct flight *flight);

/* Waits for that; returns `good`. */
bool land(struct flight *flight);

/* A copy that goes from one process of a communicator to another. */
struct transfer {
    int number, from, to;
    size_t bytes;
};

/* Begins to carry copies of a version where they are to be; each process does its part, `own` is its rank. */
void begin_carrying(struct flight *flight, MPI_Comm comm, int own, int64_t version, int count,
                    const struct transfer *transfers);

/* Notes the checksums of copies that have come; the flight has landed well. */
void end_carrying(int own, int64_t version, int count, const struct transfer *transfers);

/* Both, and waits in between. False: a failure, or no memory. */
bool carry(MPI_Comm comm, int own, int64_t version, int count, const struct transfer *transfers);

#endif
