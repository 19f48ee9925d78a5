/* Error handlers of communicators, which are taken off while this library makes calls whose errors it has to look at first.
 *
 * Several threads may have taken off that of one communicator; the last puts it back.
 *
 * Limits: errors of calls of other threads on that communicator come back without a word to its handler meanwhile, and
 * MPI_Comm_get_errhandler there says MPI_ERRORS_RETURN. */
#ifndef RUNFLAT_HANDLERS_H
#define RUNFLAT_HANDLERS_H

#include <mpi.h>

/* Takes the error handler off a communicator, so that an error comes back before all know of it. */
MPI_Errhandler hold_errors(MPI_Comm comm);

/* Puts it back. */
void put_back_errors(MPI_Comm comm, MPI_Errhandler handler);

/* The same, and hands it what came of the call of that name, unless all went well. Returns the code. */
int release_errors(MPI_Comm comm, MPI_Errhandler handler, int code, const char *call);

/* Hands a code to the error handler of a communicator; a fatal one names the call. Returns the code. */
int raise_error(MPI_Comm comm, int code, const char *call);

/* Ends a call of that name on MPI_COMM_WORLD while spares sleep, see `sleeps_in`: says why, and raises MPI_ERR_COMM. */
int refuse_in_world(const char *call);

/* The error handler of a communicator, on or off; to be freed. */
MPI_Errhandler handler_of(MPI_Comm comm);

/* Gives a new communicator the error handler of another one. */
void inherit_handler(MPI_Comm from, MPI_Comm to);

/* Sets the error handler of a communicator, as the program asks for. */
int set_handler(MPI_Comm comm, MPI_Errhandler handler);

#endif
