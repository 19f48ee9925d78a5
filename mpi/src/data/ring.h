/* The ranks of a communicator, as checkpoints see them. */
#ifndef RUNFLAT_RING_H
#define RUNFLAT_RING_H

#include <mpi.h>

struct ring {
    MPI_Comm comm;
    int size, own; /* in `comm` */
    int shift;     /* rank r keeps its second copy at r + shift */
    int *number;   /* by rank: its first number */
};

/* The ring of the ranks of the job, which `comm` has in their order. */
struct ring open_ring(MPI_Comm comm);
void close_ring(struct ring *ring);

/* The rank that keeps the second copy of a rank (direction 1), and the one whose second copy it keeps (-1). */
int partner(const struct ring *ring, int rank, int direction);

/* The number of what this rank keeps beside its own copy. */
int second_of(const struct ring *ring);

#endif
