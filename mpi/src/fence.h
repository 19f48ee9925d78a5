/* Processes that hang, and processes that are counted as dead, are ended for good. */
#ifndef RUNFLAT_FENCE_H
#define RUNFLAT_FENCE_H

#include <stdint.h>
#include <sys/types.h>

/* When a process of this host started, in ticks of the kernel: tells it from a later one of the same number. */
uint64_t start_of(pid_t pid);

/* Starts to watch the next process on this host: one that is stopped for RUNFLAT_STOPPED_S seconds (1 without it) is
 * killed, which the runtime reports to all. */
void watch_neighbour(void);
void stop_watching(void);

/* Kills the process at a place, if it is of this host and still runs. */
void fence(int place);

#endif
