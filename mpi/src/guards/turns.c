#include "guards/turns.h"

#include "state.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_bool taken;
static atomic_int
    wanted; /* by threads that wait for a turn: who turns the engine again and again gives way to them */
static __thread int depth __attribute__((tls_model("initial-exec")));

static bool has_threads(void)
{
    return rf.threads == MPI_THREAD_MULTIPLE;
}

static bool try_turn(void)
{
    if (depth == 0 && atomic_exchange_explicit(&taken, true, memory_order_acquire))
        return false;
    depth++;
    return true;
}

static void leave_turn(void)
{
    if (--depth == 0)
        atomic_store_explicit(&taken, false, memory_order_release);
}

void begin_turn(void)
{
    if (!has_threads() || try_turn())
        return;
    atomic_fetch_add(&wanted, 1);
    while (!try_turn())
        sched_yield();
    atomic_fetch_sub(&wanted, 1);
}

void end_turn(void)
{
    if (depth > 0)
        leave_turn();
}

int pause_turn(void)
{
    int before = depth;
    if (before > 0) {
        depth = 1;
        leave_turn();
    }
    return before;
}

void resume_turn(int before)
{
    if (before > 0) {
        begin_turn();
        depth = before;
    }
}

/* Stands before Open MPI's own function of the name. */
__attribute__((visibility("default"))) int opal_progress(void)
{
    static int (*next)(void);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "opal_progress");
    if (!next)
        return 0;
    if (!has_threads())
        return next();
    if ((depth == 0 && atomic_load_explicit(&wanted, memory_order_relaxed) > 0) || !try_turn()) {
        sched_yield();
        return 0;
    }
    int events = next();
    leave_turn();
    return events;
}
