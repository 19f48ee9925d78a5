/* Shrinking without waiting.
 *
 * Source: Bouteiller and Bosilca 2022, Section III-C. */
#ifndef RUNFLAT_SHRINK_H
#define RUNFLAT_SHRINK_H

#include "requests/build.h"

#include <mpi.h>
#include <stdbool.h>

/* Processes agree on who is dead, then the live ones make a communicator; a failure meanwhile begins it again. */
struct shrink {
    MPI_Comm comm, made;
    MPI_Group alive;
    MPI_Request agreement;
    int vote, votes;
    bool building;
    struct build build;
};

/* Begins; failures that are known are acknowledged on `comm`. All live processes of `comm` do, and start no agreement of their
 * own there until it has ended. */
void begin_shrink(struct shrink *shrink, MPI_Comm comm);

/* Goes on as far as is possible without waiting; true: ended, and `code` is MPI_SUCCESS or, if MPI cannot, another class. */
bool advance_shrink(struct shrink *shrink, int *code);

/* Shrinks, and waits for it. */
void shrink_now(MPI_Comm comm, MPI_Comm *made);

#endif
