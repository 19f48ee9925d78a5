/* The last step of making a communicator: a barrier of all that make it, after which each may send in it.
 *
 * Open MPI 5.0 goes on where a failure has ended the barrier. Then a process uses a communicator that another one does not have, for
 * which the search for its number has failed. What is sent there is kept for whatever has that number next, and where that has fewer
 * processes than the sender's rank, Open MPI ends the process without a word. */
#ifndef RUNFLAT_ACTIVATION_H
#define RUNFLAT_ACTIVATION_H

#include <mpi.h>
#include <stdbool.h>

struct activation {
    MPI_Comm parent;
    MPI_Errhandler handler;
    MPI_Request barrier;
};

/* Before the step of a blocking call by all of `parent`. */
void begin_activation(struct activation *activation, MPI_Comm parent);

/* After it: its code, or the class of the failure that has ended its barrier here. `is_whole` is set then if this process is in the
 * communicator: it lasts. */
int end_activation(struct activation *activation, int code, MPI_Comm made, bool *is_whole);

/* Whether this process is in a communicator: those left out by MPI_Comm_split make one too, which has nothing to send with, and free it
 * soon. They have a rank there, but not in its group. */
bool is_member(MPI_Comm made);

#endif
