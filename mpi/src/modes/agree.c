#include "modes/agree.h"

#include "guards/inject.h"
#include "guards/lasting.h"
#include "guards/turns.h"
#include "modes/uniform.h"
#include "requests/requests.h"
#include "runflat.h"
#include "state.h"

#include <stdlib.h>

bool is_revoked(MPI_Comm comm)
{
    int revoked = 0;
    PMPIX_Comm_is_revoked(comm, &revoked);
    return revoked;
}

bool is_alone(MPI_Comm comm)
{
    int size, is_inter;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_test_inter(comm, &is_inter);
    return size == 1 && !is_inter;
}

int iagree(MPI_Comm comm, int *flag, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL; /* which has ended */
    if (is_alone(comm))
        return MPI_SUCCESS;
    begin_turn();
    int code = PMPIX_Comm_iagree(comm, flag, request);
    end_turn();
    return code;
}

int agree_waiting(MPI_Comm comm, int *flag)
{
    MPI_Request request;
    if (rf.threads != MPI_THREAD_MULTIPLE || is_between(comm))
        return PMPIX_Comm_agree(comm, flag);
    int code = iagree(comm, flag, &request);
    return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/* The communicator of the job, how many agreements this process has taken part in there, and the one that is pending. */
static MPI_Comm counted = MPI_COMM_NULL;
static unsigned joined;
static MPI_Request pending = MPI_REQUEST_NULL;
static double joined_at;

/* Counts that differ by one are told apart by their remainders. */
enum { REMAINDERS = 4 };

void count_agreements(MPI_Comm comm)
{
    counted = comm;
    joined = 0;
    pending = MPI_REQUEST_NULL;
}

int vote_on_agreements(bool has_rank)
{
    return has_rank ? ~(1 << joined % REMAINDERS) : ~0;
}

void join_last_agreement(int votes)
{
    static int unused;
    bool others_are_ahead = !(votes >> (joined + 1) % REMAINDERS & 1);
    if (counted != MPI_COMM_NULL && others_are_ahead)
        iagree(counted, &unused, &pending);
    joined_at = wall_s();
}

/* Its error handler is not called: who waits for the outcome is told of it. */
static int test_quietly(MPI_Comm comm, MPI_Request *request, int *done)
{
    MPI_Errhandler handler = hold_errors(comm);
    int code = PMPI_Test(request, done, MPI_STATUS_IGNORE);
    put_back_errors(comm, handler);
    return code;
}

bool has_ended_agreements(bool *all)
{
    int done = 1;
    if (counted != MPI_COMM_NULL && test_quietly(counted, &pending, &done) != MPI_SUCCESS)
        done = 1;
    if (!done && wall_s() < joined_at + PATIENCE_S)
        return false;
    counted = MPI_COMM_NULL;
    *all = *all && done;
    return true;
}

/* On the communicator of the job it would wait for processes that have turned to a repair; elsewhere it is the caller's to
 * have all come. */
__attribute__((visibility("default"))) int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    if (comm == MPI_COMM_NULL)
        return PMPIX_Comm_agree(comm, flag);
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    let_earlier_works_agree(comm);
    enter_phase("agree");
    if (comm != counted || is_revoked(comm))
        return is_alone(comm) ? MPI_SUCCESS : agree_waiting(comm, flag);
    int code = agree_unless_revoked(comm, flag, 0);
    if (code != MPI_SUCCESS)
        raise_error(comm, code, __func__);
    return code;
}

/* An agreement of the program behind works of this library that come before it. */
struct agreeing {
    struct work work;
    int *flag;
    MPI_Request agreement;
};

static bool advance(struct work *work)
{
    struct agreeing *own = (struct agreeing *)work;
    int done = 0;
    if (work->early && is_behind(work))
        return false;
    if (work->early)
        work->code = iagree(work->owner, own->flag, &own->agreement);
    work->early = false;
    if (work->code == MPI_SUCCESS)
        work->code = test_quietly(work->owner, &own->agreement, &done);
    return done || work->code != MPI_SUCCESS;
}

