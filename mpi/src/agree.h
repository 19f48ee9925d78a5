/* Agreements that a revoke can interrupt.
 *
 * MPIX_Comm_agree waits for every live process, revoked or not. A process that has turned to a repair never comes, so
 * whoever waits for it must be told by the revoke. */
#ifndef RUNFLAT_AGREE_H
#define RUNFLAT_AGREE_H

#include <mpi.h>
#include <stdbool.h>

/* Agrees on the bitwise and of `flag` as MPIX_Comm_agree does; MPIX_ERR_REVOKED if the communicator is revoked before the
 * result is known here. It may be known elsewhere then; and the communicator must not be freed: the agreement is pending. */
int agree_unless_revoked(MPI_Comm comm, int *flag);

/* Whether a communicator is revoked, as far as is known here. */
bool is_revoked(MPI_Comm comm);

#endif
