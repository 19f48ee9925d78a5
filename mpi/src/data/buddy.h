/* Second copies: each rank's data at a partner, on another host where there is one. */
#ifndef RUNFLAT_BUDDY_H
#define RUNFLAT_BUDDY_H

#include "data/ring.h"
#include "data/transfer.h"

#include <stdbool.h>
#include <stdint.h>

/* A rank's copy on its way to its partner, and another's on its way here. */
struct buddies {
    const struct ring *ring;
    int64_t version;
    struct announced {
        int64_t version, bytes;
    } own, other;
    bool sized; /* sizes are known, copies are under way */
    struct transfer transfers[2];
    struct flight flight;
};

/* Begins, with the own copy here; all ranks do. */
void begin_buddies(struct buddies *buddies, const struct ring *ring, int64_t version);

/* Goes on as far as is possible without waiting; true: ended, well if `flight.good`. A copy of another version is not kept: files of it
 * would pass for those of this one. */
bool advance_buddies(struct buddies *buddies);

#endif