__attribute__((visibility("default"))) int MPIX_Comm_iagree(MPI_Comm comm, int *flag,
                                                            MPI_Request *request)
{
    if (comm == MPI_COMM_NULL)
        return PMPIX_Comm_iagree(comm, flag, request);
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (atomic_load_explicit(&works, memory_order_relaxed) == 0 || !is_any_early(comm))
        return iagree(comm, flag, request);
    struct agreeing *own = calloc(1, sizeof *own);
    if (!own)
        return MPI_ERR_NO_MEM;
    own->work = (struct work){.owner = comm, .advance = advance, .early = true};
    own->flag = flag;
    *request = start_work(&own->work);
    return MPI_SUCCESS;
}

/* What is done when an agreement takes longer than PATIENCE_S. */
struct late {
    void (*call)(void *context);
    void *context;
};

static int agree(MPI_Comm comm, int *flag, MPI_Comm watched, double patience_s, struct late late)
{
    /* An agreement that is given up may still write. */
    int *agreed = new_table(1, sizeof *agreed), done = 0;
    double begin = late.call ? wall_s() : 0, revoked_at = 0;
    MPI_Request request;
    *agreed = *flag;
    let_earlier_works_agree(comm);
    int code = iagree(comm, agreed, &request);
    joined += comm == counted;
    for (unsigned tests = 1; code == MPI_SUCCESS && !done; tests++) {
        code = test_quietly(comm, &request, &done);
        if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
            advance_works();
        if (code != MPI_SUCCESS || done || tests % 64 != 0)
            continue;
        if (late.call && wall_s() >= begin + PATIENCE_S) {
            late.call(late.context);
            late.call = NULL;
        }
        if (!is_revoked(watched))
            continue;
        revoked_at = revoked_at > 0 ? revoked_at : wall_s();
        if (wall_s() >= revoked_at + patience_s) {
            if (comm == counted)
                pending = request;
            make_last(comm);
            return MPIX_ERR_REVOKED;
        }
    }
    *flag = *agreed;
    free(agreed);
    return error_class(code);
}

int agree_unless_revoked(MPI_Comm comm, int *flag, double patience_s)
{
    return agree(comm, flag, comm, patience_s, (struct late){NULL, NULL});
}

int agree_unless_other_revoked(MPI_Comm comm, int *flag, MPI_Comm other)
{
    return agree(comm, flag, other, 0, (struct late){NULL, NULL});
}

int agree_or_call(MPI_Comm comm, int *flag, void (*late)(void *context), void *context)
{
    return agree(comm, flag, comm, PATIENCE_S, (struct late){late, context});
}

/* A bit each in the votes, after the one that says whether all went well. */
static const int lasting[] = {MPI_ERR_NO_MEM, MPI_ERR_IO, RF_ERR_ARGUMENT, RF_ERR_DATA_LOST};
enum { LASTING = sizeof lasting / sizeof *lasting };

/* Above these the digits of a number, and above them what each is not: of numbers that differ a digit is out in both. */
enum {
    DIGITS = 12,
    NUMBER_AT = 8,
    INVERSE_AT = NUMBER_AT + DIGITS,
    ALL_DIGITS = (1 << DIGITS) - 1
};

static int vote_on_number(int64_t number)
{
    unsigned digits = 0;
    for (uint64_t rest = (uint64_t)number; rest; rest >>= DIGITS)
        digits ^= rest & ALL_DIGITS;
    return (int)~((ALL_DIGITS ^ digits) << NUMBER_AT | digits << INVERSE_AT);
}

static bool is_same_number(int votes)
{
    unsigned all = (unsigned)votes;
    return ((all >> NUMBER_AT ^ all >> INVERSE_AT) & ALL_DIGITS) == ALL_DIGITS;
}

int agree_on_outcome(MPI_Comm comm, int code, int64_t number)
{
    enter_phase("agree");
    return outcome_of_all(comm, code, number, 0);
}

int outcome_of_all(MPI_Comm comm, int code, int64_t number, double patience_s)
{
    int votes = (code == MPI_SUCCESS ? ~0 : ~1) & vote_on_number(number);
    for (int at = 0; at < LASTING; at++)
        if (code == lasting[at])
            votes &= ~(2 << at);
    int agreed = agree_unless_revoked(comm, &votes, patience_s);
    for (int at = 0; at < LASTING && agreed == MPI_SUCCESS; at++)
        if (!(votes & 2 << at))
            return lasting[at];
    if (agreed == MPI_SUCCESS && votes & 1 && !is_same_number(votes))
        return RF_ERR_ARGUMENT;
    return agreed == MPI_SUCCESS && !(votes & 1) ? MPIX_ERR_REVOKED : agreed;
}
