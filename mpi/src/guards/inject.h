/* Failures on purpose, for tests: a process kills or stops itself. */
#ifndef RUNFLAT_INJECT_H
#define RUNFLAT_INJECT_H

#include <stdbool.h>

/* Whether the launch asks for failures, at this process or another. */
bool are_injections_planned(void);

/* Reads RUNFLAT_KILL and RUNFLAT_STOP: "3@1.5,5@shrink+0.002,4@restore:2" is rank 3 after 1.5 s, rank 5 2 ms into its first shrink,
 * rank 4 when it restores for the second time; "node-of:3@1.5" the host of rank 3, with its daemon. */
void arm_injections(void);

/* Whether the copies that this process holds are to change now, which RUNFLAT_CORRUPT asks for: "3" or "3,5", ranks when
 * they need copies for the first time. */
bool is_corruption_due(void);

/* Says that a phase begins: "checkpoint", "shrink", "agree", "repair", "reload", "restore", "join", "finalize". */
void enter_phase(const char *phase);

#endif
