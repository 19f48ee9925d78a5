#include "requests/between.h"

#include "guards/turns.h"
#include "guards/young.h"
#include "modes/uniform.h"
#include "requests/build.h"
#include "requests/meeting.h"
#include "requests/requests.h"
#include "requests/steps.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of calls, and of messages, whose tags must differ. */
enum { MERGES, TELLS_OTHER, TELLS_SIDE };

/* What a leader tells: the other leader of its side, and its own side of the other one. */
enum { STATUS, SHARED, COUNT, RANKS };

/* A side, as ranks of the world. */
struct side {
    int status; /* MPI_SUCCESS, a class, or NOT_IN_WORLD */
    int shared; /* what both leaders have in common: the tag between them */
    int *ranks, count;
};

static struct side failed_side(int status)
{
    return (struct side){status, 0, NULL, 0};
}

/* Waits for what a leader tells. */
static struct side await_side(struct meeting *meeting, int source, int tag)
{
    MPI_Status status;
    int there = 0, size = 0;
    while (!there) {
        PMPI_Iprobe(source, tag, rf.world, &there, &status);
        if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
            advance_works();
        int class = there ? MPI_SUCCESS : trouble(meeting);
        if (class != MPI_SUCCESS)
            return failed_side(class);
    }
    PMPI_Get_count(&status, MPI_INT, &size);
    int *words = new_table((size_t)size, sizeof *words);
    PMPI_Recv(words, size, MPI_INT, source, tag, rf.world, MPI_STATUS_IGNORE);
    struct side side = {words[STATUS], words[SHARED], NULL, words[COUNT]};
    side.ranks = new_table((size_t)side.count, sizeof *words);
    memcpy(side.ranks, words + RANKS, sizeof *words * (size_t)side.count);
    free(words);
    return side;
}

