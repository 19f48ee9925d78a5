/* Ranks and hot spares over one pool of processes.
 *
 * All live processes share `pool`. A failure is repaired by shrinking the pool, asking the policy at each process alike who
 * takes over, and splitting the ranks off the pool anew, in their old order; so a repair is the same few collective steps
 * whoever has failed, and a failure in its midst only begins it again. Spares sleep until somebody revokes the pool (a
 * repair) or `bell` (the end): being revoked is what a process can see without taking part in anything. */
#include "spares.h"

#include "agree.h"
#include "bounded.h"
#include "fence.h"
#include "inject.h"
#include "policy.h"
#include "runflat.h"
#include "state.h"
#include "young.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    bool running; /* from RF_Init to RF_End */
    bool stop_when_exhausted;
    int shape;
    MPI_Comm pool, bell;
    bool *dead; /* by rank of the world */
    struct policy policy;
    int ranks;   /* at the beginning */
    int *places; /* by rank at the beginning: its process in the world, -1: none */
} job = {.pool = MPI_COMM_NULL, .bell = MPI_COMM_NULL};

/* The rank that this process has now, of those that have a place; -1: a spare. */
static int own_rank(void)
{
    int rank = 0;
    for (int at = 0; at < job.ranks; at++) {
        if (job.places[at] == rf.rank)
            return rank;
        rank += job.places[at] >= 0;
    }
    return -1;
}

static int split_ranks(MPI_Comm pool, MPI_Comm *ranks)
{
    int rank = own_rank();
    begin_making();
    int code = PMPI_Comm_split(pool, rank >= 0 ? 0 : MPI_UNDEFINED, rank >= 0 ? rank : 0, ranks);
    end_making(code, *ranks);
    if (code == MPI_SUCCESS && *ranks != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(*ranks, MPI_ERRORS_RETURN);
    return code;
}

/* Whether all processes of a communicator are there and say yes. */
static bool all_agree(MPI_Comm comm, bool yes)
{
    int flag = yes;
    return PMPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag;
}

/* Takes note of the processes that are in no pool any more. */
static void bury(MPI_Comm pool)
{
    MPI_Group kept;
    PMPI_Comm_group(pool, &kept);
    int all = rf.size, *world = malloc(sizeof(int) * (size_t)all), *there = malloc(sizeof(int) * (size_t)all);
    for (int place = 0; place < all; place++)
        world[place] = place;
    PMPI_Group_translate_ranks(rf.group, all, world, kept, there);
    for (int place = 0; place < all; place++) {
        if (there[place] != MPI_UNDEFINED || job.dead[place])
            continue;
        job.dead[place] = true;
        note_event_of("failure_detected", -1, "of", place);
        if (job.policy.handle && !policy_fail(&job.policy, place))
            job.shape = RF_SMALLER;
    }
    if (job.policy.handle) {
        policy_places(&job.policy, job.places);
    } else {
        for (int rank = 0; rank < job.ranks; rank++)
            if (job.places[rank] >= 0 && job.dead[job.places[rank]])
                job.places[rank] = -1, job.shape = RF_SMALLER;
    }
    fence_others(kept);
    PMPI_Group_free(&kept);
    free(world);
    free(there);
}

static int shrink(MPI_Comm comm, MPI_Comm *made)
{
    *made = MPI_COMM_NULL;
    begin_making();
    int code = PMPIX_Comm_shrink(comm, made);
    return end_making(code, *made);
}

static void free_comm(MPI_Comm *comm)
{
    forget_made(*comm);
    PMPI_Comm_free(comm);
}

/* A pool of all that live, in which nobody is inside a creating call any more; agreements of the job have ended. */
static MPI_Comm shrink_pool(bool has_rank, bool *may_free)
{
    MPI_Comm next;
    if (job.running)
        enter_phase("shrink");
    double begin = wall_s();
    while (shrink(job.pool, &next) != MPI_SUCCESS)
        ;
    PMPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN);
    int votes = vote_on_agreements(has_rank);
    PMPIX_Comm_agree(next, &votes);
    *may_free = finish_agreements(votes) && *may_free;
    if (job.running)
        note_event("shrink", 1e3 * (wall_s() - begin));
    return next;
}

/* Splits the ranks off the pool; false: somebody failed meanwhile. A half-made communicator cannot be freed by some of its
 * processes: it stays. */
static bool make_ranks(MPI_Comm *ranks)
{
    MPI_Comm fresh = MPI_COMM_NULL;
    bool made = split_ranks(job.pool, &fresh) == MPI_SUCCESS;
    if (!made)
        PMPIX_Comm_revoke(job.pool); /* who waits for this process in there comes out */
    bool all = all_agree(job.pool, made);
    if (all)
        *ranks = fresh;
    return all;
}

