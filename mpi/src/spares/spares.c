/* Ranks and hot spares over one pool of processes; begin.c is how it begins.
 *
 * All live processes share `pool`. A failure is repaired by shrinking the pool, asking the policy at each process alike who
 * takes over, and making the communicator of the ranks anew, in their old order (repair.c). Spares sleep until somebody
 * revokes the pool (a repair) or the gate (the end): being revoked is what a process can see without taking part in anything.
 * At the end all agree over the gate, so that all leave or none: who agreed on the end and died may have been the only one. */
#include "spares/spares.h"

#include "data/checkpoint.h"
#include "guards/bounded.h"
#include "guards/deaths.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "modes/uniform.h"
#include "requests/requests.h"
#include "requests/steps.h"
#include "runflat.h"
#include "spares/job.h"
#include "spares/refill.h"
#include "spares/repair.h"
#include "spares/roster.h"
#include "state.h"

#include <mpi-ext.h>
#include <stdlib.h>
#include <time.h>

/* How long after one revoke others of the same repair may come, in s: ranks that compute pass none on. */
enum { NEWS_S = 60 };

struct job job = {
    .pool = MPI_COMM_NULL, .gate = MPI_COMM_NULL, .side = MPI_COMM_NULL, .ranks = MPI_COMM_NULL};

int refuse(const char *call, const char *why)
{
    say("%s: %s", call, why);
    return RF_ERR_ARGUMENT;
}

int refuse_no_place(const char *call)
{
    return refuse(call, "there is no place for the communicator (NULL)");
}

bool may_call(const char *call, MPI_Comm comm)
{
    if (!job.running)
        refuse(call, "there is no job: RF_Init comes before it, and RF_End after it");
    else if (comm == MPI_COMM_NULL || comm != job.ranks)
        refuse(call, "this is not the communicator that RF_Init or the last repair gave");
    else if (job.repairing)
        refuse(call, "a request of RF_Comm_irepair is under way: wait for it first");
    else
        return true;
    return false;
}

static void look_who_sleeps(void)
{
    asleep_in = job.running && spare_count() > 0 ? MPI_COMM_WORLD : NOWHERE;
}

/* What a repair with this outcome has made of the job. */
static void take_repair(const struct repair *repair, int code)
{
    job.ranks = repair->ranks;
    job.news_until = 0;
    job.is_exhausted = code == RF_ERR_NO_SPARE;
    look_who_sleeps();
}

int finish_repair(struct repair *repair, MPI_Comm *ranks)
{
    int code;
    begin_step("repair");
    while (!advance_repair(repair, &code))
        advance_works();
    end_step();
    take_repair(repair, code);
    *ranks = job.ranks;
    return code;
}

int repair_job(MPI_Comm *ranks)
{
    struct repair repair;
    begin_repair(&repair, &job.pool, &job.gate, &job.side, *ranks, job.stop_when_exhausted,
                 job.running);
    return finish_repair(&repair, ranks);
}

/* Leaves the job if all do: MPI_SUCCESS, or at all alike the class of a failure. */
static int leave(void)
{
    int flag = 1;
    if (!is_revoked(job.gate))
        PMPIX_Comm_revoke(job.gate);
    int code = agree_unless_other_revoked(job.gate, &flag, job.pool);
    job.running = code != MPI_SUCCESS;
    job.has_ended = !job.running;
    look_who_sleeps();
    return code;
}

/* At a spare: whether no rank is left that would begin the repair. */
static bool is_deserted(void)
{
    MPI_Group failed = MPI_GROUP_EMPTY, pool, spares, ranks, live;
    int count = 0;
    if (PMPIX_Comm_get_failed(job.pool, &failed) != MPI_SUCCESS || failed == MPI_GROUP_EMPTY)
        return false;
    spares = own_group();
    PMPI_Comm_group(job.pool, &pool);
    PMPI_Group_difference(pool, spares, &ranks);
    PMPI_Group_difference(ranks, failed, &live);
    PMPI_Group_size(live, &count);
    for (int at = 0; at < 5; at++) {
        MPI_Group group = (MPI_Group[]){failed, pool, spares, ranks, live}[at];
        if (group != MPI_GROUP_EMPTY)
            PMPI_Group_free(&group);
    }
    return count == 0;
}

