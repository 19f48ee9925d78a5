#include "modes/uniform.h"

#include "guards/deaths.h"
#include "guards/lasting.h"
#include "modes/agree.h"
#include "requests/requests.h"
#include "runflat.h"
#include "spares/spares.h"
#include "state.h"

#include <stdlib.h>

/* What processes agree on: bits that stay if all have them. */
enum { WENT_WELL = 1, NOT_REVOKED = 2, NO_OTHER_ERROR = 4 };

/* The digits of the class of another error, and above them what each is not: of classes that differ a digit is out in both. */
enum {
    CLASS_DIGITS = 9,
    CLASS_AT = FREE_VOTES + 4,
    INVERSE_AT = CLASS_AT + CLASS_DIGITS,
    ALL_DIGITS = (1 << CLASS_DIGITS) - 1
};

/* The class that all who have another error have, by the votes; MPI_ERR_OTHER: they have different ones. */
static int class_in(int votes)
{
    int digits = votes >> CLASS_AT & ALL_DIGITS, inverse = votes >> INVERSE_AT & ALL_DIGITS;
    return (digits ^ inverse) == ALL_DIGITS ? digits : MPI_ERR_OTHER;
}

int vote_on(int code)
{
    int class = error_class(code), votes = ~0;
    if (code != MPI_SUCCESS)
        votes &= ~WENT_WELL;
    if (class == MPIX_ERR_REVOKED)
        votes &= ~NOT_REVOKED;
    if (code == MPI_SUCCESS || is_failure(code))
        return votes;
    votes &= ~NO_OTHER_ERROR;
    if (class > 0 && class <= ALL_DIGITS)
        votes &= ~(((ALL_DIGITS ^ class) << CLASS_AT) | class << INVERSE_AT);
    return votes;
}

/* An own error that is no failure is told as it is where it happened. After a failure it may have come of that, which the process did not
 * know; if not, it is there again after the repair. */
int outcome_of(int code, int agreed, int votes)
{
    if (!(votes & NOT_REVOKED) || agreed == MPIX_ERR_REVOKED)
        return MPIX_ERR_REVOKED;
    if (agreed != MPI_SUCCESS)
        return MPIX_ERR_PROC_FAILED;
    if (!(votes & NO_OTHER_ERROR))
        return code != MPI_SUCCESS && !is_failure(code) ? code : class_in(votes);
    return !(votes & WENT_WELL) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

bool may_mean_failure(int code)
{
    int class = error_class(code);
    return class == MPI_ERR_OTHER || class == MPI_ERR_UNKNOWN || class == MPI_ERR_INTERN ||
           class == MPI_ERR_IN_STATUS;
}

int meant_by(MPI_Comm comm, int code)
{
    if (!may_mean_failure(code))
        return code;
    if (is_revoked(comm))
        return MPIX_ERR_REVOKED;
    return has_failures(comm) ? MPIX_ERR_PROC_FAILED : code;
}

int told(MPI_Comm comm, int code)
{
    if (is_failure(code))
        expect_news(comm);
    return code;
}

int settle_all(MPI_Comm comm, int code)
{
    return settle_all_or_call(comm, code, NULL, NULL);
}

int settle_all_or_call(MPI_Comm comm, int code, void (*late)(void *context), void *context)
{
    code = meant_by(comm, code);
    int votes = vote_on(code), agreed = agree_or_call(comm, &votes, late, context);
    return told(comm, outcome_of(code, agreed, votes));
}

/* A non-blocking collective call on its way to an agreement. */
struct settling {
    struct work work;
    MPI_Request call, agreement;
    int votes, agreed;
    double revoked_at;
    enum { CALLING, CALLED, AGREEING, AGREED } stage;
};

static void wait_for_call(struct settling *own)
{
    int done = 0;
    MPI_Errhandler handler = hold_errors(own->work.owner);
    own->work.code = PMPI_Test(&own->call, &done, MPI_STATUS_IGNORE);
    put_back_errors(own->work.owner, handler);
    if (done || own->work.code != MPI_SUCCESS)
        own->stage = CALLED;
}

static void wait_for_agreement(struct settling *own)
{
    int done = 0;
    MPI_Errhandler handler = hold_errors(own->work.owner);
    own->agreed = PMPI_Test(&own->agreement, &done, MPI_STATUS_IGNORE);
    put_back_errors(own->work.owner, handler);
    if (done || own->agreed != MPI_SUCCESS) {
        own->stage = AGREED;
    } else if (is_revoked(own->work.owner) && own->revoked_at == 0) {
        own->revoked_at = wall_s();
        make_last(own->work.owner);
    } else if (own->revoked_at > 0 && wall_s() >= own->revoked_at + PATIENCE_S) {
        own->agreed = MPIX_ERR_REVOKED;
        own->work.kept = true;
        own->stage = AGREED;
    }
}

static bool advance(struct work *work)
{
    struct settling *own = (struct settling *)work;
    if (own->stage == CALLING)
        wait_for_call(own);
    if (own->stage == CALLED && !is_behind(work)) {
        work->code = meant_by(work->owner, work->code);
        own->votes = vote_on(work->code);
        own->agreed = iagree(work->owner, &own->votes, &own->agreement);
        own->stage = own->agreed == MPI_SUCCESS ? AGREEING : AGREED;
        work->early = false;
    }
    if (own->stage == AGREEING)
        wait_for_agreement(own);
    if (own->stage != AGREED)
        return false;
    work->code = told(work->owner, outcome_of(work->code, error_class(own->agreed), own->votes));
    return true;
}

int agree_after(MPI_Comm comm, int code, MPI_Request *request)
{
    struct settling *own = calloc(1, sizeof *own);
    if (!own)
        return MPI_ERR_NO_MEM;
    own->work = (struct work){.owner = comm, .advance = advance, .code = code, .early = true};
    if (code == MPI_SUCCESS)
        own->call = *request;
    else
        own->stage = CALLED;
    *request = start_work(&own->work);
    return MPI_SUCCESS;
}
