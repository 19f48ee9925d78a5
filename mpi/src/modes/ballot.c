#include "modes/ballot.h"

#include "guards/lasting.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "modes/barrier.h"
#include "modes/uniform.h"
#include "requests/requests.h"
#include "state.h"

#include <stdatomic.h>
#include <stdlib.h>

struct ballot {
    MPI_Comm comm, copy;
    /* Calls that count here, twice, and whether calls are followed by barriers no more, since the agreement is under way: in one word,
     * so that a call counts, or is left to the agreement. */
    atomic_uint counted;
    atomic_bool posted; /* the agreement is under way */
    bool has_ended;     /* it has ended: calls up to `last` count */
    bool has_failed;    /* the call after `last` has been told of */
    bool has_met;       /* all have come together once: to see whether they have memory for it */
    struct barrier *barrier; /* NULL: it is Open MPI's */
    unsigned last;
    int votes;
    MPI_Request agreement;
};

enum { JOINED = 1, CALL = 2 };

/* Counts that differ by one are told apart by their remainders, in bits that `vote_on` leaves. */
enum { REMAINDERS = 4, SHIFT = FREE_VOTES, NO_TROUBLE = ~0 };

struct ballot *open_ballot_in(MPI_Comm copy, MPI_Comm comm)
{
    struct ballot *ballot = new_table(1, sizeof *ballot);
    PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    ballot->copy = copy;
    ballot->comm = comm;
    ballot->agreement = MPI_REQUEST_NULL;
    return ballot;
}

struct ballot *open_ballot(MPI_Comm comm)
{
    MPI_Comm copy = MPI_COMM_NULL;
    begin_making();
    int code = PMPI_Comm_dup(comm, &copy);
    code = settle_all(comm, end_making(code, &copy));
    return code == MPI_SUCCESS ? open_ballot_in(copy, comm) : NULL;
}

static bool has_joined(const struct ballot *ballot)
{
    return atomic_load(&ballot->counted) & JOINED;
}

bool is_open(const struct ballot *ballot)
{
    return !ballot->has_failed;
}

bool is_call_wanted(const struct ballot *ballot)
{
    return !has_joined(ballot);
}

/* Begins to take part in the agreement, once. */
static void join(struct ballot *ballot, int votes)
{
    unsigned before = atomic_fetch_or(&ballot->counted, JOINED);
    if (before & JOINED)
        return;
    ballot->votes = votes & ~(1 << (SHIFT + before / CALL % REMAINDERS));
    if (votes != NO_TROUBLE)
        PMPIX_Comm_revoke(ballot->copy);
    make_last(ballot->copy);
    iagree(ballot->copy, &ballot->votes, &ballot->agreement);
    atomic_store(&ballot->posted, true);
}

/* Who has gone well through its part of a call is in the barrier, which a revoke of the communicator does not end. */
void look_at_ballot(struct ballot *ballot)
{
    if (has_joined(ballot))
        return;
    if (is_revoked(ballot->comm))
        join(ballot, vote_on(MPIX_ERR_REVOKED));
    else if (is_revoked(ballot->copy))
        join(ballot, NO_TROUBLE);
}

/* Whether the agreement has ended; failures do not make what is agreed invalid. */
static bool has_decided(struct ballot *ballot)
{
    int done = 0;
    if (ballot->has_ended || !atomic_load(&ballot->posted))
        return ballot->has_ended;
    if (PMPI_Test(&ballot->agreement, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        return false;
    unsigned own = atomic_load(&ballot->counted) / CALL;
    bool is_ahead = !(ballot->votes >> (SHIFT + (own + 1) % REMAINDERS) & 1);
    ballot->last = own + is_ahead;
    return ballot->has_ended = true;
}

/* Waits for the agreement; false: the communicator was revoked meanwhile. */
static bool decide(struct ballot *ballot)
{
    double revoked_at = 0;
    for (unsigned tests = 1; !has_decided(ballot); tests++) {
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

/* The call counts, if this process has not joined the agreement meanwhile. */
static bool count_call(struct ballot *ballot)
{
    unsigned before = atomic_load_explicit(&ballot->counted, memory_order_relaxed);
    return !(before & JOINED) &&
           atomic_compare_exchange_strong(&ballot->counted, &before, before + CALL);
}

/* Comes out of it well if all have come. */
static int meet(struct ballot *ballot, bool must_hear)
{
    if (ballot->barrier)
        return wait_for_all(ballot->barrier, must_hear);
    if (ballot->has_met)
        return PMPI_Barrier(ballot->copy);
    ballot->has_met = true;
    return make_barrier(ballot->copy, &ballot->barrier);
}

int confirm(struct ballot *ballot, int code, bool is_barrier)
{
    if (code == MPI_SUCCESS && meet(ballot, is_barrier) == MPI_SUCCESS && count_call(ballot))
        return MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPIX_ERR_PROC_FAILED;
    code = meant_by(ballot->comm, code);
    join(ballot, vote_on(code));
    if (!decide(ballot)) {
        ballot->has_failed = true;
        return MPIX_ERR_REVOKED;
    }
    if (atomic_load(&ballot->counted) / CALL < ballot->last) {
        atomic_fetch_add(&ballot->counted, CALL);
        return MPI_SUCCESS;
    }
    ballot->has_failed = true;
    return told(ballot->comm, outcome_of(code, MPI_SUCCESS, ballot->votes));
}

void close_ballot(struct ballot *ballot)
{
    /* Somebody may still be in a call that counts here. */
    if (!is_revoked(ballot->comm))
        join(ballot, NO_TROUBLE);
    free_barrier(ballot->barrier);
    if (has_joined(ballot) && (is_revoked(ballot->comm) || !decide(ballot)))
        return; /* MPI may still write into it */
    if (!is_revoked(ballot->comm))
        free_made(&ballot->copy);
    free(ballot);
}