/* A spare waits until it takes over a rank, or until the end. */
static int sleep_as_spare(MPI_Comm *ranks)
{
    const struct timespec nap = {0, 2000000};
    note_event("asleep", -1);
    for (;;) {
        opal_progress();
        bool ends = is_revoked(job.gate);
        if (!ends && is_deserted())
            PMPIX_Comm_revoke(job.pool);
        if (ends && leave() == MPI_SUCCESS)
            return MPI_SUCCESS;
        if (ends || is_revoked(job.pool)) {
            int code = repair_job(ranks);
            if (code != MPI_SUCCESS || *ranks != MPI_COMM_NULL) {
                if (code == MPI_SUCCESS)
                    note_take_over();
                return code;
            }
        }
        nanosleep(&nap, NULL);
    }
}

int begin_job(int code, MPI_Comm *comm)
{
    job.running = true;
    look_who_sleeps();
    return code == MPI_SUCCESS && *comm == MPI_COMM_NULL ? sleep_as_spare(comm) : code;
}

RF_API int RF_Repair(MPI_Comm *comm)
{
    if (!comm)
        return refuse_no_place("RF_Repair");
    /* After RF_Comm_irepair. */
    if (job.running && *comm == MPI_COMM_NULL && job.ranks == MPI_COMM_NULL)
        return job.is_exhausted ? RF_ERR_NO_SPARE : sleep_as_spare(comm);
    if (!may_call("RF_Repair", *comm))
        return RF_ERR_ARGUMENT;
    give_up_checkpoint();
    int code = repair_job(comm);
    return code == MPI_SUCCESS && *comm == MPI_COMM_NULL ? sleep_as_spare(comm) : code;
}

RF_API int RF_Refill(MPI_Comm *comm)
{
    struct repair repair;
    if (!comm)
        return refuse_no_place("RF_Refill");
    if (!may_call("RF_Refill", *comm))
        return RF_ERR_ARGUMENT;
    if (!has_policy())
        return refuse("RF_Refill", "the job has begun without spares");
    if (!may_refill()) {
        if (rf.rank == 0)
            say("RF_Refill: start with `runflat mpi run --refill` (`mpirun --enable-recovery` and "
                "RUNFLAT_REFILL=1)");
        return RF_ERR_UNPROTECTED;
    }
    finish_checkpoint();
    /* What repairs interrupts calls: all must be here. */
    int flag = 1, code = agree_unless_revoked(*comm, &flag, PATIENCE_S);
    if (code != MPI_SUCCESS)
        return code;
    int moves = rank_moves();
    begin_repair(&repair, &job.pool, &job.gate, &job.side, *comm, job.stop_when_exhausted,
                 job.running);
    repair.refill = true;
    code = finish_repair(&repair, comm);
    if (code == MPI_SUCCESS && *comm == MPI_COMM_NULL)
        return sleep_as_spare(comm);
    /* Ranks that repaired, and who took over, bring data back next. */
    bool has_repaired = rank_moves() != moves || was_repaired_beside(&repair);
    return code == MPI_SUCCESS && has_repaired ? MPIX_ERR_PROC_FAILED : code;
}

RF_API int RF_Spares(void)
{
    return job.running ? spare_count() : 0;
}

/* A request of RF_Comm_irepair. */
struct repairing {
    struct work work;
    struct repair repair;
    MPI_Comm *ranks;
};

static bool advance(struct work *work)
{
    struct repairing *own = (struct repairing *)work;
    int code;
    if (!advance_repair(&own->repair, &code))
        return false;
    take_repair(&own->repair, code);
    *own->ranks = job.ranks;
    job.repairing = false;
    return true;
}

