#include "spares/roster.h"

#include "guards/deaths.h"
#include "guards/fence.h"
#include "settings.h"
#include "spares/policy.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct policy policy;
    int ranks;   /* at the beginning */
    int *places; /* by rank at the beginning: its place, -1: none */
    bool *dead;  /* by place */
    bool lost_ranks;
    MPI_Group pool;
    int *place_in; /* by rank in the pool */
    int *member;   /* by place: its rank in the pool, MPI_UNDEFINED: none */
    int *history;  /* places in the order they failed, and ~place where one was filled again */
    int events, room;
} roster = {.pool = MPI_GROUP_NULL};

bool open_roster(int spares)
{
    const char *allocation = getenv("RUNFLAT_ALLOCATION");
    bool none = spares == 0 ||
                (spares < 0 && count_of("RUNFLAT_SPARES") == 0 && !(allocation && *allocation));
    if (!none && !open_policy(&roster.policy, rf.size, spares))
        return false;
    roster.dead = new_table((size_t)rf.size, sizeof *roster.dead);
    roster.ranks = none ? rf.size : (int)roster.policy.ranks;
    roster.places = new_table((size_t)roster.ranks, sizeof(int));
    for (int rank = 0; rank < roster.ranks; rank++)
        roster.places[rank] = rank;
    if (!none)
        policy_places(&roster.policy, roster.places);
    PMPI_Comm_group(rf.world, &roster.pool);
    roster.place_in = new_table((size_t)rf.size, sizeof(int));
    roster.member = new_table((size_t)rf.size, sizeof(int));
    for (int place = 0; place < rf.size; place++)
        roster.place_in[place] = roster.member[place] = place;
    return true;
}

void close_roster(void)
{
    close_policy(&roster.policy);
}

static void remember(int event)
{
    if (roster.events == roster.room) {
        roster.room = 2 * roster.room + 16;
        roster.history = longer_table(roster.history, (size_t)roster.room, sizeof(int));
    }
    roster.history[roster.events++] = event;
}

static void lose(int place)
{
    remember(place);
    roster.dead[place] = true;
    if (roster.policy.handle && !policy_fail(&roster.policy, place))
        roster.lost_ranks = true;
}

static void fill(int place)
{
    remember(~place);
    forget_death(place);
    roster.dead[place] = false;
    policy_revive(&roster.policy, place);
}

static void bury_one(int place)
{
    fence(place);
    note_death(place);
    lose(place);
}

int first_dead(void)
{
    for (int place = 0; place < rf.size; place++)
        if (roster.dead[place])
            return place;
    return -1;
}

bool has_policy(void)
{
    return roster.policy.handle;
}

int spare_count(void)
{
    return roster.policy.handle ? policy_spares(&roster.policy) : 0;
}

const int *roster_history(int *events)
{
    *events = roster.events;
    return roster.history;
}

const int *places_in_pool(void)
{
    return roster.place_in;
}

bool open_roster_again(int spares, int events, const int *history, int members, const int *place_in)
{
    if (!open_roster(spares))
        return false;
    for (int at = 0; at < events; at++) {
        if (history[at] >= 0)
            lose(history[at]);
        else
            fill(~history[at]);
    }
    policy_places(&roster.policy, roster.places);
    for (int place = 0; place < rf.size; place++)
        roster.member[place] = MPI_UNDEFINED;
    for (int rank = 0; rank < members; rank++) {
        roster.place_in[rank] = place_in[rank];
        roster.member[place_in[rank]] = rank;
    }
    return true;
}

void welcome(int place, MPI_Comm pool)
{
    int size;
    PMPI_Group_free(&roster.pool);
    PMPI_Comm_group(pool, &roster.pool);
    PMPI_Group_size(roster.pool, &size);
    roster.place_in = longer_table(roster.place_in, (size_t)size, sizeof(int));
    roster.place_in[size - 1] = place;
    roster.member[place] = size - 1;
    fill(place);
}

/* Goes over to a pool of some processes of the one before: buries the others. */
static void take_pool(MPI_Comm pool)
{
    MPI_Group now;
    int before, size;
    PMPI_Comm_group(pool, &now);
    PMPI_Group_size(now, &size);
    PMPI_Group_size(roster.pool, &before);
    int *own = new_table((size_t)before, sizeof(int)),
        *there = new_table((size_t)before, sizeof(int)),
        *place_in = new_table((size_t)size, sizeof(int));
    for (int rank = 0; rank < before; rank++)
        own[rank] = rank;
    PMPI_Group_translate_ranks(roster.pool, before, own, now, there);
    for (int rank = 0; rank < before; rank++) {
        int place = roster.place_in[rank];
        roster.member[place] = there[rank];
        if (there[rank] == MPI_UNDEFINED)
            bury_one(place);
        else
            place_in[there[rank]] = place;
    }
    PMPI_Group_free(&roster.pool);
    free(roster.place_in);
    free(own);
    free(there);
    roster.pool = now;
    roster.place_in = place_in;
}

static int moves;

int rank_moves(void)
{
    return moves;
}

/* Where ranks are now, as the policy says. */
static void ask_for_places(void)
{
    int *before = new_table((size_t)roster.ranks, sizeof(int));
    memcpy(before, roster.places, (size_t)roster.ranks * sizeof(int));
    policy_places(&roster.policy, roster.places);
    moves += memcmp(before, roster.places, (size_t)roster.ranks * sizeof(int)) != 0;
    free(before);
}

void bury(MPI_Comm pool)
{
    take_pool(pool);
    if (roster.policy.handle) {
        ask_for_places();
        return;
    }
    for (int rank = 0; rank < roster.ranks; rank++)
        if (roster.places[rank] >= 0 && roster.dead[roster.places[rank]])
            roster.places[rank] = -1, roster.lost_ranks = true;
}

bool has_lost_ranks(void)
{
    return roster.lost_ranks;
}

int own_rank(void)
{
    int rank = 0;
    for (int at = 0; at < roster.ranks; at++) {
        if (roster.places[at] == rf.rank)
            return rank;
        rank += roster.places[at] >= 0;
    }
    return -1;
}

int member_at(int place)
{
    return roster.member[place];
}

MPI_Group own_group(void)
{
    MPI_Group ranks, spares;
    int count = 0, *members = new_table((size_t)roster.ranks, sizeof(int));
    for (int at = 0; at < roster.ranks; at++)
        if (roster.places[at] >= 0)
            members[count++] = member_at(roster.places[at]);
    PMPI_Group_incl(roster.pool, count, members, &ranks);
    free(members);
    if (own_rank() >= 0)
        return ranks;
    PMPI_Group_difference(roster.pool, ranks, &spares);
    PMPI_Group_free(&ranks);
    return spares;
}

void first_numbers(int *ranks)
{
    for (int at = 0, now = 0; at < roster.ranks; at++)
        if (roster.places[at] >= 0)
            ranks[now++] = at;
}

int first_count(void)
{
    return roster.ranks;
}

int place_of(int rank)
{
    return roster.places[rank];
}