/* What has been told and may not have been read: nobody waits for who does not come. */
struct told {
    MPI_Request request;
    struct told *next;
    int words[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct told *all_told;

static void drop_read(void)
{
    pthread_mutex_lock(&lock);
    for (struct told **at = &all_told; *at;) {
        struct told *own = *at;
        int done = 0;
        if (PMPI_Test(&own->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            at = &own->next;
            continue;
        }
        *at = own->next;
        free(own);
    }
    pthread_mutex_unlock(&lock);
}

static void tell_side(const struct side *side, int target, int tag)
{
    int size = RANKS + side->count;
    struct told *own = new_table(1, sizeof *own + sizeof *own->words * (size_t)size);
    own->words[STATUS] = side->status;
    own->words[SHARED] = side->shared;
    own->words[COUNT] = side->count;
    if (side->count > 0)
        memcpy(own->words + RANKS, side->ranks, sizeof *own->words * (size_t)side->count);
    if (PMPI_Isend(own->words, size, MPI_INT, target, tag, rf.world, &own->request) !=
        MPI_SUCCESS) {
        free(own);
        return;
    }
    pthread_mutex_lock(&lock);
    own->next = all_told;
    all_told = own;
    pthread_mutex_unlock(&lock);
}

/* The rank of the world that the other leader has; MPI_UNDEFINED: none. */
static int find_other(MPI_Comm between, int other)
{
    MPI_Group there, world;
    int rank = MPI_UNDEFINED;
    if (is_between(between))
        PMPI_Comm_remote_group(between, &there);
    else
        PMPI_Comm_group(between, &there);
    PMPI_Comm_group(rf.world, &world);
    PMPI_Group_translate_ranks(there, 1, &other, world, &rank);
    PMPI_Group_free(&there);
    PMPI_Group_free(&world);
    return rank;
}

/* What the leader learns of the other side, after it has told that of its own. */
static struct side exchange_sides(struct meeting *meeting, const struct side *own, MPI_Comm between,
                                  int other, int tag)
{
    if (between == MPI_COMM_NULL)
        return failed_side(MPI_ERR_COMM);
    int rank = find_other(between, other);
    if (rank == MPI_UNDEFINED)
        return failed_side(NOT_IN_WORLD);
    int pair[2] = {rank < rf.rank ? rank : rf.rank, rank < rf.rank ? rf.rank : rank};
    struct side told = *own;
    told.shared = tag_of(key_of_call(between, pair, 2, tag, TELLS_OTHER));
    tell_side(&told, rank, told.shared);
    meeting->watched[1] = between;
    meeting->beside = rank;
    meeting->beside_tag = told.shared + 1;
    struct side side = await_side(meeting, rank, told.shared);
    side.shared = told.shared;
    return side;
}

/* What all of this side know of the other one in the end. */
static struct side learn_of_other(struct meeting *meeting, const struct side *own, bool leads,
                                  int leader, int tag, MPI_Comm between, int other, int other_tag)
{
    if (!leads)
        return own->status == MPI_SUCCESS ? await_side(meeting, own->ranks[leader], tag) : *own;
    struct side side = exchange_sides(meeting, own, between, other, other_tag);
    if (own->status != MPI_SUCCESS)
        return *own;
    for (int at = 0; at < own->count; at++)
        if (at != leader)
            tell_side(&side, own->ranks[at], tag);
    return side;
}

static int compare(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

/* The ranks of two sides, in the order of the world: the same at both. */
static int *join_sides(const struct side *one, const struct side *other)
{
    int *ranks = new_table((size_t)(one->count + other->count), sizeof *ranks);
    memcpy(ranks, one->ranks, sizeof *ranks * (size_t)one->count);
    memcpy(ranks + one->count, other->ranks, sizeof *ranks * (size_t)other->count);
    qsort(ranks, (size_t)(one->count + other->count), sizeof *ranks, compare);
    return ranks;
}

static MPI_Group group_of(const int *ranks, int count)
{
    MPI_Group world, group;
    PMPI_Comm_group(rf.world, &world);
    PMPI_Group_incl(world, count, ranks, &group);
    PMPI_Group_free(&world);
    return group;
}

/* A communicator of some of `all`, made by agreements of all. */
static int build_now(MPI_Comm all, const int *ranks, int count, MPI_Comm *made)
{
    struct build *build = malloc(sizeof *build);
    MPI_Group group = group_of(ranks, count);
    int code = build ? begin_build(build, all, group) : MPI_ERR_NO_MEM;
    while (code == MPI_SUCCESS && !advance_build(build, &code))
        advance_works();
    PMPI_Group_free(&group);
    if (code == MPI_SUCCESS) {
        *made = build->made;
        free(build);
    }
    return code;
}

static int finish(MPI_Request *step, int code)
{
    int done = code != MPI_SUCCESS || !*step;
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Test(step, &done, MPI_STATUS_IGNORE);
        advance_works();
    }
    return code;
}

/* The intercommunicator: `side_comm` becomes a part of it. */
static int make_between(MPI_Comm all, MPI_Comm side_comm, MPI_Comm like, const struct side *own,
                        const struct side *other, MPI_Comm *made)
{
    MPI_Errhandler handler = handler_of(like);
    MPI_Request step = NULL;
    MPI_Group here = group_of(own->ranks, own->count), there = group_of(other->ranks, other->count);
    forget_made(side_comm);
    begin_making();
    int code = finish(&step, ompi_comm_set_nb(made, side_comm, 0, NULL, 0, NULL, NULL, handler,
                                              here, there, TAKES_PARENT, &step));
    if (code == MPI_SUCCESS) {
        begin_turn();
        code = ompi_comm_nextcid_nb(*made, all, NULL, NULL, NULL, false, BY_AGREEMENTS, &step);
        end_turn();
        code = finish(&step, code);
    }
    if (code == MPI_SUCCESS) {
        begin_turn();
        code = ompi_comm_activate_nb(made, all, NULL, NULL, NULL, true, BY_AGREEMENTS, &step);
        end_turn();
        code = finish(&step, code);
    }
    PMPI_Errhandler_free(&handler);
    PMPI_Group_free(&here);
    PMPI_Group_free(&there);
    return end_making(code, made);
}

/* Both sides are known here. */
static int come_together(MPI_Comm comm, struct meeting *meeting, const struct side *own,
                         const struct side *other, MPI_Comm *made)
{
    MPI_Comm all, side_comm = MPI_COMM_NULL, between = MPI_COMM_NULL;
    int votes = ~0, code = meet(meeting, &votes, &all);
    if (code != MPI_SUCCESS)
        return code;
    code = build_now(all, own->ranks, own->count, &side_comm);
    if (code == MPI_SUCCESS)
        code = make_between(all, side_comm, comm, own, other, &between);
    votes = ~0;
    code = settle_meeting(meeting, all, code, &votes);
    if (code == MPI_SUCCESS) {
        *made = between;
        note_made_by(between, meeting->key);
        free_made(&all);
    }
    return code;
}

int create_between(MPI_Comm comm, int leader, MPI_Comm between, int other, int tag, MPI_Comm *made)
{
    MPI_Group group;
    int rank;
    struct side own = {MPI_SUCCESS, 0, NULL, 0};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_group(comm, &group);
    own.ranks = ranks_in_world(group, &own.count);
    PMPI_Group_free(&group);
    if (!own.ranks)
        own = failed_side(NOT_IN_WORLD);
    unsigned long key = key_of_call(comm, own.ranks, own.count, tag, TELLS_SIDE);
    int *ranks = new_table((size_t)own.count, sizeof *ranks);
    if (own.count > 0)
        memcpy(ranks, own.ranks, sizeof *ranks * (size_t)own.count);
    struct meeting here = begin_meeting(comm, ranks, own.count, key);
    struct side there =
        learn_of_other(&here, &own, rank == leader, leader, here.tag, between, other, tag);
    int code = there.status;
    if (code == MPI_SUCCESS) {
        ranks = join_sides(&own, &there);
        struct meeting both = begin_meeting(comm, ranks, own.count + there.count,
                                            key_of(ranks, own.count + there.count, there.shared));
        both.beside = here.beside;
        both.beside_tag = here.beside_tag;
        both.watched[1] = here.watched[1];
        code = come_together(comm, &both, &own, &there, made);
        end_meeting(&both);
    } else if (code != NOT_IN_WORLD) {
        tell_trouble(&here, code);
    }
    end_meeting(&here);
    free(own.ranks);
    if (there.ranks != own.ranks)
        free(there.ranks);
    drop_read();
    return code;
}

/* Bits in which a side votes whether it comes second. */
enum { FIRST_IS_HIGH = 1 << FREE_VOTES, SECOND_IS_HIGH = 2 << FREE_VOTES };

/* As both sides see it: that with the lowest rank of the world is the first. */
static bool is_first(const struct side *own, const struct side *other)
{
    int low = own->ranks[0], other_low = other->ranks[0];
    for (int at = 1; at < own->count; at++)
        low = own->ranks[at] < low ? own->ranks[at] : low;
    for (int at = 1; at < other->count; at++)
        other_low = other->ranks[at] < other_low ? other->ranks[at] : other_low;
    return low < other_low;
}

/* All have `all`: makes the one that is in order, by what both sides voted. */
static int put_in_order(MPI_Comm all, const struct side *own, const struct side *other, int votes,
                        MPI_Comm *made)
{
    bool second_leads = (votes & FIRST_IS_HIGH) && !(votes & SECOND_IS_HIGH);
    const struct side *lead = is_first(own, other) != second_leads ? own : other,
                      *rest = lead == own ? other : own;
    int count = own->count + other->count, *ranks = new_table((size_t)count, sizeof *ranks);
    memcpy(ranks, lead->ranks, sizeof *ranks * (size_t)lead->count);
    memcpy(ranks + lead->count, rest->ranks, sizeof *ranks * (size_t)rest->count);
    int code = build_now(all, ranks, count, made);
    free(ranks);
    return code;
}

static int merge(MPI_Comm comm, int high, const struct side *own, const struct side *other,
                 MPI_Comm *made)
{
    MPI_Comm all, merged = MPI_COMM_NULL;
    int count = own->count + other->count, *ranks = join_sides(own, other), votes = ~0;
    struct meeting meeting =
        begin_meeting(comm, ranks, count, key_of_call(comm, ranks, count, 0, MERGES));
    if (!high)
        votes &= is_first(own, other) ? ~FIRST_IS_HIGH : ~SECOND_IS_HIGH;
    int code = meet(&meeting, &votes, &all);
    if (code == MPI_SUCCESS) {
        code = put_in_order(all, own, other, votes, &merged);
        votes = ~0;
        code = settle_meeting(&meeting, all, code, &votes);
        if (code == MPI_SUCCESS) {
            *made = merged;
            note_made_by(merged, meeting.key);
            free_made(&all);
        }
    }
    end_meeting(&meeting);
    return code;
}

int merge_between(MPI_Comm comm, int high, MPI_Comm *made)
{
    struct side own = {MPI_SUCCESS, 0, NULL, 0}, other = own;
    MPI_Group here, there;
    PMPI_Comm_group(comm, &here);
    PMPI_Comm_remote_group(comm, &there);
    own.ranks = ranks_in_world(here, &own.count);
    other.ranks = ranks_in_world(there, &other.count);
    PMPI_Group_free(&here);
    PMPI_Group_free(&there);
    int code = own.ranks && other.ranks ? merge(comm, high, &own, &other, made) : NOT_IN_WORLD;
    free(own.ranks);
    free(other.ranks);
    return code;
}

/* What a process tells the other side. */
struct end {
    struct place place; /* no two are the same */
    int high;
};

/* What each process of the other side tells, in its order. */
static int hear_other_side(struct meeting *meeting, const void *told, int size, void *heard)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code =
        PMPI_Iallgather(told, size, MPI_BYTE, heard, size, MPI_BYTE, meeting->parent, &request);
    return await(meeting, code, &request);
}

/* As both sides see it, by the first process of each. */
static bool leads(const struct end *own, const struct end *other)
{
    if (own->high != other->high)
        return !own->high;
    return memcmp(&own->place, &other->place, sizeof own->place) < 0;
}

/* The group of both sides, in order. What is waited for in vain is never freed. */
static int order_sides(struct meeting *meeting, int high)
{
    int count;
    MPI_Group own, other;
    PMPI_Comm_remote_size(meeting->parent, &count);
    struct end *told = new_table(1, sizeof *told), *heard = new_table((size_t)count, sizeof *heard),
               *relayed = new_table((size_t)count, sizeof *relayed);
    *told = (struct end){rf.place[rf.rank], high != 0};
    int code = hear_other_side(meeting, told, sizeof *told, heard);
    /* Of its own side each process only knows itself. */
    if (code == MPI_SUCCESS)
        code = hear_other_side(meeting, heard, sizeof *heard, relayed);
    if (code != MPI_SUCCESS)
        return code;
    PMPI_Comm_group(meeting->parent, &own);
    PMPI_Comm_remote_group(meeting->parent, &other);
    if (leads(relayed, heard))
        PMPI_Group_union(own, other, &meeting->group);
    else
        PMPI_Group_union(other, own, &meeting->group);
    PMPI_Group_free(&own);
    PMPI_Group_free(&other);
    free(told);
    free(heard);
    free(relayed);
    return MPI_SUCCESS;
}

int merge_jobs(MPI_Comm comm, int high, MPI_Comm *made)
{
    struct meeting meeting = begin_meeting_between(comm);
    int votes = ~0, code = order_sides(&meeting, high);
    if (code == MPI_SUCCESS)
        code = meet(&meeting, &votes, made);
    /* Others may not have heard of a failure in another job. */
    if (code != MPI_SUCCESS)
        PMPIX_Comm_revoke(comm);
    end_meeting(&meeting);
    return code;
}
