/* Ranks, spares, and who takes over from whom.
 *
 * Sources: Hori et al. 2016, "User-level vs. System-level" (spares in the job, kept out of its communicator); Bouteiller and
 * Bosilca 2022, Figure 1 (programs that cannot shrink need their ranks replaced). */
#ifndef RUNFLAT_SPARES_H
#define RUNFLAT_SPARES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether a call that all ranks make, on the communicator of the job, may be made: RF_Init has run and RF_End has not, and `comm` is
 * what the last repair gave. Else it says what is wrong. */
bool may_call(const char *call, MPI_Comm comm);

/* Says what is wrong with the use of a call; returns RF_ERR_ARGUMENT. */
int refuse(const char *call, const char *why);

/* A process parts with what was made from the communicator of the ranks, where others may wait for it: if the job has to be
 * repaired they are interrupted. false: it has to stay until the next repair, which interrupts it; whether one comes is not known here yet. */
bool may_part_from(MPI_Comm made);

/* Others have said of a call on a communicator that it failed: if that was made from the communicator of the ranks, there is more to come. */
void expect_news(MPI_Comm comm);

/* Whether it is the communicator of the ranks, which the library frees. */
bool is_of_job(MPI_Comm comm);

/* All processes of the job that are alive, as far as the last repair knows. */
MPI_Comm pool_of_job(void);

/* The ranks of the job, for messages of this library beside those of the program. */
MPI_Comm side_of_job(void);

/* Ends a job that RF_End has not ended: sleeping spares leave too. */
void release_spares(void);

#endif