/* Repairs pool and ranks; `ranks` is MPI_COMM_NULL at a process that is a spare afterwards. */
static int repair(MPI_Comm *ranks)
{
    double begin = wall_s();
    begin_step("repair");
    if (job.running)
        enter_phase("repair");
    MPI_Comm old = *ranks;
    bool may_free = old != MPI_COMM_NULL;
    *ranks = MPI_COMM_NULL;
    if (old != MPI_COMM_NULL)
        PMPIX_Comm_revoke(old);
    PMPIX_Comm_revoke(job.pool);
    for (;;) {
        MPI_Comm next = shrink_pool(old != MPI_COMM_NULL, &may_free);
        free_comm(&job.pool);
        job.pool = next;
        bury(next);
        if (job.shape == RF_SMALLER && job.stop_when_exhausted) {
            end_step();
            return RF_ERR_NO_SPARE;
        }
        if (make_ranks(ranks))
            break;
        PMPIX_Comm_revoke(next);
    }
    if (may_free)
        free_comm(&old);
    count_agreements(*ranks);
    end_step();
    if (job.running)
        note_event("repaired", 1e3 * (wall_s() - begin));
    return MPI_SUCCESS;
}

/* Lets MPI look at what has arrived. */
static void progress(void)
{
    int arrived;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, rf.world, &arrived, MPI_STATUS_IGNORE);
}

/* A spare waits until it takes over a rank, or until the end. */
static int sleep_as_spare(MPI_Comm *ranks)
{
    const struct timespec nap = {0, 2000000};
    note_event("asleep", -1);
    for (;;) {
        progress();
        if (is_revoked(job.bell)) {
            job.running = false;
            return MPI_SUCCESS;
        }
        if (is_revoked(job.pool)) {
            int code = repair(ranks);
            if (code != MPI_SUCCESS || *ranks != MPI_COMM_NULL) {
                note_event_of("took_over", -1, "as", own_rank());
                return code;
            }
        }
        nanosleep(&nap, NULL);
    }
}

/* The first pool, and the bell, of all that live; false: somebody failed meanwhile. */
static bool open_pool(void)
{
    int acknowledged;
    if (shrink(rf.world, &job.pool) != MPI_SUCCESS)
        return false;
    PMPI_Comm_set_errhandler(job.pool, MPI_ERRORS_RETURN);
    begin_making();
    job.bell = MPI_COMM_NULL;
    int code = PMPI_Comm_dup(job.pool, &job.bell);
    bool made = end_making(code, job.bell) == MPI_SUCCESS;
    if (made)
        PMPI_Comm_set_errhandler(job.bell, MPI_ERRORS_RETURN);
    else
        PMPIX_Comm_revoke(job.pool);
    PMPIX_Comm_ack_failed(rf.world, rf.size, &acknowledged);
    return all_agree(job.pool, made);
}

static bool place_ranks(int spares)
{
    const char *launch = getenv("RUNFLAT_SPARES"), *allocation = getenv("RUNFLAT_ALLOCATION");
    bool none = spares == 0 || (spares < 0 && !(launch && atoi(launch) > 0) && !(allocation && *allocation));
    if (!none && !open_policy(&job.policy, rf.size, spares))
        return false;
    job.ranks = none ? rf.size : (int)job.policy.ranks;
    job.places = malloc(sizeof(int) * (size_t)job.ranks);
    for (int rank = 0; rank < job.ranks; rank++)
        job.places[rank] = rank;
    if (!none)
        policy_places(&job.policy, job.places);
    return true;
}

RF_API int RF_Init(int spares, MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    if (!rf.ready)
        return RF_ERR_UNPROTECTED;
    if (job.running || spares < RF_SPARES_FROM_LAUNCH || spares >= rf.size || !place_ranks(spares))
        return RF_ERR_ARGUMENT;
    const char *exhausted = getenv("RUNFLAT_ON_EXHAUSTED");
    job.stop_when_exhausted = exhausted && strcmp(exhausted, "stop") == 0;
    job.dead = calloc((size_t)rf.size, sizeof *job.dead);
    begin_step("RF_Init");
    while (!open_pool())
        ;
    end_step();
    /* Ranks are made as a repair makes them: it is the same when somebody has failed already. */
    int code = repair(comm);
    job.running = true;
    return code == MPI_SUCCESS && *comm == MPI_COMM_NULL ? sleep_as_spare(comm) : code;
}

RF_API int RF_Repair(MPI_Comm *comm)
{
    if (!job.running)
        return RF_ERR_ARGUMENT;
    int code = repair(comm);
    return code == MPI_SUCCESS && *comm == MPI_COMM_NULL ? sleep_as_spare(comm) : code;
}

bool job_runs(void)
{
    return job.running;
}

void first_numbers(int *ranks)
{
    for (int at = 0, now = 0; at < job.ranks; at++)
        if (job.places[at] >= 0)
            ranks[now++] = at;
}

int process_of(int rank)
{
    return job.places[rank];
}

RF_API int RF_Shape(void)
{
    return job.shape;
}

RF_API int RF_End(MPI_Comm *comm)
{
    if (!job.running)
        return RF_ERR_ARGUMENT;
    enter_phase("agree");
    int flag = 1, code = agree_unless_revoked(*comm, &flag, 0);
    if (code != MPI_SUCCESS)
        return code;
    free_comm(comm);
    release_spares();
    return MPI_SUCCESS;
}

void release_spares(void)
{
    if (!job.running)
        return;
    job.running = false;
    if (!is_revoked(job.bell))
        PMPIX_Comm_revoke(job.bell);
    close_policy(&job.policy);
}
