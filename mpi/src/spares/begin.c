/* How a job begins: with all processes of the world, from files of a run before, or for one process that was started later.
 *
 * Nothing is a rank or a spare before the first repair, which makes all communicators of the job. */
#include "data/parity.h"
#include "data/restart.h"
#include "data/store.h"
#include "guards/bounded.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "requests/build.h"
#include "requests/requests.h"
#include "runflat.h"
#include "spares/job.h"
#include "spares/refill.h"
#include "spares/repair.h"
#include "spares/roster.h"
#include "spares/spares.h"
#include "state.h"

#include <limits.h>
#include <mpi-ext.h>
#include <stdlib.h>
#include <string.h>

/* A process that was started for one that has died. */
static int join(int spares, MPI_Comm *comm)
{
    struct repair repair;
    int votes = 0;
    begin_step("RF_Init");
    if (!join_pool(spares, &job.pool, &votes))
        /* The others go on without it. */
        end_at_once(0);
    bool is_whole = refill(&job.pool, votes) == MPI_SUCCESS;
    end_step();
    if (is_whole && has_lost_ranks() && job.stop_when_exhausted) {
        job.is_exhausted = true;
        return begin_job(RF_ERR_NO_SPARE, comm);
    }
    if (is_whole)
        begin_joining(&repair, &job.pool, &job.gate, &job.side, job.stop_when_exhausted, votes);
    else
        begin_repair(&repair, &job.pool, &job.gate, &job.side, MPI_COMM_NULL,
                     job.stop_when_exhausted, false);
    return begin_job(finish_repair(&repair, comm), comm);
}

/* Why there is no job to begin; NULL: there may be one. */
static const char *why_not_begin(void)
{
    int begun = 0, ended = 0;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    if (!begun || ended)
        return "it comes after MPI_Init and before MPI_Finalize";
    if (job.has_ended)
        return "the job has ended, and its spares with it: there is one in a run of a program";
    return job.running ? "the job has begun already" : NULL;
}

/* What each process does for itself; false: it has said why it cannot. */
static bool prepare(int spares)
{
    if (spares < RF_SPARES_FROM_LAUNCH || spares >= rf.size) {
        say("RF_Init: %d of %d processes cannot be spares: 0 to %d can, or RF_SPARES_FROM_LAUNCH",
            spares, rf.size, rf.size - 1);
        return false;
    }
    if (parity_size() && has_store()) {
        if (rf.rank == 0)
            say("RUNFLAT_PARITY and RUNFLAT_STORE do not go together: a job begins again from "
                "whole copies");
        return false;
    }
    return open_roster(spares);
}

/* Says so where processes that may begin have been given other numbers of spares than others. */
static void tell_of_difference(bool may)
{
    int rank, ends[2] = {may ? spare_count() : INT_MAX, may ? -spare_count() : INT_MAX}, low[2];
    PMPI_Comm_rank(job.pool, &rank);
    if (PMPI_Allreduce(ends, low, 2, MPI_INT, MPI_MIN, job.pool) == MPI_SUCCESS && rank == 0 &&
        low[0] != INT_MAX && low[0] != -low[1])
        say("RF_Init: %d spares are given at some processes and %d at others: all give the same "
            "number",
            low[0], -low[1]);
}

/* Whether all processes that live can begin the job, with the same number of spares. Who has died since is for the first repair; if that
 * has interrupted this process, all can. */
static bool agree_to_begin(bool may)
{
    int code, told;
    do {
        PMPIX_Comm_ack_failed(job.pool, rf.size, &told);
        code = outcome_of_all(job.pool, may ? MPI_SUCCESS : RF_ERR_ARGUMENT, spare_count(),
                              PATIENCE_S);
    } while (is_failure(code) && !is_revoked(job.pool));
    if (code != RF_ERR_ARGUMENT)
        return true;
    tell_of_difference(may);
    close_roster();
    return false;
}

/* Whether no live process of this host has a lower rank. */
static bool is_first_of_host(void)
{
    MPI_Group world, pool;
    bool is_first = true;
    int size;
    PMPI_Comm_group(rf.world, &world);
    PMPI_Comm_group(job.pool, &pool);
    PMPI_Group_size(pool, &size);
    for (int at = 0; at < size; at++) {
        int place;
        PMPI_Group_translate_ranks(pool, 1, &at, world, &place);
        is_first = is_first && (place >= rf.rank || !is_here(place));
    }
    PMPI_Group_free(&world);
    PMPI_Group_free(&pool);
    return is_first;
}

RF_API int RF_Init(int spares, MPI_Comm *comm)
{
    if (!comm)
        return refuse_no_place("RF_Init");
    const char *why_not = why_not_begin();
    if (why_not)
        return refuse("RF_Init", why_not);
    *comm = MPI_COMM_NULL;
    if (!rf.ready || !can_build()) {
        if (rf.rank == 0)
            say("RF_Init: no protection (RF_ERR_UNPROTECTED): start with `runflat mpi run`");
        return RF_ERR_UNPROTECTED;
    }
    const char *exhausted = getenv("RUNFLAT_ON_EXHAUSTED");
    job.stop_when_exhausted = exhausted && strcmp(exhausted, "stop") == 0;
    if (place_of_newcomer() >= 0)
        return join(spares, comm);
    bool may_begin = prepare(spares);
    begin_step("RF_Init");
    shrink_now(rf.world, &job.pool);
    end_step();
    if (!agree_to_begin(may_begin)) {
        free_made(&job.pool);
        return RF_ERR_ARGUMENT;
    }
    if (has_store() && is_first_of_host())
        clear_store(is_restart());
    /* Ranks are made as a repair makes them: it is the same when somebody has failed already. */
    bool is_spare = own_rank() < 0;
    int code = repair_job(comm);
    if (is_spare && own_rank() >= 0)
        note_take_over();
    while (code == MPI_SUCCESS && is_restart() && !bring_stored(job.pool, job.gate))
        code = repair_job(comm);
    return begin_job(code, comm);
}
