/* The job of this process, for the files that begin it and that carry it on. */
#ifndef RUNFLAT_JOB_H
#define RUNFLAT_JOB_H

#include "spares/repair.h"

#include <mpi.h>
#include <stdbool.h>

extern struct job {
    bool running;   /* from RF_Init to RF_End */
    bool has_ended; /* there is one in a run of a program: spares do not begin another */
    bool repairing; /* a request of RF_Comm_irepair is under way */
    bool stop_when_exhausted, is_exhausted;
    MPI_Comm pool, gate, side, ranks;
    double
        news_until; /* on the steady clock, in s: when what a revoke may have told of is known here */
} job;

/* Says that a call was given no place for its communicator; returns RF_ERR_ARGUMENT. */
int refuse_no_place(const char *call);

/* Repairs pool and ranks; `ranks` is MPI_COMM_NULL at a process that is a spare afterwards. */
int repair_job(MPI_Comm *ranks);

/* The same for a repair that has begun. */
int finish_repair(struct repair *repair, MPI_Comm *ranks);

/* Notes that this process, a spare before, is a rank now. */
void note_take_over(void);

/* After RF_Init has made the ranks, or has failed: MPI_SUCCESS when this process is a rank, or the job has ended. */
int begin_job(int code, MPI_Comm *comm);

#endif
