/* Ranks, spares, and who takes over from whom.
 *
 * Sources: Hori et al. 2016, "User-level vs. System-level" (spares in the job, kept out of its communicator); Bouteiller and
 * Bosilca 2022, Figure 1 (programs that cannot shrink need their ranks replaced). */
#ifndef RUNFLAT_SPARES_H
#define RUNFLAT_SPARES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether RF_Init has run and RF_End has not. */
bool job_runs(void);

/* The ranks of the communicator of the job as they were numbered at the beginning, in order; `ranks` has room for as many as
 * it has processes. They are the same numbers as now unless ranks were lost. */
void first_numbers(int *ranks);

/* The process in the world that stands for a rank by its first number. */
int process_of(int rank);

/* Tells sleeping spares that the job is over; at a process that knows of none it does nothing. */
void release_spares(void);

#endif
