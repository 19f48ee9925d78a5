/* Failures that an operation does not run into by itself.
 *
 * MPI knows of failures from its runtime, out of band. Whenever Open MPI makes progress, in whatever call, that knowledge is
 * looked at, and each communicator of range `group` or `universe` into whose range a failure falls is revoked: what waits there comes
 * back with MPIX_ERR_REVOKED. */
#ifndef RUNFLAT_RANGE_H
#define RUNFLAT_RANGE_H

#include "modes/modes.h"

#include <stdbool.h>

/* Looks whenever MPI makes progress, from now on; false: this MPI has no place for it. */
bool begin_looking(void);
void end_looking(void);

/* Revokes the communicators into whose range a failure falls that was not known before. */
void look_for_failures(void);

/* The same for the processes of a communicator that are not in the one that it was shrunk to, which MPI may not have told of yet: they
 * do not interrupt what is made later. */
void tell_of_missing(MPI_Comm before, MPI_Comm now);

/* Revokes a communicator if one of its processes is known to have failed; one of range `universe` is not interrupted by failures that
 * were known before it had that range. */
void interrupt_if_hit(MPI_Comm comm, enum range range);

#endif
