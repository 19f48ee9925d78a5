#include "modes/watcher.h"

#include "modes/modes.h"
#include "modes/range.h"
#include "requests/steps.h"
#include "settings.h"
#include "state.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of PMIx, as its standard has them; there are no headers of it in all installations. */
typedef void (*done_function)(int code, void *results, size_t result_count, void *after,
                              void *after_context, void *context);
typedef void (*event_function)(size_t handler, int event, const void *source, void *info,
                               size_t info_count, void *results, size_t result_count,
                               done_function done, void *context);
__attribute__((weak)) int PMIx_Register_event_handler(int events[], size_t event_count, void *info,
                                                      size_t info_count, event_function function,
                                                      void *registered, void *context);
__attribute__((weak)) int PMIx_Deregister_event_handler(size_t handler, void *done, void *context);

enum {
    NO_ACTION_TAKEN = -331,
    PROC_ABORTED = -7,
    PROC_TERM_WO_SYNC = -200,
    EXIT_NONZERO_TERM = -231,
    PROC_ABORTED_BY_SIG = -402
};

/* MPI takes in what the runtime tells by an event handler of its own, before or after ours: as many looks after an event, 1 ms apart. */
enum { LOOKS = 20 };

static atomic_bool running;
static pthread_t thread;
static sem_t woken;
static int handler = -1; /* negative: none */

/* Milliseconds between two looks where nobody tells of anything; 0: nobody asked. */
static double interval_ms(void)
{
    const char *given = getenv("RUNFLAT_WATCH_MS");
    if (given && strcmp(given, "events") == 0)
        return 1000;
    return given ? decimal_of(given, NULL) : 0;
}

bool is_watcher_wanted(void)
{
    return interval_ms() > 0;
}

static void on_event(size_t number, int event, const void *source, void *info, size_t info_count,
                     void *results, size_t result_count, done_function done, void *context)
{
    (void)number, (void)event, (void)source, (void)info, (void)info_count, (void)results,
        (void)result_count;
    sem_post(&woken);
    if (done)
        done(NO_ACTION_TAKEN, NULL, 0, NULL, NULL, context);
}

static void look_now(void)
{
    if (atomic_load(&ranged_count) == 0)
        return;
    /* What the runtime has told is taken in when somebody makes progress. */
    opal_progress();
    look_for_failures();
}

static struct timespec after(double seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double whole = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    return (struct timespec){(time_t)whole, (long)(1e9 * (whole - (double)(time_t)whole))};
}

static void *watch(void *unused)
{
    const struct timespec turn = {0, 1000000};
    double seconds = interval_ms() / 1e3;
    while (atomic_load(&running)) {
        struct timespec until = after(seconds);
        bool told = sem_timedwait(&woken, &until) == 0;
        for (int at = 0; at < (told ? LOOKS : 1) && atomic_load(&running); at++) {
            look_now();
            if (told)
                nanosleep(&turn, NULL);
        }
    }
    return unused;
}

void start_watcher(void)
{
    int events[] = {PROC_ABORTED, PROC_TERM_WO_SYNC, EXIT_NONZERO_TERM, PROC_ABORTED_BY_SIG};
    if (!is_watcher_wanted())
        return;
    if (rf.threads != MPI_THREAD_MULTIPLE) {
        if (rf.rank == 0)
            say("RUNFLAT_WATCH_MS: this MPI does not allow several threads; failures are found in "
                "calls only");
        return;
    }
    sem_init(&woken, 0, 0);
    if (PMIx_Register_event_handler)
        handler = PMIx_Register_event_handler(events, sizeof events / sizeof *events, NULL, 0,
                                              on_event, NULL, NULL);
    atomic_store(&running, true);
    if (pthread_create(&thread, NULL, watch, NULL) != 0)
        atomic_store(&running, false);
}

void stop_watcher(void)
{
    if (!atomic_exchange(&running, false))
        return;
    if (handler >= 0)
        PMIx_Deregister_event_handler((size_t)handler, NULL, NULL);
    sem_post(&woken);
    pthread_join(thread, NULL);
}
