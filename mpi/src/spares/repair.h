/* A repair, step by step without waiting: shrink the pool, end what agreements are pending, ask the policy who takes over, make the
 * gate, the communicator of the ranks and its copies, while the copies of checkpoints come home. A failure in its midst begins it again;
 * its steps are the same whoever has failed. */
#ifndef RUNFLAT_REPAIR_H
#define RUNFLAT_REPAIR_H

#include "data/homing.h"
#include "requests/build.h"
#include "requests/shrink.h"

#include <mpi.h>
#include <stdbool.h>

/* What is made of the pool, in this order: the gate; the communicator of the ranks, and at spares one of the spares; a copy of that for
 * checkpoints, and one for uniform calls if the ranks have them. */
enum { GATE, RANKS, SIDE, BALLOT, MADE_MAX };

struct repair {
    MPI_Comm *pool; /* of all that live; a smaller one takes its place */
    MPI_Comm *gate; /* a copy of the pool; a new one takes its place */
    MPI_Comm old;   /* of the ranks; MPI_COMM_NULL at a spare */
    MPI_Comm ranks; /* the new one; MPI_COMM_NULL at a spare */
    /* A copy of that for checkpoints beside the computation; a new one takes its place. */
    MPI_Comm *side;
    bool stop_when_exhausted, tell;
    bool refill; /* new processes are started for the dead, if any process wants that */
    enum { SHRINKING, VOTING, FINISHING, MAKING, LANDING, LEAVING } stage;
    bool may_free;
    int votes;
    MPI_Request vote;
    MPI_Comm next;
    struct shrink shrink;
    struct homing homing;
    bool brings; /* there are copies: they come home from MAKING to LANDING */
    struct build build;
    MPI_Comm made[MADE_MAX];
    int made_count, wanted; /* of those */
    double begin, shrink_begin;
};

/* Begins; all live processes of the pool do. `tell`: its phases and times are noted. */
void begin_repair(struct repair *repair, MPI_Comm *pool, MPI_Comm *gate, MPI_Comm *side,
                  MPI_Comm old, bool stop_when_exhausted, bool tell);

/* Begins at a process that has just joined the pool, where the others are by then; `votes` are theirs. */
void begin_joining(struct repair *repair, MPI_Comm *pool, MPI_Comm *gate, MPI_Comm *side,
                   bool stop_when_exhausted, int votes);

/* Goes on as far as is possible without waiting; true: ended, and `code` is MPI_SUCCESS or, at all processes alike,
 * RF_ERR_NO_SPARE. Starting processes is waited for. */
bool advance_repair(struct repair *repair, int *code);

/* Whether ranks have come to it to repair, and others to start new processes. The same at all. */
bool was_repaired_beside(const struct repair *repair);

#endif
