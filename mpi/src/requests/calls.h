/* What calls on communicators are known by to all that make them, so that their messages are not taken for those of other calls.
 *
 * MPI uses the numbers of communicators again when they are freed, and news of a call that was given up may be read long after. So a
 * communicator has an identity: that of its parent, and how many were made from that one before, which is the same at all its processes
 * since all have a new one or none.
 *
 * Limits: communicators that other calls made (MPI_Comm_idup, MPIX_Comm_ishrink, a copy of an intercommunicator) are known by their number
 * alone, which comes again when they are freed; so are those of a repair, whose number does not (lasting.h). */
#ifndef RUNFLAT_CALLS_H
#define RUNFLAT_CALLS_H

#include <mpi.h>

/* A communicator was made from another one by all of it; MPI_COMM_NULL at who is not in it. */
void note_child(MPI_Comm parent, MPI_Comm made);

/* One was made in a call with a key. */
void note_made_by(MPI_Comm made, unsigned long key);

/* A communicator is freed. */
void forget_calls(MPI_Comm comm);

/* Stands for some ranks of the world and a tag. */
unsigned long key_of(const int *ranks, int count, int tag);

/* Stands for the next call of a kind on a communicator, at all that make it alike; `ranks` are those of the world that do. */
unsigned long key_of_call(MPI_Comm comm, const int *ranks, int count, int tag, int kind);

/* An even tag of this library's on the copy of the world. */
int tag_of(unsigned long key);

#endif
