/* Ranks, spares, and who takes over from whom.
 *
 * Sources: Hori et al. 2016, "User-level vs. System-level" (spares in the job, kept out of its communicator); Bouteiller and
 * Bosilca 2022, Figure 1 (programs that cannot shrink need their ranks replaced). */
#ifndef RUNFLAT_SPARES_H
#define RUNFLAT_SPARES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether RF_Init has run and RF_End has not. */
bool job_runs(void);

/* All processes of the job that are alive, as far as the last repair knows. */
MPI_Comm pool_of_job(void);

/* The ranks of the job, for messages of this library beside those of the program. */
MPI_Comm side_of_job(void);

/* Ends a job that RF_End has not ended: sleeping spares leave too. */
void release_spares(void);

#endif
