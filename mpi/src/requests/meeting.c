#include "requests/meeting.h"

#include "guards/deaths.h"
#include "guards/lasting.h"
#include "guards/turns.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "modes/uniform.h"
#include "requests/requests.h"
#include "requests/steps.h"
#include "state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

/* Turns between two looks for trouble. */
enum { TURNS = 64 };

/* How long an agreement of processes that can tell each other may go on after a failure, in s: it ends at once, or by bad news. */
#define SURE_S 5

int *ranks_in_world(MPI_Group group, int *count)
{
    MPI_Group world;
    bool all = true;
    PMPI_Group_size(group, count);
    int *at = new_table((size_t)*count, sizeof *at),
        *ranks = new_table((size_t)*count, sizeof *ranks);
    for (int one = 0; one < *count; one++)
        at[one] = one;
    PMPI_Comm_group(rf.world, &world);
    PMPI_Group_translate_ranks(group, *count, at, world, ranks);
    PMPI_Group_free(&world);
    for (int one = 0; one < *count; one++)
        all = all && ranks[one] != MPI_UNDEFINED;
    free(at);
    if (all)
        return ranks;
    free(ranks);
    return NULL;
}

struct meeting begin_meeting(MPI_Comm watched, int *ranks, int count, unsigned long key)
{
    struct meeting meeting = {.parent = rf.world,
                              .watched = {watched, MPI_COMM_NULL},
                              .count = count,
                              .ranks = ranks,
                              .key = key,
                              .tag = tag_of(key),
                              .in_world = true,
                              .mode = BY_MESSAGES,
                              .beside = -1};
    MPI_Group world;
    PMPI_Comm_group(rf.world, &world);
    PMPI_Group_incl(world, count, ranks, &meeting.group);
    PMPI_Group_free(&world);
    return meeting;
}

struct meeting begin_meeting_of(MPI_Comm comm, MPI_Group group, int tag)
{
    struct meeting meeting = {.parent = comm,
                              .watched = {comm, MPI_COMM_NULL},
                              .tag = tag,
                              .mode = BY_MESSAGES,
                              .beside = -1};
    MPI_Group all;
    PMPI_Group_size(group, &meeting.count);
    int *at = new_table((size_t)meeting.count, sizeof *at);
    meeting.ranks = new_table((size_t)meeting.count, sizeof *at);
    for (int one = 0; one < meeting.count; one++)
        at[one] = one;
    PMPI_Comm_group(comm, &all);
    PMPI_Group_translate_ranks(group, meeting.count, at, all, meeting.ranks);
    PMPI_Group_incl(all, meeting.count, meeting.ranks, &meeting.group);
    PMPI_Group_free(&all);
    free(at);
    return meeting;
}

struct meeting begin_meeting_between(MPI_Comm comm)
{
    return (struct meeting){.parent = comm,
                            .watched = {comm, MPI_COMM_NULL},
                            .group = MPI_GROUP_NULL,
                            .mode = BY_BOTH_SIDES,
                            .beside = -1};
}

void end_meeting(struct meeting *meeting)
{
    if (meeting->group != MPI_GROUP_NULL)
        PMPI_Group_free(&meeting->group);
    free(meeting->ranks);
}

static bool is_in(const struct meeting *meeting, int rank)
{
    if (meeting->mode == BY_BOTH_SIDES)
        return true;
    for (int at = 0; at < meeting->count; at++)
        if (meeting->ranks[at] == rank)
            return true;
    return rank == meeting->beside;
}

/* Whether the next one of the other side is known to have failed: MPI tells all at once only of the own side. */
static bool has_next_failed(struct meeting *meeting)
{
    int there, size;
    PMPI_Comm_remote_size(meeting->parent, &size);
    int code = PMPI_Iprobe(meeting->looks++ % size, meeting->tag, meeting->parent, &there,
                           MPI_STATUS_IGNORE);
    return error_class(code) == MPIX_ERR_PROC_FAILED;
}

/* Whether one of them is known to have failed. */
static bool has_failed(struct meeting *meeting)
{
    MPI_Group failed, all;
    int count = 0;
    if (!meeting->failed && meeting->mode == BY_BOTH_SIDES)
        meeting->failed = has_next_failed(meeting);
    if (meeting->failed || PMPIX_Comm_get_failed(meeting->parent, &failed) != MPI_SUCCESS)
        return meeting->failed;
    PMPI_Group_size(failed, &count);
    if (count > meeting->known) {
        PMPI_Comm_group(meeting->parent, &all);
        for (int at = 0; at < count && !meeting->failed; at++) {
            int rank;
            PMPI_Group_translate_ranks(failed, 1, &at, all, &rank);
            meeting->failed = is_in(meeting, rank);
        }
        PMPI_Group_free(&all);
    }
    meeting->known = count;
    if (failed != MPI_GROUP_EMPTY)
        PMPI_Group_free(&failed);
    return meeting->failed;
}

