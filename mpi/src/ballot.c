#include "ballot.h"

#include "agree.h"
#include "requests.h"
#include "state.h"
#include "uniform.h"
#include "young.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    OPEN,   /* calls are followed by barriers */
    JOINED, /* the agreement is under way */
    DECIDED /* it has ended: calls up to `last` count */
};

struct ballot {
    MPI_Comm comm, copy;
    atomic_int stage;
    bool has_failed;        /* the call after `last` has been told of */
    unsigned counted, last; /* calls that count here; that count */
    int votes;
    MPI_Request agreement;
    pthread_mutex_t lock; /* of `stage` and `counted` */
};

/* Counts that differ by one are told apart by their remainders, in bits above those of `vote_on`. */
enum { REMAINDERS = 4, SHIFT = 8, NO_TROUBLE = ~0 };

struct ballot *open_ballot(MPI_Comm comm)
{
    struct ballot *ballot = calloc(1, sizeof *ballot);
    begin_making();
    int code = PMPI_Comm_dup(comm, &ballot->copy);
    code = settle_all(comm, end_making(code, ballot->copy));
    if (code != MPI_SUCCESS) {
        free(ballot);
        return NULL;
    }
    PMPI_Comm_set_errhandler(ballot->copy, MPI_ERRORS_RETURN);
    ballot->comm = comm;
    ballot->agreement = MPI_REQUEST_NULL;
    pthread_mutex_init(&ballot->lock, NULL);
    return ballot;
}

bool is_open(const struct ballot *ballot)
{
    return !ballot->has_failed;
}

bool is_call_wanted(const struct ballot *ballot)
{
    return ballot->stage == OPEN;
}

/* Begins to take part in the agreement, once. */
static void join(struct ballot *ballot, int votes)
{
    pthread_mutex_lock(&ballot->lock);
    if (ballot->stage == OPEN) {
        ballot->votes = votes & ~(1 << (SHIFT + ballot->counted % REMAINDERS));
        /* First: MPI may make progress in these calls, and look here. */
        ballot->stage = JOINED;
        if (votes != NO_TROUBLE)
            PMPIX_Comm_revoke(ballot->copy);
        PMPIX_Comm_iagree(ballot->copy, &ballot->votes, &ballot->agreement);
    }
    pthread_mutex_unlock(&ballot->lock);
}

void look_at_ballot(struct ballot *ballot)
{
    if (ballot->stage == OPEN && is_revoked(ballot->copy))
        join(ballot, NO_TROUBLE);
}

/* Waits for the agreement; false: the communicator was revoked meanwhile. */
static bool decide(struct ballot *ballot)
{
    double revoked_at = 0;
    int done = 0;
    for (unsigned tests = 1; ballot->stage == JOINED; tests++) {
        /* Failures do not make what is agreed invalid. */
        if (PMPI_Test(&ballot->agreement, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) {
            bool is_ahead = !(ballot->votes >> (SHIFT + (ballot->counted + 1) % REMAINDERS) & 1);
            ballot->last = ballot->counted + is_ahead;
            ballot->stage = DECIDED;
        }
        if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
            advance_works();
        if (tests % 64 != 0 || !is_revoked(ballot->comm))
            continue;
        revoked_at = revoked_at > 0 ? revoked_at : wall_s();
        if (wall_s() >= revoked_at + PATIENCE_S)
            return false;
    }
    return true;
}

/* The call counts, if nobody has run into a failure so far as is known here. */
static bool count_call(struct ballot *ballot)
{
    pthread_mutex_lock(&ballot->lock);
    bool counts = ballot->stage == OPEN;
    ballot->counted += counts;
    pthread_mutex_unlock(&ballot->lock);
    return counts;
}

int confirm(struct ballot *ballot, int code)
{
    if (ballot->stage == OPEN && code == MPI_SUCCESS && PMPI_Barrier(ballot->copy) == MPI_SUCCESS && count_call(ballot))
        return MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPIX_ERR_PROC_FAILED;
    join(ballot, vote_on(code));
    if (!decide(ballot)) {
        ballot->has_failed = true;
        return MPIX_ERR_REVOKED;
    }
    if (ballot->counted < ballot->last) {
        ballot->counted++;
        return MPI_SUCCESS;
    }
    ballot->has_failed = true;
    return outcome_of(code, MPI_SUCCESS, ballot->votes);
}

void close_ballot(struct ballot *ballot)
{
    /* Somebody may still be in a call that counts here. */
    if (!is_revoked(ballot->comm))
        join(ballot, NO_TROUBLE);
    if (ballot->stage == JOINED && (is_revoked(ballot->comm) || !decide(ballot)))
        return; /* MPI may still write into it */
    if (!is_revoked(ballot->comm))
        free_made(&ballot->copy);
    pthread_mutex_destroy(&ballot->lock);
    free(ballot);
}
