#include "spares/repair.h"

#include "guards/inject.h"
#include "guards/lasting.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "requests/steps.h"
#include "runflat.h"
#include "spares/refill.h"
#include "spares/roster.h"
#include "state.h"

#include <stdlib.h>

static void shrink_pool(struct repair *repair)
{
    if (repair->tell)
        enter_phase("shrink");
    repair->shrink_begin = wall_s();
    begin_shrink(&repair->shrink, *repair->pool);
    repair->stage = SHRINKING;
}

/* In the votes of all: nobody wants new processes; no rank has such a mode; there is no checkpoint; no rank repairs. */
enum {
    NO_REFILL = 1 << 8,
    NO_GROUP = 1 << 9,
    NO_UNIVERSE = 1 << 10,
    NO_CREATE = 1 << 11,
    NO_COLL = 1 << 12,
    NO_COPIES = 1 << 13,
    NO_REPAIR = 1 << 14
};

/* Ranks have the same modes, and tell those who take over. */
static int vote_on_modes(MPI_Comm ranks)
{
    static const int ranges[] = {0, NO_GROUP, NO_UNIVERSE}, uniforms[] = {0, NO_CREATE, NO_COLL};
    if (ranks == MPI_COMM_NULL)
        return ~0;
    struct modes modes = modes_of(ranks);
    return ~(ranges[modes.range] | uniforms[modes.uniform]);
}

static struct modes modes_in(int votes)
{
    static unsigned made;
    return (struct modes){!(votes & NO_UNIVERSE) ? RANGE_UNIVERSE
                          : !(votes & NO_GROUP)  ? RANGE_GROUP
                                                 : RANGE_LOCAL,
                          !(votes & NO_COLL)     ? UNIFORM_COLL
                          : !(votes & NO_CREATE) ? UNIFORM_CREATE
                                                 : UNIFORM_LOCAL,
                          .of_job = ++made};
}

/* The pool of all that live is there. Processes tell each other who has taken part in which agreement of the ranks. */
static void vote(struct repair *repair)
{
    repair->next = repair->shrink.made;
    repair->votes = vote_on_agreements(repair->old != MPI_COMM_NULL) & vote_on_modes(repair->old) &
                    (has_checkpoint() ? ~NO_COPIES : ~0) &
                    (repair->refill                 ? ~NO_REFILL
                     : repair->old != MPI_COMM_NULL ? ~NO_REPAIR
                                                    : ~0);
    iagree(repair->next, &repair->votes, &repair->vote);
    repair->stage = VOTING;
}

/* Those agreements have ended or are left. */
static void take_pool(struct repair *repair)
{
    if (repair->tell)
        note_event("shrink", 1e3 * (wall_s() - repair->shrink_begin));
    free_made(repair->pool);
    *repair->pool = repair->next;
    if (*repair->side != MPI_COMM_NULL)
        free_made(repair->side);
    bury(repair->next);
}

/* What cannot be begun here alone, no memory say, ends at the others too. */
static void make_next(struct repair *repair)
{
    MPI_Group group;
    if (repair->made_count == GATE)
        PMPI_Comm_group(*repair->pool, &group);
    else
        group = own_group();
    repair->stage = MAKING;
    if (begin_build(&repair->build, *repair->pool, group) != MPI_SUCCESS) {
        PMPIX_Comm_revoke(*repair->pool);
        repair->stage = LEAVING;
    }
    PMPI_Group_free(&group);
}

/* The pool and who is who in it are known. */
static void begin_communicators(struct repair *repair)
{
    repair->made_count = 0;
    repair->wanted = repair->votes & NO_COLL ? BALLOT : MADE_MAX;
    make_next(repair);
    repair->brings = !(repair->votes & NO_COPIES);
    if (repair->brings)
        begin_homing(&repair->homing, *repair->pool);
}

static void tell_of_lost_ranks(const char *what_comes, const char *event)
{
    int left = 0;
    for (int number = 0; number < first_count(); number++)
        left += place_of(number) >= 0;
    if (!has_lost_ranks() || own_rank() != 0)
        return;
    say("no spare is left: the job %s with %d of %d ranks", what_comes, left, first_count());
    note_event_of(event, -1, "ranks", left);
}

static void end_repair(struct repair *repair)
{
    /* The old gate is left as it is: agreements on it may be pending. */
    *repair->gate = repair->made[GATE];
    if (own_rank() < 0) {
        for (int one = RANKS; one < repair->wanted; one++)
            free_made(&repair->made[one]);
        drop_all_copies();
    }
    repair->ranks = repair->made[RANKS];
    *repair->side = repair->made[SIDE];
    if (repair->may_free) {
        free_made(&repair->old);
    } else if (repair->old != MPI_COMM_NULL) {
        drop_modes(repair->old);
    }
    if (repair->ranks != MPI_COMM_NULL) {
        adopt_modes(repair->ranks, modes_in(repair->votes));
        if (repair->wanted > BALLOT)
            confirm_in(repair->made[BALLOT], repair->ranks);
    }
    count_agreements(repair->ranks);
    tell_of_lost_ranks("goes on", "reduced");
    if (repair->tell || first_dead() >= 0)
        note_event("repaired", 1e3 * (wall_s() - repair->begin));
}

