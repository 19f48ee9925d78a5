/* A limit on every step of recovery: what takes too long ends in stacks and an abort, never in a hang. */
#ifndef RUNFLAT_BOUNDED_H
#define RUNFLAT_BOUNDED_H

/* Exit status of a process that was ended because a step took too long. */
enum { EXIT_STEP_LIMIT = 75 };

/* Ends the others of this host and the process, this with a status, some seconds from now, whatever they do. */
void abort_soon(int status);

/* Ends the process so that the launcher tells the others, which it does not for one that ends with a status of its own. */
void end_as_failure(void) __attribute__((noreturn));

/* Ends the process, whatever the C library and this one do at an end. */
void end_at_once(int status) __attribute__((noreturn));

/* Writes the stack of this thread to stderr. */
void print_own_stack(void);

/* What a step may take: RUNFLAT_STEP_LIMIT_S, or 300 s: a step waits for ranks that compute. */
double step_limit_s(void);

/* From here on until `end_step`, at most as long. Steps do not nest. */
void begin_step(const char *step);
void end_step(void);

/* Seconds of a clock that nobody sets. */
double steady_s(void);

/* The same for a step that is a request and has taken too long: ends this process. */
void exceed(const char *step) __attribute__((noreturn));

#endif
