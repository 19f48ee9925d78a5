#include "inject.h"

#include "state.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INJECTIONS_MAX = 64 };

/* A signal that this process sends itself. */
struct injection {
    int signal;
    char phase[16]; /* empty: from the end of MPI_Init on */
    double after_s;
    bool done;
};

static struct injection planned[INJECTIONS_MAX];
static int count;

static void *fire(void *argument)
{
    struct injection *one = argument;
    struct timespec nap = {(time_t)one->after_s, (long)(1e9 * (one->after_s - (double)(time_t)one->after_s))};
    nanosleep(&nap, NULL);
    note_event(one->signal == SIGKILL ? "killed" : "stopped", -1);
    kill(getpid(), one->signal);
    return NULL;
}

static void start(struct injection *one)
{
    one->done = true;
    pthread_t thread;
    if (one->after_s <= 0)
        fire(one);
    else if (pthread_create(&thread, NULL, fire, one) == 0)
        pthread_detach(thread);
}

static void read_list(const char *name, int signal)
{
    const char *given = getenv(name);
    char *text = given ? strdup(given) : NULL, *rest = NULL;
    for (char *item = text ? strtok_r(text, ",", &rest) : NULL; item; item = strtok_r(NULL, ",", &rest)) {
        struct injection one = {.signal = signal};
        int rank;
        bool read = sscanf(item, "%d@%lf", &rank, &one.after_s) == 2 ||
                    sscanf(item, "%d@%15[a-z]+%lf", &rank, one.phase, &one.after_s) >= 2;
        if (!read)
            say("%s: `%s` is neither RANK@SECONDS nor RANK@PHASE+SECONDS; it is left out", name, item);
        else if (rank == rf.rank && count < INJECTIONS_MAX)
            planned[count++] = one;
    }
    free(text);
}

bool are_injections_planned(void)
{
    const char *kill = getenv("RUNFLAT_KILL"), *stop = getenv("RUNFLAT_STOP");
    return (kill && *kill) || (stop && *stop);
}

void arm_injections(void)
{
    read_list("RUNFLAT_KILL", SIGKILL);
    read_list("RUNFLAT_STOP", SIGSTOP);
    for (int at = 0; at < count; at++)
        if (!planned[at].phase[0])
            start(&planned[at]);
}

void enter_phase(const char *phase)
{
    for (int at = 0; at < count; at++)
        if (!planned[at].done && strcmp(planned[at].phase, phase) == 0)
            start(&planned[at]);
}
