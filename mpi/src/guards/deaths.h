/* Processes that have failed, as far as MPI knows here. */
#ifndef RUNFLAT_DEATHS_H
#define RUNFLAT_DEATHS_H

#include <mpi.h>
#include <stdbool.h>

/* Whether a process of a communicator is known to have failed. */
bool has_failures(MPI_Comm comm);

/* Marks those of the world that have failed in a list by rank; how many. */
int mark_dead(bool *dead);

/* Notes the failure of the process at a place as an event, once. */
void note_death(int place);

/* The same for each process of the world that MPI knows of. */
void note_deaths(void);

/* MPI learns here that a rank of a communicator has failed. */
void note_death_in(MPI_Comm comm, int rank);

/* Another process stands at a place now, which may fail too. */
void forget_death(int place);

#endif