static int hear_from(int rank, int tag)
{
    int there = 0, class = MPI_SUCCESS;
    if (PMPI_Iprobe(rank, tag, rf.world, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS || !there)
        return MPI_SUCCESS;
    PMPI_Recv(&class, 1, MPI_INT, rank, tag, rf.world, MPI_STATUS_IGNORE);
    return class;
}

/* The class of bad news that have come. */
static int hear(const struct meeting *meeting)
{
    int class = MPI_SUCCESS;
    for (int at = 0; meeting->in_world && at < meeting->count && class == MPI_SUCCESS; at++)
        if (meeting->ranks[at] != rf.rank)
            class = hear_from(meeting->ranks[at], meeting->tag + 1);
    if (class == MPI_SUCCESS && meeting->beside >= 0)
        class = hear_from(meeting->beside, meeting->beside_tag);
    return class;
}

static bool is_watched_revoked(const struct meeting *meeting)
{
    return is_revoked(meeting->watched[0]) ||
           (meeting->watched[1] != MPI_COMM_NULL && is_revoked(meeting->watched[1]));
}

/* For how long a failure or a revoke has been known. */
static double troubled_s(struct meeting *meeting)
{
    if (meeting->troubled_at == 0 && (has_failed(meeting) || is_watched_revoked(meeting)))
        meeting->troubled_at = wall_s();
    return meeting->troubled_at > 0 ? wall_s() - meeting->troubled_at : 0;
}

/* Who revokes after a failure has told of it before: the news come first, so that all return its class. */
int trouble(struct meeting *meeting)
{
    int class = hear(meeting);
    if (class != MPI_SUCCESS)
        return class;
    if (has_failed(meeting))
        return MPIX_ERR_PROC_FAILED;
    return troubled_s(meeting) > PATIENCE_S ? MPIX_ERR_REVOKED : MPI_SUCCESS;
}

/* Words that are on their way: MPI may still read them when this process has gone on. */
struct words {
    int class;
    MPI_Request requests[];
};

static void tell(int count, const int *ranks, int tag, int class)
{
    struct words *words = malloc(sizeof *words + sizeof(MPI_Request) * (size_t)count);
    double until = wall_s() + PATIENCE_S;
    int open = count;
    if (!words)
        return;
    words->class = class;
    for (int at = 0; at < count; at++)
        if (ranks[at] == rf.rank || PMPI_Isend(&words->class, 1, MPI_INT, ranks[at], tag, rf.world,
                                               &words->requests[at]) != MPI_SUCCESS)
            words->requests[at] = MPI_REQUEST_NULL;
    while (open > 0 && wall_s() < until) {
        open = 0;
        for (int at = 0; at < count; at++) {
            int done = 0;
            if (PMPI_Test(&words->requests[at], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
                words->requests[at] = MPI_REQUEST_NULL;
            else
                open += !done;
        }
    }
    if (open == 0)
        free(words);
}

void tell_trouble(const struct meeting *meeting, int class)
{
    if (meeting->in_world)
        tell(meeting->count, meeting->ranks, meeting->tag + 1, class);
    if (meeting->beside >= 0)
        tell(1, &meeting->beside, meeting->beside_tag, class);
}

/* A communicator in the making. */
struct attempt {
    MPI_Comm made;
    MPI_Request step;
    int tag;
    bool given_up;
    struct attempt *next; /* of those that were given up */
};

/* Waits for a step that went `code` so far. */
static int finish_step(MPI_Request *step, struct meeting *meeting, int code, bool *given_up)
{
    int done = code != MPI_SUCCESS || !*step;
    for (unsigned turns = 0; code == MPI_SUCCESS && !done; turns++) {
        code = PMPI_Test(step, &done, MPI_STATUS_IGNORE);
        if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
            advance_works();
        if (code != MPI_SUCCESS || done || turns % TURNS != 0)
            continue;
        code = trouble(meeting);
        *given_up = code != MPI_SUCCESS;
    }
    return code;
}

static int make(struct attempt *own, struct meeting *meeting)
{
    MPI_Comm parent = meeting->parent;
    int mode = meeting->mode;
    int code = ompi_comm_set_nb(&own->made, parent, 0, NULL, 0, NULL, NULL, MPI_ERRORS_RETURN,
                                meeting->group, NULL, 0, &own->step);
    code = finish_step(&own->step, meeting, code, &own->given_up);
    if (code == MPI_SUCCESS) {
        begin_turn();
        code =
            ompi_comm_nextcid_nb(own->made, parent, NULL, &own->tag, NULL, false, mode, &own->step);
        end_turn();
        code = finish_step(&own->step, meeting, code, &own->given_up);
    }
    if (code == MPI_SUCCESS) {
        begin_turn();
        code = ompi_comm_activate_nb(&own->made, parent, NULL, &own->tag, NULL, false, mode,
                                     &own->step);
        end_turn();
        code = finish_step(&own->step, meeting, code, &own->given_up);
    }
    return code;
}

/* MPI's own error may come before the news of the failure behind it. */
static int explain(struct meeting *meeting, int code)
{
    double until = wall_s() + PATIENCE_S;
    int class = MPI_SUCCESS;
    while (class == MPI_SUCCESS && wall_s() < until)
        class = trouble(meeting);
    if (class != MPI_SUCCESS)
        return class;
    return code > 0 ? error_class(code) : MPI_ERR_OTHER;
}

int await(struct meeting *meeting, int code, MPI_Request *request)
{
    bool given_up = false;
    code = finish_step(request, meeting, code, &given_up);
    return code == MPI_SUCCESS || given_up ? code : explain(meeting, code);
}

/* An agreement that listens for those that do not come; `ended` says whether all know its result. */
static int agree(struct meeting *meeting, MPI_Comm all, int *votes, bool *ended)
{
    /* One that is given up may still write. */
    int *agreed = new_table(1, sizeof *agreed), done = 0, class = MPI_SUCCESS;
    MPI_Request request;
    *agreed = *votes;
    int code = iagree(all, agreed, &request);
    for (unsigned turns = 1; code == MPI_SUCCESS && !done; turns++) {
        code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
            advance_works();
        if (code != MPI_SUCCESS || done || turns % TURNS != 0)
            continue;
        class = hear(meeting);
        if (class == MPI_SUCCESS && troubled_s(meeting) > (meeting->in_world ? SURE_S : PATIENCE_S))
            class = meeting->failed ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED;
        if (class != MPI_SUCCESS) {
            make_last(all);
            return class;
        }
    }
    *ended = true;
    *votes = *agreed;
    free(agreed);
    return error_class(code);
}

int settle_meeting(struct meeting *meeting, MPI_Comm all, int code, int *votes)
{
    bool ended = false;
    *votes &= vote_on(code);
    int agreed = agree(meeting, all, votes, &ended);
    if (ended)
        return outcome_of(code, agreed, *votes);
    tell_trouble(meeting, agreed);
    return agreed;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Attempts that were given up, which MPI goes on with. */
static struct attempt *given_up;

static void leave_to_mpi(struct attempt *own)
{
    pthread_mutex_lock(&lock);
    own->next = given_up;
    given_up = own;
    pthread_mutex_unlock(&lock);
}

/* Communicators that stay half made: MPI has them in its list, but without the collective functions that it calls when it learns of a
 * failure. They are never freed, so that none comes under the same handle. */
static MPI_Comm *halves;
static int half_count;

static void give_up(MPI_Comm half)
{
    if (!half)
        return;
    pthread_mutex_lock(&lock);
    halves = longer_table(halves, (size_t)half_count + 1, sizeof *halves);
    halves[half_count++] = half;
    pthread_mutex_unlock(&lock);
}

static bool is_half(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < half_count && halves[at] != comm)
        at++;
    bool found = at < half_count;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Stands before Open MPI's own function of the name. */
__attribute__((visibility("default"))) int ompi_comm_set_rank_failed(MPI_Comm comm, int rank,
                                                                     bool far)
{
    static int (*next)(MPI_Comm, int, bool);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_set_rank_failed");
    if (!far)
        note_death_in(comm, rank);
    return is_half(comm) ? MPI_SUCCESS : next(comm, rank, far);
}

int meet(struct meeting *meeting, int *votes, MPI_Comm *made)
{
    struct attempt *own = calloc(1, sizeof *own);
    *made = MPI_COMM_NULL;
    if (!own)
        return MPI_ERR_NO_MEM;
    own->tag = meeting->tag;
    begin_making();
    int code = trouble(meeting);
    if (code == MPI_SUCCESS) {
        code = make(own, meeting);
        if (code != MPI_SUCCESS && !own->given_up)
            code = explain(meeting, code);
    }
    if (code != MPI_SUCCESS)
        give_up(own->made);
    end_making(code, &own->made);
    if (code == MPI_SUCCESS) {
        int now = is_watched_revoked(meeting) ? MPIX_ERR_REVOKED : MPI_SUCCESS;
        *made = own->made;
        code = settle_meeting(meeting, own->made, now, votes);
    } else {
        tell_trouble(meeting, code);
    }
    if (own->given_up)
        leave_to_mpi(own);
    else
        free(own);
    return code;
}
