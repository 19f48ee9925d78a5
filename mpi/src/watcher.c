#include "watcher.h"

#include "modes.h"
#include "range.h"
#include "state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_bool running;
static pthread_t thread;

/* Milliseconds between two looks; 0: nobody asked. */
static double interval_ms(void)
{
    const char *given = getenv("RUNFLAT_WATCH_MS");
    return given ? atof(given) : 0;
}

bool is_watcher_wanted(void)
{
    return interval_ms() > 0;
}

static void *watch(void *unused)
{
    double seconds = interval_ms() / 1e3;
    struct timespec nap = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    while (atomic_load(&running)) {
        nanosleep(&nap, NULL);
        if (atomic_load(&ranged_count) == 0)
            continue;
        /* What the runtime has told is taken in when somebody makes progress. */
        int found;
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
        look_for_failures();
    }
    return unused;
}

void start_watcher(void)
{
    if (!is_watcher_wanted())
        return;
    if (rf.threads != MPI_THREAD_MULTIPLE) {
        if (rf.rank == 0)
            say("RUNFLAT_WATCH_MS: this MPI does not allow several threads; failures are found in "
                "calls only");
        return;
    }
    atomic_store(&running, true);
    if (pthread_create(&thread, NULL, watch, NULL) != 0)
        atomic_store(&running, false);
}

void stop_watcher(void)
{
    if (atomic_exchange(&running, false))
        pthread_join(thread, NULL);
}
