/* What waits for the launcher inside a fiber, and inside MPI_Init of a process that was spawned.
 *
 * The calls of PMIx that wait do so outside of MPI's progress engine, and for ever if a process dies that was to answer. This library
 * stands before them: in a fiber they are made in a thread meanwhile, and given up when their time is up. Elsewhere they are made as
 * they are.
 *
 * Some are made by the steps of a communicator that is being made, whoever turns the progress engine, and no other such step can
 * be taken meanwhile. While fibers live, each step runs in a helper, and one that waits is put back in the row. */
#include "guards/bounded.h"
#include "guards/fence.h"
#include "guards/turns.h"
#include "jobs/fiber.h"
#include "jobs/parting.h"
#include "requests/steps.h"
#include "settings.h"
#include "state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

/* What PMIx says. */
enum {
    PMIX_SUCCESS = 0,
    PMIX_ERR_TIMEOUT = -24,
    PMIX_ERR_NOMEM = -32,
    PMIX_ERR_NOT_FOUND = -46,
    PMIX_ERR_NOT_SUPPORTED = -47
};

/* Between two lookups, in s: the first pause, and the longest. */
#define LOOK_AGAIN_S 0.001
#define LOOK_AGAIN_MAX_S 0.016

/* How long a partner at a port is waited for, in s, as in Open MPI. */
#define MEET_S 600

/* A call of the launcher's library that waits: two arrays with their lengths, one more argument, and what it finds. */
struct call {
    int (*make)(struct call *call);
    void *function;
    const void *first, *second;
    size_t first_count, second_count;
    char *third;
    void *found;
    int result;
    bool may_be_left;
    atomic_bool ended; /* or left: who comes second frees it */
};

static void *make_call(void *state)
{
    struct call *call = state;
    call->result = call->make(call);
    if (atomic_exchange(&call->ended, true))
        free(call);
    return NULL;
}

static void rest(struct fiber *self)
{
    const struct timespec turn = {0, 100000};
    if (self) {
        give_way(self);
        return;
    }
    if (is_disconnecting())
        opal_progress();
    nanosleep(&turn, NULL);
}

static bool is_wanted(struct fiber *self)
{
    if (self)
        return may_wait(self);
    return is_disconnecting() ? !disconnects_in_vain() : is_spawner_there();
}

/* In a thread, while the fiber gives way or, where there is none, this one rests, as long as those are there that it waits for: the process
 * that has spawned this one, or all of a communicator that is disconnected. A call that may be left before its end goes on at least for a second: then the launcher has been asked, and the arguments are not
 * looked at any more. */
static int make_aside(struct fiber *self, struct call *call)
{
    pthread_t thread;
    struct call *own = malloc(sizeof *own);
    double begin = wall_s();
    if (!own)
        return PMIX_ERR_NOMEM;
    *own = *call;
    if (pthread_create(&thread, NULL, make_call, own) != 0) {
        free(own);
        return PMIX_ERR_NOMEM;
    }
    pthread_detach(thread);
    int depth = pause_turn();
    while (!atomic_load(&own->ended) &&
           (!own->may_be_left || wall_s() < begin + 1 || is_wanted(self)))
        rest(self);
    resume_turn(depth);
    if (!atomic_exchange(&own->ended, true))
        return PMIX_ERR_TIMEOUT;
    *call = *own;
    free(own);
    return call->result;
}

static bool find_function(struct call *call, const char *name)
{
    call->function = dlsym(RTLD_NEXT, name);
    return call->function;
}

/* Made as it is where nothing gives way. */
static int make(const char *name, struct call call)
{
    if (!find_function(&call, name))
        return PMIX_ERR_NOT_SUPPORTED;
    struct fiber *self = fiber_here();
    int depth = pause_turn(), result = self ? make_aside(self, &call) : call.make(&call);
    resume_turn(depth);
    return result;
}

static int make_with_three(struct call *call)
{
    int (*function)(const void *, size_t, const void *, size_t, char *);
    *(void **)&function = call->function;
    return function(call->first, call->first_count, call->second, call->second_count, call->third);
}

static int make_with_two(struct call *call)
{
    int (*function)(const void *, size_t, const void *, size_t);
    *(void **)&function = call->function;
    return function(call->first, call->first_count, call->second, call->second_count);
}

static int make_with_one(struct call *call)
{
    int (*function)(const void *, size_t);
    *(void **)&function = call->function;
    return function(call->first, call->first_count);
}

/* With two arguments, an array, and a place for what is found. */
static int make_question(struct call *call)
{
    int (*function)(const void *, const char *, const void *, size_t, void **);
    *(void **)&function = call->function;
    return function(call->first, call->third, call->second, call->second_count, &call->found);
}

/* There is a partner: from here on it is to be quick. */
static void wait_for_partner(void)
{
    struct fiber *self = fiber_here();
    if (self)
        set_deadline(self, step_limit_s());
}

/* The calls of PMIx in which MPI_Comm_spawn, MPI_Comm_connect and MPI_Comm_accept wait. */

EXPORTED int PMIx_Spawn(const void *info, size_t info_count, const void *programs,
                        size_t program_count, char *name)
{
    struct call call = {.make = make_with_three,
                        .first = info,
                        .first_count = info_count,
                        .second = programs,
                        .second_count = program_count,
                        .third = name};
    int result = make(__func__, call);
    wait_for_partner();
    return result;
}

/* A call in which processes wait for each other. */
static struct call meeting_of(const void *processes, size_t process_count, const void *info,
                              size_t info_count)
{
    return (struct call){.make = make_with_two,
                         .first = processes,
                         .first_count = process_count,
                         .second = info,
                         .second_count = info_count,
                         .may_be_left = true};
}

