/* Copies of checkpoints that only processes hold which have become spares.
 *
 * A policy that slides ranks over a grid makes spares of processes that live, and they hold copies as before. What no rank holds
 * itself goes to the rank that it is of, before the spare sleeps: else the death of one more process could lose it. */
#ifndef RUNFLAT_HANDING_H
#define RUNFLAT_HANDING_H

#include "data/copies.h"
#include "data/transfer.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What one process holds. */
struct offer {
    int64_t last; /* version that it knows to be complete; -1: none */
    struct offered {
        int64_t number, version, bytes; /* number -1: nothing */
    } held[COPIES_MAX];
};

struct handing {
    MPI_Comm pool;
    int size, own;
    struct offer *offers; /* of this process and those after it in the pool, in turn */
    int known;            /* of them */
    int64_t version;
    int count;
    struct transfer *plan;
    struct flight flight;
    enum { ASKING, CARRYING, AGREEING } stage;
    int all_good;
    MPI_Request agreement;
};

/* Whether this process is a spare that holds copies. */
bool has_to_hand(void);

/* Begins in a pool whose dead are buried; by all its processes. */
void begin_handing(struct handing *handing, MPI_Comm pool);

/* Goes on as far as is possible without waiting; true: ended. `good` is the same at all; it is false after a failure that kept copies
 * from travelling. */
bool advance_handing(struct handing *handing, bool *good);

/* A spare holds nothing any more. */
void drop_all_copies(void);

#endif
