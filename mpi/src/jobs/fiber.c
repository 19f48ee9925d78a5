#include "jobs/fiber.h"

#include "guards/bounded.h"
#include "guards/fence.h"
#include "state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

__attribute__((weak)) int opal_progress_register_lp(int (*callback)(void));
__attribute__((weak)) int opal_progress_unregister(int (*callback)(void));

/* Of a fiber's stack, taken from the system only as far as it is used; and of the guard below it. */
enum { STACK = 1 << 20, GUARD = 1 << 14 };

struct fiber {
    void (*body)(void *state);
    void *state;
    char *stack;
    ucontext_t own, back;
    pthread_t thread;
    bool threaded, is_helper;
    int depth;               /* of callbacks, where it was resumed */
    _Atomic double deadline; /* 0: none yet */
    atomic_bool interrupted, ended;
    void *sanitizer; /* its fake stack, and the stack to go back to */
    const void *back_stack;
    size_t back_size;
};

/* The one that this thread is in, and how many callbacks, one inside the other. */
static __thread struct fiber *running;
static __thread int depth;

/* A process in MPI_Init, which there waits for the one that has spawned it. */
static struct fiber beginner = {.threaded = true};

/* Fibers that are interrupted and have not ended. */
static atomic_int interrupted;

struct fiber *fiber_here(void)
{
    if (!running && rf.begins && beginner.deadline == 0)
        set_deadline(&beginner, step_limit_s());
    return running ? running : rf.begins ? &beginner : NULL;
}

void set_deadline(struct fiber *fiber, double limit_s)
{
    fiber->deadline = wall_s() + limit_s;
}

bool has_deadline(const struct fiber *fiber)
{
    return fiber->deadline != 0;
}

bool is_overdue(const struct fiber *fiber)
{
    return fiber->deadline != 0 && wall_s() > fiber->deadline;
}

bool is_any_interrupted(void)
{
    return atomic_load(&interrupted) > 0;
}

/* Fibers that have neither ended nor been left. */
static int living;

/* The address sanitizer must be told of each change of stacks. */
static void tell_leaving(void **save, const void *stack, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(save, stack, size);
#else
    (void)save, (void)stack, (void)size;
#endif
}

static void tell_arrived(void *saved, const void **stack, size_t *size)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(saved, stack, size);
#else
    (void)saved, (void)stack, (void)size;
#endif
}

/* Back to who has resumed the fiber, until it does so again. */
void give_way(struct fiber *self)
{
    const struct timespec turn = {0, 100000};
    if (self->threaded) {
        nanosleep(&turn, NULL);
        return;
    }
    tell_leaving(&self->sanitizer, self->back_stack, self->back_size);
    swapcontext(&self->own, &self->back);
    tell_arrived(self->sanitizer, &self->back_stack, &self->back_size);
}

void begin_callback(void)
{
    depth++;
}

void end_callback(void)
{
    depth--;
}

/* Called by MPI when it makes progress. One that is left in the midst of a callback would have its locks for ever. */
static int look(void)
{
    if (running && !running->threaded && running->depth == depth)
        give_way(running);
    return 0;
}

static void enter(unsigned high, unsigned low)
{
    struct fiber *self = (struct fiber *)((uintptr_t)high << 32 | low);
    tell_arrived(NULL, &self->back_stack, &self->back_size);
    self->body(self->state);
    atomic_store(&self->ended, true);
    tell_leaving(NULL, self->back_stack, self->back_size);
    setcontext(&self->back);
}

static void *enter_thread(void *fiber)
{
    struct fiber *self = running = fiber;
    self->body(self->state);
    atomic_store(&self->ended, true);
    return NULL;
}

/* Of the helper that has ended last. */
static char *spare_stack;

static bool make_stack(struct fiber *fiber)
{
    fiber->stack = fiber->is_helper ? spare_stack : NULL;
    if (fiber->stack) {
        spare_stack = NULL;
    } else {
        void *place = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED)
            return false;
        mprotect(place, GUARD, PROT_NONE);
        fiber->stack = place;
    }
    uintptr_t self = (uintptr_t)fiber;
    getcontext(&fiber->own);
    fiber->own.uc_stack = (stack_t){.ss_sp = fiber->stack + GUARD, .ss_size = STACK};
    makecontext(&fiber->own, (void (*)(void))enter, 2, (unsigned)(self >> 32), (unsigned)self);
    return true;
}

static void drop_stack(struct fiber *fiber)
{
    if (fiber->is_helper && !spare_stack)
        spare_stack = fiber->stack;
    else
        munmap(fiber->stack, STACK + GUARD);
}

static void count_out(void)
{
    if (--living == 0)
        opal_progress_unregister(look);
}

static bool may_begin(struct fiber *fiber)
{
    if (!opal_progress_register_lp || (living == 0 && opal_progress_register_lp(look) != 0))
        return false;
    living++;
    if (fiber->threaded ? pthread_create(&fiber->thread, NULL, enter_thread, fiber) == 0
                        : make_stack(fiber))
        return true;
    count_out();
    return false;
}

static struct fiber *start(struct fiber like)
{
    struct fiber *fiber = calloc(1, sizeof *fiber);
    if (!fiber)
        return NULL;
    *fiber = like;
    if (fiber->is_helper ? make_stack(fiber) : may_begin(fiber))
        return fiber;
    free(fiber);
    return NULL;
}

struct fiber *start_fiber(void (*body)(void *state), void *state)
{
    return start((struct fiber){
        .body = body, .state = state, .threaded = rf.threads == MPI_THREAD_MULTIPLE});
}

struct fiber *start_helper(void (*body)(void *state), void *state)
{
    return start((struct fiber){
        .body = body, .state = state, .is_helper = true, .deadline = wall_s() + step_limit_s()});
}

bool is_any_alive(void)
{
    return living > 0;
}

static void run(struct fiber *fiber)
{
    void *sanitizer = NULL;
    struct fiber *before = running;
    running = fiber;
    fiber->depth = depth;
    tell_leaving(&sanitizer, fiber->stack + GUARD, STACK);
    swapcontext(&fiber->back, &fiber->own);
    tell_arrived(sanitizer, NULL, NULL);
    running = before;
}

bool resume_fiber(struct fiber *fiber)
{
    if (!fiber->threaded)
        run(fiber);
    if (!atomic_load(&fiber->ended))
        return false;
    atomic_fetch_sub(&interrupted, fiber->interrupted);
    if (fiber->threaded)
        pthread_join(fiber->thread, NULL);
    else
        drop_stack(fiber);
    if (!fiber->is_helper)
        count_out();
    free(fiber);
    return true;
}

void leave_fiber(struct fiber *fiber)
{
    if (fiber->threaded)
        pthread_detach(fiber->thread);
    count_out();
}

void interrupt_fiber(struct fiber *fiber)
{
    if (!atomic_exchange(&fiber->interrupted, true))
        atomic_fetch_add(&interrupted, 1);
}

bool may_wait(const struct fiber *self)
{
    bool is_interrupted = self->is_helper ? is_any_interrupted() : self->interrupted;
    bool is_alone = self == &beginner && !is_spawner_there();
    return !is_interrupted && !is_alone && !is_overdue(self);
}
