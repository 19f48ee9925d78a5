/* Communicators made without waiting, also where processes of the parent are dead.
 *
 * Open MPI 5.0 has no call for it. But its own creating calls are three steps that do not wait and that its library exports
 * (group, number, activation); with agreements in place of all-reduces they are the ones of MPIX_Comm_shrink. */
#ifndef RUNFLAT_BUILD_H
#define RUNFLAT_BUILD_H

#include <mpi.h>
#include <stdbool.h>

struct build {
    MPI_Comm parent, made;
    MPI_Request step;
    enum { GROUPING, NUMBERING, ACTIVATING, BUILT } stage;
};

/* Whether this MPI has the steps. */
bool can_build(void);

/* Begins to make a communicator of `group`, to which this process belongs. All live processes of `parent` begin, each with its
 * own group; processes with the same group are in one communicator. Returns an error class. */
int begin_build(struct build *build, MPI_Comm parent, MPI_Group group);

/* The same of all of `parent`, with its topology. */
int begin_copy(struct build *build, MPI_Comm parent);

/* Goes on as far as is possible without waiting; true: ended, and `code` is MPI_SUCCESS (take `made`) or, at all processes
 * alike, the class of a failure. */
bool advance_build(struct build *build, int *code);

/* Leaves one that others may never come to. MPI may still write into it, and the parent must not be freed. */
void leave_build(struct build *build);

#endif
