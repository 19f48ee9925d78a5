#include "guards/inject.h"

#include "settings.h"
#include "state.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INJECTIONS_MAX = 64, SIBLINGS_MAX = 1024 };

/* A signal that this process sends itself, or its host. */
struct injection {
    int signal;
    char phase[16]; /* empty: from the end of MPI_Init on */
    int entry;      /* how often it is still to be entered */
    double after_s;
    bool node; /* the host's daemon and all that it started */
    bool done;
};

static struct injection planned[INJECTIONS_MAX];
static int count;

/* The parent of a process, and whether its command is that name; 0 if it is gone. */
static pid_t parent_of(pid_t process, const char *name, bool *is_named)
{
    char path[40], command[64] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d (%63[^)]) %*c %d", command, &parent) != 2)
        parent = 0;
    if (file)
        fclose(file);
    *is_named = strcmp(command, name) == 0;
    return (pid_t)parent;
}

/* Ends the daemon of this host and all processes that it has started, as the loss of the host would. */
static void kill_node(void)
{
    pid_t daemon = getppid(), siblings[SIBLINGS_MAX];
    int found = 0;
    bool is_daemon, any;
    parent_of(daemon, "prted", &is_daemon);
    if (!is_daemon) {
        say("RUNFLAT_KILL: rank %d runs on the host of mpirun, which would end with it; it is left "
            "out",
            rf.rank);
        return;
    }
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        pid_t process = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
        if (process && process != getpid() && found < SIBLINGS_MAX &&
            parent_of(process, "", &any) == daemon)
            siblings[found++] = process;
    }
    if (processes)
        closedir(processes);
    note_event("killed", -1);
    kill(daemon, SIGKILL);
    for (int at = 0; at < found; at++)
        kill(siblings[at], SIGKILL);
    kill(getpid(), SIGKILL);
}

static void *fire(void *argument)
{
    struct injection *one = argument;
    struct timespec nap = {(time_t)one->after_s,
                           (long)(1e9 * (one->after_s - (double)(time_t)one->after_s))};
    nanosleep(&nap, NULL);
    if (one->node) {
        kill_node();
        return NULL;
    }
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

/* Reads `3@1.5`, `3@shrink`, `3@shrink+0.01` or `3@restore:2+0.01`. */
static bool read_item(const char *item, int *rank, struct injection *one)
{
    int length = 0;
    char *end;
    if (sscanf(item, "%d@%n", rank, &length) != 1 || !length)
        return false;
    item += length;
    one->entry = 1;
    if (sscanf(item, "%15[a-z]%n", one->phase, &length) == 1) {
        item += length;
        if (sscanf(item, ":%d%n", &one->entry, &length) == 1)
            item += length;
        if (one->entry < 1)
            return false;
        if (!*item)
            return true;
        if (*item++ != '+')
            return false;
    }
    one->after_s = decimal_of(item, &end);
    return end > item && !*end;
}

static void read_list(const char *name, int signal)
{
    const char *given = getenv(name);
    char *text = given ? strdup(given) : NULL, *rest = NULL;
    for (char *item = text ? strtok_r(text, ",", &rest) : NULL; item;
         item = strtok_r(NULL, ",", &rest)) {
        static const char NODE[] = "node-of:";
        struct injection one = {.signal = signal,
                                .node = strncmp(item, NODE, sizeof NODE - 1) == 0};
        int rank;
        item += one.node ? sizeof NODE - 1 : 0;
        if (!read_item(item, &rank, &one))
            say("%s: `%s` is neither RANK@SECONDS nor RANK@PHASE:NTH+SECONDS; it is left out", name,
                item);
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

bool is_corruption_due(void)
{
    static bool done;
    const char *given = done ? NULL : getenv("RUNFLAT_CORRUPT");
    char *text = given ? strdup(given) : NULL, *rest = NULL;
    bool due = false;
    for (char *item = text ? strtok_r(text, ",", &rest) : NULL; item;
         item = strtok_r(NULL, ",", &rest))
        due = due || atoi(item) == rf.rank;
    free(text);
    done = done || due;
    return due;
}

void enter_phase(const char *phase)
{
    for (int at = 0; at < count; at++)
        if (!planned[at].done && strcmp(planned[at].phase, phase) == 0 && --planned[at].entry == 0)
            start(&planned[at]);
}
