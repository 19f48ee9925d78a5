/* Processes of several jobs that come together: spawned, or connected over a port.
 *
 * The calls of MPI wait, and in Open MPI 5.0 they wait for ever if a process dies in their midst. Here they are requests: a
 * private copy of the communicator without its dead, MPI's own call on it in a fiber, which is left if somebody dies, and an
 * agreement, so that all have the new communicator or none. The calls that wait are these requests waited for;
 * MPI_Intercomm_create with processes of other jobs is one of them.
 *
 * Source: Bouteiller and Bosilca 2022, Figure 2 ("asynchronous dynamic processes"). */
#ifndef RUNFLAT_DYNAMIC_H
#define RUNFLAT_DYNAMIC_H

#include <mpi.h>

/* MPI_Intercomm_create where not all processes are of this world: all of this side have the new communicator, or none. The other side
 * agrees on its own; the leaders tell each other over `between`, and a revoke of that interrupts the call. */
int create_between_jobs(MPI_Comm comm, int leader, MPI_Comm between, int other, int tag,
                        MPI_Comm *made);

#endif
