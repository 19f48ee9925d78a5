/* Processes that hang, and processes that are counted as dead, are ended for good. */
#ifndef RUNFLAT_FENCE_H
#define RUNFLAT_FENCE_H

#include "state.h"

/* Where this process runs. */
struct place place_here(void);

/* A variable, "NAME=value", that tells processes which this one spawns who has done so. */
enum { SPAWNER_MAX = 96 };
void write_spawner(char variable[SPAWNER_MAX]);

/* Whether another job has asked for this process. */
bool is_spawned(void);

/* Of a process that was spawned: whether the one that has asked for it is there, as far as can be seen from this host. */
bool is_spawner_there(void);

/* Starts to watch the next process on this host: one that is stopped for RUNFLAT_STOPPED_S seconds (1 without it) is
 * killed, which the runtime reports to all. A process that is alone on its host gets a sentinel. */
void watch_neighbour(void);
void stop_watching(void);

/* Kills the process at a place, if it is of this host and still runs. */
void fence(int place);

/* The same for all others of this host that still run some seconds from now, whatever becomes of this process. */
void fence_others(int seconds);

#endif
