/* Requests of this library: work that goes on in calls that test or wait for requests, and whenever MPI makes progress, in whatever
 * call: a blocking one must stay the call that it is, since others may have no such work beside theirs.
 *
 * There is no thread behind them: Open MPI 5.0's agreements are not safe against several. */
#ifndef RUNFLAT_REQUESTS_H
#define RUNFLAT_REQUESTS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

/* What is under way behind a request; the first member of a larger structure that `start_work` takes over. */
struct work {
    MPI_Comm owner; /* its error handler gets the errors */
    /* Goes on as far as is possible without waiting; true: ended, see `code`. */
    bool (*advance)(struct work *work);
    int code;
    bool kept; /* MPI may still write into the structure: it is never freed */
    /* No later agreement on `owner` may begin yet: their order is that of the posts at all processes. */
    bool early;
    const char *step; /* of a recovery: it takes no longer than the step limit; NULL: it may wait */

    /* Kept by requests.c. */
    MPI_Request request, owner_lasts;
    struct work *next, *next_started;
    double until;
};

/* Requests that have not been waited for. */
extern atomic_int works;

/* Takes over `work`, which was allocated with malloc; returns its request. */
MPI_Request start_work(struct work *work);

/* Goes on with all that is under way. */
void advance_works(void);

/* Whether one that was posted before on the same communicator is early. */
bool is_behind(const struct work *work);

/* Whether any on a communicator is early. Not for work itself. */
bool is_any_early(MPI_Comm owner);

/* Goes on until none on a communicator is early: what this process agrees on there now comes after them, as at all processes. In
 * work itself that is left to who posts it. */
void let_earlier_works_agree(MPI_Comm owner);

/* The communicator of the first of some requests that are ours; MPI_COMM_NULL: none is. */
MPI_Comm owner_of(int count, const MPI_Request requests[]);

#endif
