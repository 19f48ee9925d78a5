/* A limit on every step of recovery: what takes too long ends in stacks and an abort, never in a hang. */
#ifndef RUNFLAT_BOUNDED_H
#define RUNFLAT_BOUNDED_H

/* Exit status of a process that was ended because a step took too long. */
enum { EXIT_STEP_LIMIT = 75 };

/* From here on until `end_step`, at most RUNFLAT_STEP_LIMIT_S seconds (60 without it). Steps do not nest. */
void begin_step(const char *step);
void end_step(void);

#endif
