/* The end of what jobs have together.
 *
 * A message that has left its sender as far as MPI tells may still lie in the sender's memory, and is lost if it ends. Within a job all
 * wait for each other in MPI_Finalize; this is the same for jobs that have come together. */
#ifndef RUNFLAT_PARTING_H
#define RUNFLAT_PARTING_H

#include <mpi.h>
#include <stdbool.h>

/* A communicator with processes of other jobs is there. */
void note_joined(MPI_Comm comm);

/* It is being disconnected by all, until the next one is (MPI_COMM_NULL: none). */
void disconnect_joined(MPI_Comm comm);

/* Whether one is being disconnected, and whether some of its processes will never come to that, since a process has failed or somebody
 * has revoked it; then it is revoked. */
bool is_disconnecting(void);
bool disconnects_in_vain(void);

/* It is being freed here. Who has not seen it end may still have it, and part by it: MPI keeps it, and its number, until all its processes
 * have made another one. */
void rest_joined(MPI_Comm comm);

bool is_joined(MPI_Comm comm);

/* In MPI_Finalize: waits until the live processes of other jobs are there too, not longer than the step limit. */
void part(void);

#endif
