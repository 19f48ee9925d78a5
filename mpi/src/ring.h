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

#endif
