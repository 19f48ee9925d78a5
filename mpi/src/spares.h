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

/* Tells sleeping spares that the job is over; at a process that knows of none it does nothing. */
void release_spares(void);

#endif
