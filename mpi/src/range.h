/* Failures that an operation does not run into by itself.
 *
 * MPI knows of failures from its runtime, out of band. While an operation on a communicator of range `group` or `universe`
 * waits, that knowledge is looked at, and the communicator revoked when a failure falls into its range: what waits comes
 * back with MPIX_ERR_REVOKED. */
#ifndef RUNFLAT_RANGE_H
#define RUNFLAT_RANGE_H

#include "modes.h"

/* Revokes the communicators into whose range a failure falls that was not known before. */
void look_for_failures(void);

/* Revokes a communicator if a failure that is known falls into its range. */
void interrupt_if_hit(MPI_Comm comm, enum range range);

#endif
