/* A look at failures beside the program, for those who compute for long or wait where the library does not look: RUNFLAT_WATCH_MS.
 * It is made as often as that says, and at once when PMIx tells of a process that has ended.
 *
 * A thread of its own, so MPI is asked for MPI_THREAD_MULTIPLE, which makes each of its calls a little dearer. */
#ifndef RUNFLAT_WATCHER_H
#define RUNFLAT_WATCHER_H

#include <stdbool.h>

/* Whether the launch asks for it. */
bool is_watcher_wanted(void);

void start_watcher(void);
void stop_watcher(void);

#endif