EXPORTED int PMIx_Connect(const void *processes, size_t process_count, const void *info,
                          size_t info_count)
{
    wait_for_partner();
    return make(__func__, meeting_of(processes, process_count, info, info_count));
}

/* All processes of a communicator that is disconnected wait for each other in here, for ever if one has died or does not come. What is
 * left to do then each does for itself. */
EXPORTED int PMIx_Fence(const void *processes, size_t process_count, const void *info,
                        size_t info_count)
{
    struct call call = meeting_of(processes, process_count, info, info_count);
    if (!find_function(&call, __func__))
        return PMIX_ERR_NOT_SUPPORTED;
    if (!is_disconnecting())
        return make_with_two(&call);
    int result = make_aside(NULL, &call);
    return disconnects_in_vain() ? PMIX_SUCCESS : result;
}

EXPORTED int PMIx_Publish(const void *info, size_t info_count)
{
    return make(__func__,
                (struct call){.make = make_with_one, .first = info, .first_count = info_count});
}

/* Where a process is. Open MPI asks that of one that it is to connect to, or that connects to it; of a parent that has ended meanwhile the
 * launcher does not tell any more. It holds locks meanwhile: no fiber gives way. */
EXPORTED int PMIx_Get(const void *process, const char *key, const void *info, size_t info_count,
                      void **value)
{
    struct call call = {.make = make_question,
                        .first = process,
                        .second = info,
                        .second_count = info_count,
                        .third = (char *)key,
                        .found = value ? *value : NULL,
                        .may_be_left = true};
    if (!find_function(&call, __func__))
        return PMIX_ERR_NOT_SUPPORTED;
    int result = is_spawned() ? make_aside(NULL, &call) : make_question(&call);
    if (value)
        *value = call.found;
    return result;
}

/* Gives way for a time. */
static void pause_fiber(struct fiber *self, double pause_s)
{
    for (double until = wall_s() + pause_s; wall_s() < until && may_wait(self);)
        give_way(self);
}

/* A fiber asks again and again, since what waits in the launcher cannot be interrupted; without `info` a lookup does not wait. The
 * first that finds something has found the partner. */
EXPORTED int PMIx_Lookup(void *data, size_t data_count, const void *info, size_t info_count)
{
    struct fiber *self = fiber_here();
    struct call call = {.make = make_with_two,
                        .first = data,
                        .first_count = data_count,
                        .second = info,
                        .second_count = info_count};
    double pause_s = LOOK_AGAIN_S;
    int result;
    if (!self && !is_any_interrupted())
        return make(__func__, call);
    call.second = NULL;
    call.second_count = 0;
    /* It belongs to a call that has been left. */
    if (!self)
        return make(__func__, call);
    if (!has_deadline(self))
        set_deadline(self, seconds_of("RUNFLAT_MEET_S", MEET_S));
    while ((result = make(__func__, call)) == PMIX_ERR_NOT_FOUND) {
        pause_fiber(self, pause_s);
        if (!may_wait(self)) {
            if (rf.begins)
                say("the process that has spawned this one is dead, or does not answer");
            return PMIX_ERR_TIMEOUT;
        }
        pause_s = pause_s < LOOK_AGAIN_MAX_S ? 2 * pause_s : pause_s;
    }
    wait_for_partner();
    return result;
}

/* A step in a helper. Those of a request come one after the other. */
struct step {
    void *request;
    int (*take)(void *request);
    struct fiber *helper; /* NULL: not begun */
    int code;
    struct step *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct step *steps;

typedef int append_function(void *request, int (*take)(void *request), MPI_Request parts[],
                            int count, uint32_t flags);

static append_function *next_append(void)
{
    static append_function *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_request_schedule_append_w_flags");
    return next;
}

static void add_step(struct step *step)
{
    pthread_mutex_lock(&lock);
    struct step **last = &steps;
    while (*last)
        last = &(*last)->next;
    *last = step;
    pthread_mutex_unlock(&lock);
}

/* The first step of a request; NULL: none. */
static struct step *first_step(const void *request)
{
    pthread_mutex_lock(&lock);
    struct step *step = steps;
    while (step && step->request != request)
        step = step->next;
    pthread_mutex_unlock(&lock);
    return step;
}

static void drop_step(struct step *step)
{
    pthread_mutex_lock(&lock);
    struct step **at = &steps;
    while (*at != step)
        at = &(*at)->next;
    *at = step->next;
    pthread_mutex_unlock(&lock);
    free(step);
}

static void take_step(void *state)
{
    struct step *step = state;
    step->code = step->take(step->request);
}

/* What Open MPI calls instead of a step. */
static int go_on(void *request)
{
    struct step *step = first_step(request);
    if (!step->helper)
        step->helper = start_helper(take_step, step);
    if (!step->helper)
        take_step(step);
    else if (!resume_fiber(step->helper))
        return next_append()(request, go_on, NULL, 0, 0);
    int code = step->code;
    drop_step(step);
    /* After an error the rest is not taken. */
    while (code != MPI_SUCCESS && (step = first_step(request)))
        drop_step(step);
    return code;
}

EXPORTED int ompi_comm_request_schedule_append_w_flags(void *request, int (*take)(void *request),
                                                       MPI_Request parts[], int count,
                                                       uint32_t flags)
{
    struct step *step = take && is_any_alive() ? malloc(sizeof *step) : NULL;
    if (!step)
        return next_append()(request, take, parts, count, flags);
    *step = (struct step){.request = request, .take = take};
    add_step(step);
    return next_append()(request, go_on, parts, count, flags);
}
