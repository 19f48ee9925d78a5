#include "guards/fence.h"

#include "guards/bounded.h"
#include "guards/queue.h"
#include "guards/sentinel.h"
#include "settings.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_bool watching;
static pthread_t watcher;

/* The state of a process as the kernel tells it ('T': stopped) and when it started, in ticks; 0: there is none. */
static char look_at(pid_t pid, uint64_t *started)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    char *read = fgets(line, sizeof line, file);
    fclose(file);
    /* The name stands in brackets and may hold anything; field 3 is next, field 22 the start. */
    char *at = read ? strrchr(line, ')') : NULL, state = 0;
    if (!at || sscanf(at + 1, " %c", &state) != 1)
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    *started = at ? strtoull(at, NULL, 10) : 0;
    return state;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = HASH_OF_NOTHING;
    for (; *text; text++)
        hash = hash_on(hash, *text);
    return hash;
}

struct place place_here(void)
{
    char host[256] = "";
    struct place own;
    gethostname(host, sizeof host - 1);
    memset(&own, 0, sizeof own);
    own.host = hash_of(host);
    own.pid = getpid();
    look_at(own.pid, &own.started);
    return own;
}

/* The state of a process of this host; 0: it is gone, and if its number is in use again, by another one. */
static char state_at(const struct place *place)
{
    uint64_t started;
    char state = look_at(place->pid, &started);
    return state == 'Z' || state == 'X' || started != place->started ? 0 : state;
}

#define SPAWNER "RUNFLAT_SPAWNER"

void write_spawner(char variable[SPAWNER_MAX])
{
    struct place own = place_here();
    snprintf(variable, SPAWNER_MAX, SPAWNER "=%" PRIx64 " %d %" PRIu64, own.host, (int)own.pid,
             own.started);
}

bool is_spawned(void)
{
    return getenv(SPAWNER);
}

bool is_spawner_there(void)
{
    const char *text = getenv(SPAWNER);
    struct place spawner = {0};
    int pid = 0;
    if (!text ||
        sscanf(text, "%" SCNx64 " %d %" SCNu64, &spawner.host, &pid, &spawner.started) != 3)
        return true;
    spawner.pid = pid;
    return spawner.host != place_here().host || state_at(&spawner);
}

/* The next rank on this host after `rank` whose process is there; `rank` itself if there is no other. */
static int next_here(int rank)
{
    for (int step = 1; step < rf.size; step++) {
        int other = (rank + step) % rf.size;
        if (is_here(other) && state_at(&rf.place[other]))
            return other;
    }
    return rank;
}

/* Of another rank, or of this one if it is alone on its host. */
struct look {
    int rank;
    double stopped_since; /* 0: it is not */
};

static void look_at_neighbour(struct look *look, double allowed_s)
{
    /* It may have died, or another one been started between it and this one. */
    int next = next_here(rf.rank);
    if (next != look->rank)
        *look = (struct look){next, 0};
    char state = state_at(&rf.place[look->rank]);
    if (look->rank == rf.rank || !state) {
        look->stopped_since = 0;
    } else if (state != 'T') {
        look->stopped_since = 0;
    } else if (look->stopped_since == 0) {
        look->stopped_since = wall_s();
    } else if (wall_s() - look->stopped_since >= allowed_s - 0.1 && atomic_load(&watching)) {
        note_event_of("fenced", 1e3 * (wall_s() - look->stopped_since), "of", look->rank);
        kill(rf.place[look->rank].pid, SIGKILL);
        look->stopped_since = 0;
    }
}

static bool has_lost_neighbour(void)
{
    for (int rank = 0; rank < rf.size; rank++)
        if (is_here(rank) && !state_at(&rf.place[rank]))
            return true;
    return false;
}

/* After so many looks one after the other that found the queue half written, its writer is not just slow. */
enum { TORN_LOOKS = 15 };

/* From here on this process would receive nothing. */
static void end_torn(void)
{
    say("a process of this host died while it wrote to this one's receive queue in shared memory, "
        "which cannot be used any more: this process counts as failed");
    note_event_of("fenced", -1, "of", rf.rank);
    kill(getpid(), SIGKILL);
}

static void *watch(void *unused)
{
    (void)unused;
    double allowed_s = seconds_of("RUNFLAT_STOPPED_S", 1);
    struct timespec nap = {0, 100000000};
    struct look look = {next_here(rf.rank), 0};
    int half_written = 0;
    bool has_sentinel = false;
    while (atomic_load(&watching)) {
        /* It looks on when there are others again. */
        if (look.rank == rf.rank && !has_sentinel) {
            start_sentinel(rf.place[rf.rank].started, allowed_s);
            has_sentinel = true;
        }
        nanosleep(&nap, NULL);
        look_at_neighbour(&look, allowed_s);
        half_written = is_half_written() ? half_written + 1 : 0;
        if (half_written >= TORN_LOOKS && has_lost_neighbour() && atomic_load(&watching))
            end_torn();
    }
    return NULL;
}

void watch_neighbour(void)
{
    atomic_store(&watching, rf.size > 1);
    find_queue();
    if (rf.size > 1 && pthread_create(&watcher, NULL, watch, NULL) != 0)
        atomic_store(&watching, false);
}

void stop_watching(void)
{
    if (atomic_exchange(&watching, false))
        pthread_join(watcher, NULL);
    stop_sentinel();
}

void fence(int place)
{
    if (is_here(place) && state_at(&rf.place[place]))
        kill(rf.place[place].pid, SIGKILL);
}

/* Of those that live on this host, but for this process; returns how many. */
static int open_others(int *handles)
{
    int count = 0;
    for (int place = 0; place < rf.size; place++) {
        if (place == rf.rank || !is_here(place) || !state_at(&rf.place[place]))
            continue;
        int handle = (int)syscall(SYS_pidfd_open, rf.place[place].pid, 0);
        if (handle >= 0)
            handles[count++] = handle;
    }
    return count;
}

enum { TURN_MS = 50 };

static bool is_among(int handle, const int *handles, int count)
{
    for (int at = 0; at < count; at++)
        if (handles[at] == handle)
            return true;
    return false;
}

/* A child of a process with several threads: nothing but system calls. It ends as soon as they have. */
static void end_in_child(const int *handles, int count, int seconds)
{
    setsid();
    for (int handle = 0; handle < 4096; handle++)
        if (!is_among(handle, handles, count))
            close(handle);
    for (int at = 0, left_ms = 1000 * seconds; at < count && left_ms > 0; left_ms -= TURN_MS) {
        struct pollfd one = {handles[at], POLLIN, 0};
        at += poll(&one, 1, TURN_MS) > 0;
    }
    for (int at = 0; at < count; at++)
        syscall(SYS_pidfd_send_signal, handles[at], SIGKILL, NULL, 0);
    end_at_once(0);
}

void fence_others(int seconds)
{
    int *handles = rf.place ? malloc(sizeof *handles * (size_t)rf.size) : NULL;
    int count = handles ? open_others(handles) : 0;
    if (count > 0 && fork() == 0)
        end_in_child(handles, count, seconds);
    for (int at = 0; at < count; at++)
        close(handles[at]);
    free(handles);
}
