/* Epochs: what Open MPI tells communicators of the same number apart by.
 *
 * Open MPI 5.0 gives a new communicator the highest of counts that its processes keep, and each then adds one to its own count, however
 * far the highest was ahead. When processes that have made the most communicators die, sleep or are not taken in, those that are left
 * come to the same numbers and epochs once more. A process that comes late to an agreement on the new one answers those that wait there
 * with the result of the old one, and waits for them for ever. Here each process's count comes up to the epochs that it has seen. */
#ifndef RUNFLAT_EPOCHS_H
#define RUNFLAT_EPOCHS_H

#include <mpi.h>

/* Learns where a communicator has its epoch, from some that this process makes alone. Before any other is made. */
void learn_epochs(void);

/* This process is in a communicator that is new. One at a time. */
void note_epoch(MPI_Comm made);

/* Brings the count of this process up to the epochs that were noted; while nothing else is being made, and news is held back. */
void catch_up_with_epochs(void);

#endif
