/* A process that looks after another one which has no neighbour on its host to do it. */
#ifndef RUNFLAT_SENTINEL_H
#define RUNFLAT_SENTINEL_H

#include <stdint.h>

/* Starts a shell beside this process, which started at `started` (as in struct place): it kills this process when it has been stopped
 * for so many seconds, and ends with it. */
void start_sentinel(uint64_t started, double allowed_s);
void stop_sentinel(void);

#endif