RF_API int RF_Comm_irepair(MPI_Comm comm, MPI_Comm *repaired, MPI_Request *request)
{
    if (!repaired || !request)
        return refuse("RF_Comm_irepair", "there is no place for what it gives (NULL)");
    *repaired = MPI_COMM_NULL;
    *request = MPI_REQUEST_NULL;
    if (!may_call("RF_Comm_irepair", comm))
        return RF_ERR_ARGUMENT;
    struct repairing *own = calloc(1, sizeof *own);
    if (!own)
        return MPI_ERR_NO_MEM;
    own->work = (struct work){.owner = rf.world, .advance = advance, .step = "RF_Comm_irepair"};
    own->ranks = repaired;
    give_up_checkpoint();
    begin_repair(&own->repair, &job.pool, &job.gate, &job.side, comm, job.stop_when_exhausted,
                 job.running);
    job.repairing = true;
    *request = start_work(&own->work);
    return MPI_SUCCESS;
}

void note_take_over(void)
{
    note_event_of("took_over", -1, "as", own_rank());
}

/* Whether the ranks are known to have a failure among them, or that one of them has turned to a repair. */
static bool needs_repair(void)
{
    return is_revoked(job.ranks) || has_failures(job.ranks) ||
           (job.side != MPI_COMM_NULL && is_revoked(job.side));
}

/* Whether one of those that were made from the communicator of the ranks is revoked. */
struct search {
    unsigned of_job;
    bool found;
};

static void look_for_revoked(MPI_Comm comm, struct modes modes, void *context)
{
    struct search *search = context;
    if (modes.of_job == search->of_job && is_revoked(comm))
        search->found = true;
}

/* A revoke of one communicator may be here before the failure that it is for, and before the revokes of others: those are on their
 * way. A program may also have revoked it for reasons of its own; then nothing else comes. */
static bool may_need_repair(void)
{
    struct search search = {modes_of(job.ranks).of_job, false};
    each_marked(look_for_revoked, &search);
    if (search.found)
        job.news_until = steady_s() + NEWS_S;
    return steady_s() < job.news_until;
}

void expect_news(MPI_Comm comm)
{
    if (job.running && modes_of(comm).of_job)
        job.news_until = steady_s() + NEWS_S;
}

bool may_part_from(MPI_Comm made)
{
    if (!job.running || job.ranks == MPI_COMM_NULL)
        return true;
    bool waits = may_need_repair();
    if (is_revoked(made))
        return true;
    if (!needs_repair())
        return !waits;
    PMPIX_Comm_revoke(made);
    return true;
}

bool is_of_job(MPI_Comm comm)
{
    return job.running && comm != MPI_COMM_NULL && comm == job.ranks;
}

MPI_Comm pool_of_job(void)
{
    return job.pool;
}

MPI_Comm side_of_job(void)
{
    return job.side;
}

RF_API int RF_Is_failure(MPI_Comm comm, int code)
{
    if (comm == MPI_COMM_NULL || is_failure(code))
        return is_failure(code);
    return is_failure(meant_by(comm, code)) ||
           (comm == job.ranks && may_mean_failure(code) && may_need_repair());
}

RF_API int RF_Shape(void)
{
    return has_lost_ranks() ? RF_SMALLER : RF_SAME_SIZE;
}

RF_API int RF_End(MPI_Comm *comm)
{
    if (!comm)
        return refuse_no_place("RF_End");
    if (!may_call("RF_End", *comm))
        return RF_ERR_ARGUMENT;
    finish_checkpoint();
    int code = agree_on_outcome(*comm, MPI_SUCCESS, 0);
    if (code == MPI_SUCCESS) {
        begin_step("RF_End");
        code = leave();
        end_step();
    }
    if (code != MPI_SUCCESS)
        return code;
    free_made(&job.side);
    free_made(comm);
    job.ranks = MPI_COMM_NULL;
    count_agreements(MPI_COMM_NULL);
    close_roster();
    return MPI_SUCCESS;
}

void release_spares(void)
{
    MPI_Comm unused = MPI_COMM_NULL;
    if (job.running && !job.is_exhausted && own_rank() == 0)
        say("MPI_Finalize before RF_End: a failure from here on cannot be repaired; call RF_End "
            "first, at all ranks");
    /* A job that stops for want of spares has no gate any more, and nobody sleeps in it. */
    while (job.running && !job.is_exhausted && leave() != MPI_SUCCESS &&
           repair_job(&unused) == MPI_SUCCESS)
        ;
    job.running = false;
}
