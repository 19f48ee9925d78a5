/* Calls of MPI that wait, made beside the program: each on a stack of its own, and gives way wherever MPI waits.
 *
 * Open MPI's waits turn its progress engine, which calls back in here; those for its launcher (launcher.c) ask in here too. So a
 * call that only exists as one that waits can go on behind a request, several at once, in any order; and one that will never end,
 * since a process is dead, can be left. If MPI was begun for several threads, a fiber is a thread. */
#ifndef RUNFLAT_FIBER_H
#define RUNFLAT_FIBER_H

#include <stdbool.h>

struct fiber;

/* Begins to call `body`, in the first `resume_fiber`; NULL: this MPI gives no way, or there is no memory. */
struct fiber *start_fiber(void (*body)(void *state), void *state);

/* The same for a short piece of a call that is made where any of them, or the program, makes progress: never a thread, and
 * interrupted when any fiber is. */
struct fiber *start_helper(void (*body)(void *state), void *state);

/* Goes on as far as is possible without waiting; true: `body` has returned, and the fiber is gone. */
bool resume_fiber(struct fiber *fiber);

/* Whether its time is up. */
bool is_overdue(const struct fiber *fiber);

/* What waits for the launcher in there ends with an error, now and from now on. */
void interrupt_fiber(struct fiber *fiber);

/* Whether one is interrupted that has not ended; those that are left never do. */
bool is_any_interrupted(void);

/* Whether there are any that have neither ended nor been left, helpers not counted. */
bool is_any_alive(void);

/* Leaves one that has not ended where it is, for ever, with what it uses. */
void leave_fiber(struct fiber *fiber);

/* Around what the library does where MPI calls it back in the midst of its waits: there no fiber gives way. */
void begin_callback(void);
void end_callback(void);

/* For what waits inside a fiber: the one that gives way here, NULL if there is none; its time is up so many seconds from now; gives
 * way once; whether it may go on waiting. */
struct fiber *fiber_here(void);
void set_deadline(struct fiber *fiber, double limit_s);
bool has_deadline(const struct fiber *fiber);
void give_way(struct fiber *self);
bool may_wait(const struct fiber *self);

#endif
