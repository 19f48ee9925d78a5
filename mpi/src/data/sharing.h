/* What makes the data of a rank outlive it: a second copy at its partner, or blocks of its parity group. */
#ifndef RUNFLAT_SHARING_H
#define RUNFLAT_SHARING_H

#include "data/buddy.h"
#include "data/parity.h"
#include "data/ring.h"

#include <stdbool.h>
#include <stdint.h>

struct sharing {
    bool in_blocks;
    union {
        struct buddies buddies;
        struct blocks blocks;
    };
};

/* Begins, with the own copy of a version here; all ranks do. */
void begin_sharing(struct sharing *sharing, const struct ring *ring, int64_t version);

/* Goes on as far as is possible without waiting; true: ended, `good` tells how. After a failure the communicator is revoked. */
bool advance_sharing(struct sharing *sharing, bool *good);

/* Waits for the end; false: a failure, or no memory. */
bool share(struct sharing *sharing);

/* The class of what has kept data from coming: MPI_ERR_NO_MEM if memory was too little here, else MPIX_ERR_REVOKED. */
int class_of_failure(void);

#endif
