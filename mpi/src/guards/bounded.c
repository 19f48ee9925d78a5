#include "guards/bounded.h"

#include "guards/fence.h"
#include "settings.h"
#include "state.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What the launcher may take to end a job, in s. */
enum { ABORT_S = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* by a clock that nobody sets */
static const char *running;
static pthread_t runner;
static struct timespec deadline;
static unsigned long number;

static void print_stack(int signal)
{
    (void)signal;
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

void print_own_stack(void)
{
    print_stack(0);
}

double step_limit_s(void)
{
    return seconds_of("RUNFLAT_STEP_LIMIT_S", 300);
}

double steady_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void tell_of_limit(const char *step)
{
    say("`%s` took longer than %.0f s (RUNFLAT_STEP_LIMIT_S); the stack is:", step, step_limit_s());
}

void end_as_failure(void)
{
    fflush(NULL);
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

void end_at_once(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

/* Of a process that ends with a status the launcher tells nobody. */
__attribute__((noreturn)) static void end_job(void)
{
    note_event("step_limit", -1);
    fence_others(ABORT_S);
    end_at_once(EXIT_STEP_LIMIT);
}

void exceed(const char *step)
{
    tell_of_limit(step);
    print_own_stack();
    end_job();
}

static void give_up(void)
{
    int stack_signal = SIGRTMIN + 6;
    tell_of_limit(running);
    signal(stack_signal, print_stack);
    pthread_kill(runner, stack_signal);
    sleep(1);
    end_job();
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!running)
            pthread_cond_wait(&changed, &lock);
        unsigned long watched = number;
        struct timespec until = deadline;
        int late = 0;
        while (running && number == watched && !late)
            late = pthread_cond_timedwait(&changed, &lock, &until);
        if (running && number == watched)
            give_up();
    }
    return NULL;
}

static void *end(void *status)
{
    sleep(ABORT_S);
    end_at_once((int)(intptr_t)status);
}

void abort_soon(int status)
{
    pthread_t thread;
    fence_others(ABORT_S);
    if (pthread_create(&thread, NULL, end, (void *)(intptr_t)status) == 0)
        pthread_detach(thread);
}

void begin_step(const char *step)
{
    static bool started;
    pthread_mutex_lock(&lock);
    if (!started) {
        pthread_t thread;
        pthread_condattr_t steady;
        pthread_condattr_init(&steady);
        pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
        pthread_cond_init(&changed, &steady);
        started = pthread_create(&thread, NULL, watch, NULL) == 0;
        if (started)
            pthread_detach(thread);
    }
    running = step;
    runner = pthread_self();
    number++;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)step_limit_s() + 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

void end_step(void)
{
    pthread_mutex_lock(&lock);
    running = NULL;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}
