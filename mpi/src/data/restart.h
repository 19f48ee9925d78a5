/* A job that begins again from what an earlier one has left in files. */
#ifndef RUNFLAT_RESTART_H
#define RUNFLAT_RESTART_H

#include <mpi.h>
#include <stdbool.h>

/* Whether the launch says so (RUNFLAT_RESTART). */
bool is_restart(void);

/* Brings each rank its copy of the last version of which all ranks have one; without such a version nothing comes. By all
 * processes of a pool, also those that will be spares: their hosts have files too. False: a failure, at all alike; `gate` is used
 * up then. */
bool bring_stored(MPI_Comm pool, MPI_Comm gate);

#endif
