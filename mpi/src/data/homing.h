/* Copies of checkpoints that come home within a repair, while it makes communicators.
 *
 * A rank that a spare has taken over has its copy at its partner, and RF_Restore would have to wait for it. So whoever holds what a rank
 * does not hold of its own sends it as soon as the repair knows who is who. A policy that slides ranks over a grid makes spares of
 * processes that live: what such a one alone holds is brought home before it sleeps, or the death of one more process could lose it. */
#ifndef RUNFLAT_HOMING_H
#define RUNFLAT_HOMING_H

#include "data/copies.h"
#include "data/transfer.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What one process holds. */
struct offer {
    int64_t last; /* version that it knows to be complete; -1: none */
    struct offered {
        int64_t number, version, pass, bytes; /* number -1: nothing */
        uint64_t checksum;
    } held[COPIES_MAX];
};

struct homing {
    MPI_Comm pool;
    int size, own;
    struct offer *offers; /* of this process and those after it in the pool, in turn */
    int known;            /* of them */
    int64_t version;
    int count;
    struct transfer *plan;
    struct flight flight;
    enum { ASKING, CARRYING, LANDED, AGREEING } stage;
    double begin;
    int all_good;
    MPI_Request agreement;
};

/* Whether this process knows of a checkpoint that counts: if any does, all of a pool bring copies home. */
bool has_checkpoint(void);

/* Begins in a pool whose dead are buried; by all its processes. */
void begin_homing(struct homing *homing, MPI_Comm pool);

/* Goes on as far as is possible without waiting; true: no message is under way any more, for good or by a failure. */
bool advance_homing(struct homing *homing);

/* The same, and agrees then, on the pool, on whether all has come home; true: ended. `good` is the same at all; it is false after a
 * failure. What has come is counted among the copies. */
bool end_homing(struct homing *homing, bool *good);

/* After a failure elsewhere: ends messages that are under way, here and at the others. True: there are none. */
bool leave_homing(struct homing *homing);

/* A spare holds nothing any more. */
void drop_all_copies(void);

#endif
