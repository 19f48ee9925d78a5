/* Waiting that sees failures and goes on with agreements. */
#ifndef RUNFLAT_COMPLETION_H
#define RUNFLAT_COMPLETION_H

#include <mpi.h>

/* MPI_Wait, with an eye on failures and on agreements that are under way. */
int wait_watching(MPI_Request *request, MPI_Status *status);

#endif