static int stop(void)
{
    tell_of_lost_ranks("stops, as it is told to,", "exhausted");
    return RF_ERR_NO_SPARE;
}

/* Ranks and spares are known. What it ends with is the same at all. */
static bool begin_making_anew(struct repair *repair, int *code)
{
    if (!(repair->votes & NO_REFILL) && refill(repair->pool, repair->votes) != MPI_SUCCESS)
        shrink_pool(repair);
    else if (has_lost_ranks() && repair->stop_when_exhausted)
        *code = stop();
    else
        begin_communicators(repair);
    return *code != MPI_SUCCESS;
}

/* A communicator is there. */
static void take_built(struct repair *repair)
{
    repair->made[repair->made_count++] = repair->build.made;
    if (repair->made_count < repair->wanted)
        make_next(repair);
    else
        repair->stage = LANDING;
}

/* Communicators that others wait in. */
struct waited_in {
    MPI_Comm *comm;
    int count, room;
};

static void note_waited_in(MPI_Comm comm, struct modes modes, void *noted)
{
    struct waited_in *all = noted;
    if (!modes.of_job || is_revoked(comm))
        return;
    if (all->count == all->room) {
        all->room = 2 * all->room + 16;
        all->comm = longer_table(all->comm, (size_t)all->room, sizeof(MPI_Comm));
    }
    all->comm[all->count++] = comm;
}

/* So many are revoked before the messages of some are let arrive: there is room for so many. */
enum { AT_ONCE = 16 };

/* Who waits in a call on a communicator that was made from that of the ranks waits for processes that are in the repair. */
static void interrupt_all(void)
{
    struct waited_in all = {0};
    each_marked(note_waited_in, &all);
    for (int at = 0; at < all.count; at++) {
        PMPIX_Comm_revoke(all.comm[at]);
        if (at % AT_ONCE == AT_ONCE - 1)
            opal_progress();
    }
    free(all.comm);
}

void begin_repair(struct repair *repair, MPI_Comm *pool, MPI_Comm *gate, MPI_Comm *side,
                  MPI_Comm old, bool stop_when_exhausted, bool tell)
{
    *repair = (struct repair){.pool = pool,
                              .gate = gate,
                              .side = side,
                              .old = old,
                              .ranks = MPI_COMM_NULL,
                              .stop_when_exhausted = stop_when_exhausted,
                              .tell = tell,
                              .may_free = old != MPI_COMM_NULL,
                              .begin = wall_s()};
    if (tell)
        enter_phase("repair");
    if (old != MPI_COMM_NULL)
        PMPIX_Comm_revoke(old);
    interrupt_all();
    if (*side != MPI_COMM_NULL)
        PMPIX_Comm_revoke(*side);
    PMPIX_Comm_revoke(*pool);
    shrink_pool(repair);
}

void begin_joining(struct repair *repair, MPI_Comm *pool, MPI_Comm *gate, MPI_Comm *side,
                   bool stop_when_exhausted, int votes)
{
    *repair = (struct repair){.pool = pool,
                              .gate = gate,
                              .side = side,
                              .old = MPI_COMM_NULL,
                              .ranks = MPI_COMM_NULL,
                              .stop_when_exhausted = stop_when_exhausted,
                              .votes = votes,
                              .begin = wall_s()};
    begin_communicators(repair);
}

bool was_repaired_beside(const struct repair *repair)
{
    return !(repair->votes & NO_REPAIR);
}

bool advance_repair(struct repair *repair, int *code)
{
    int done = 0;
    bool good = true;
    *code = MPI_SUCCESS;
    switch (repair->stage) {
    case SHRINKING:
        if (!advance_shrink(&repair->shrink, code))
            return false;
        if (*code == MPI_SUCCESS)
            vote(repair);
        else
            shrink_pool(repair);
        return false;
    case VOTING:
        if (PMPI_Test(&repair->vote, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) {
            join_last_agreement(repair->votes);
            repair->stage = FINISHING;
        }
        return false;
    case FINISHING:
        if (!has_ended_agreements(&repair->may_free))
            return false;
        take_pool(repair);
        return begin_making_anew(repair, code);
    case MAKING:
        if (repair->brings)
            advance_homing(&repair->homing);
        if (!advance_build(&repair->build, code))
            return false;
        if (*code == MPI_SUCCESS)
            take_built(repair);
        else
            repair->stage = LEAVING;
        return false;
    case LANDING:
        if (repair->brings && !end_homing(&repair->homing, &good))
            return false;
        if (!good) {
            shrink_pool(repair);
            return false;
        }
        end_repair(repair);
        return true;
    case LEAVING:
        if (!repair->brings || leave_homing(&repair->homing))
            shrink_pool(repair);
        return false;
    }
    return true;
}
