#include "uniform.h"

#include "agree.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>

/* What processes agree on: bits that stay if all have them. */
enum { WENT_WELL = 1, NOT_REVOKED = 2, NO_OTHER_ERROR = 4 };

static int vote(int code)
{
    int class = error_class(code), votes = WENT_WELL | NOT_REVOKED | NO_OTHER_ERROR;
    if (code != MPI_SUCCESS)
        votes &= ~WENT_WELL;
    if (class == MPIX_ERR_REVOKED)
        votes &= ~NOT_REVOKED;
    if (code != MPI_SUCCESS && !is_failure(code))
        votes &= ~NO_OTHER_ERROR;
    return votes;
}

/* What follows from an agreement; an own error that is no failure is told as it is where it happened. */
static int outcome(int code, int agreed_code, int votes)
{
    if (!(votes & NOT_REVOKED) || agreed_code == MPIX_ERR_REVOKED)
        return MPIX_ERR_REVOKED;
    if (!(votes & NO_OTHER_ERROR))
        return code != MPI_SUCCESS && !is_failure(code) ? code : MPI_ERR_OTHER;
    return agreed_code != MPI_SUCCESS || !(votes & WENT_WELL) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

int settle_all(MPI_Comm comm, int code)
{
    int votes = vote(code), agreed = agree_unless_revoked(comm, &votes);
    return outcome(code, agreed, votes);
}

MPI_Errhandler hold_errors(MPI_Comm comm)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(comm, &handler);
    if (handler != MPI_ERRORS_RETURN)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

int release_errors(MPI_Comm comm, MPI_Errhandler handler, int code)
{
    if (handler != MPI_ERRORS_RETURN) {
        PMPI_Comm_set_errhandler(comm, handler);
        if (code != MPI_SUCCESS)
            PMPI_Comm_call_errhandler(comm, code);
    }
    PMPI_Errhandler_free(&handler);
    return code;
}

/* A non-blocking collective call on its way to an agreement. */
struct pending {
    MPI_Comm comm;
    MPI_Request call, agreement, own;
    int code, votes, agreed;
    bool given_up; /* the agreement may still write here */
    enum { CALLING, CALLED, AGREEING, AGREED } stage;
    struct pending *next; /* of those that are not agreed upon */
    struct pending *next_owned;
};

atomic_int agreeing_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, owned_lock = PTHREAD_MUTEX_INITIALIZER;

/* In the order in which they were posted; and all that are not waited for, in no order. */
static struct pending *first, *first_owned;

static int query(void *state, MPI_Status *status)
{
    const struct pending *own = state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return own->code;
}

static int release(void *state)
{
    struct pending *own = state, **at;
    pthread_mutex_lock(&owned_lock);
    for (at = &first_owned; *at != own; at = &(*at)->next_owned)
        ;
    *at = own->next_owned;
    pthread_mutex_unlock(&owned_lock);
    atomic_fetch_sub(&agreeing_count, 1);
    if (!own->given_up)
        free(own);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

int agree_after(MPI_Comm comm, int code, MPI_Request *request)
{
    struct pending *own = calloc(1, sizeof *own), **last;
    if (!own)
        return MPI_ERR_NO_MEM;
    own->comm = comm;
    own->code = code;
    if (code == MPI_SUCCESS)
        own->call = *request;
    else
        own->stage = CALLED;
    PMPI_Grequest_start(query, release, cancel, own, &own->own);
    *request = own->own;
    pthread_mutex_lock(&lock);
    for (last = &first; *last; last = &(*last)->next)
        ;
    *last = own;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&owned_lock);
    own->next_owned = first_owned;
    first_owned = own;
    pthread_mutex_unlock(&owned_lock);
    atomic_fetch_add(&agreeing_count, 1);
    return MPI_SUCCESS;
}

MPI_Comm owner_of(int count, const MPI_Request requests[])
{
    MPI_Comm owner = MPI_COMM_NULL;
    if (atomic_load_explicit(&agreeing_count, memory_order_relaxed) == 0)
        return owner;
    pthread_mutex_lock(&owned_lock);
    for (const struct pending *own = first_owned; own; own = own->next_owned)
        for (int at = 0; at < count && owner == MPI_COMM_NULL; at++)
            if (requests[at] == own->own)
                owner = own->comm;
    pthread_mutex_unlock(&owned_lock);
    return owner;
}

/* Whether an earlier one on the same communicator has not begun to agree: agreements begin in the order of the posts. */
static bool is_behind(const struct pending *own)
{
    for (const struct pending *other = first; other != own; other = other->next)
        if (other->comm == own->comm && other->stage < AGREEING)
            return true;
    return false;
}

static void advance(struct pending *own)
{
    int done = 0;
    if (own->stage == CALLING) {
        MPI_Errhandler handler = hold_errors(own->comm);
        own->code = PMPI_Test(&own->call, &done, MPI_STATUS_IGNORE);
        release_errors(own->comm, handler, MPI_SUCCESS);
        if (done || own->code != MPI_SUCCESS)
            own->stage = CALLED;
    }
    if (own->stage == CALLED && !is_behind(own)) {
        own->votes = vote(own->code);
        own->agreed = PMPIX_Comm_iagree(own->comm, &own->votes, &own->agreement);
        own->stage = own->agreed == MPI_SUCCESS ? AGREEING : AGREED;
    }
    if (own->stage == AGREEING) {
        own->agreed = PMPI_Test(&own->agreement, &done, MPI_STATUS_IGNORE);
        if (done || own->agreed != MPI_SUCCESS) {
            own->stage = AGREED;
        } else if (is_revoked(own->comm)) {
            own->agreed = MPIX_ERR_REVOKED;
            own->given_up = true;
            own->stage = AGREED;
        }
    }
}

void advance_agreements(void)
{
    /* An operation of one thread at a time; the others need not wait for it. */
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    for (struct pending **at = &first; *at;) {
        struct pending *own = *at;
        advance(own);
        if (own->stage != AGREED) {
            at = &own->next;
            continue;
        }
        own->code = outcome(own->code, error_class(own->agreed), own->votes);
        *at = own->next;
        PMPI_Grequest_complete(own->own);
    }
    pthread_mutex_unlock(&lock);
}
