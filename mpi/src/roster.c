#include "roster.h"

#include "fence.h"
#include "policy.h"
#include "state.h"

#include <stdlib.h>

static struct {
    struct policy policy;
    bool *dead;  /* by rank of the world */
    int ranks;   /* at the beginning */
    int *places; /* by rank at the beginning: its process in the world, -1: none */
    bool lost_ranks;
} roster;

bool open_roster(int spares)
{
    const char *launch = getenv("RUNFLAT_SPARES"), *allocation = getenv("RUNFLAT_ALLOCATION");
    bool none = spares == 0 || (spares < 0 && !(launch && atoi(launch) > 0) && !(allocation && *allocation));
    if (!none && !open_policy(&roster.policy, rf.size, spares))
        return false;
    roster.dead = calloc((size_t)rf.size, sizeof *roster.dead);
    roster.ranks = none ? rf.size : (int)roster.policy.ranks;
    roster.places = malloc(sizeof(int) * (size_t)roster.ranks);
    for (int rank = 0; rank < roster.ranks; rank++)
        roster.places[rank] = rank;
    if (!none)
        policy_places(&roster.policy, roster.places);
    return true;
}

void close_roster(void)
{
    close_policy(&roster.policy);
}

static void bury_one(int place)
{
    roster.dead[place] = true;
    note_event_of("failure_detected", -1, "of", place);
    if (roster.policy.handle && !policy_fail(&roster.policy, place))
        roster.lost_ranks = true;
}

void bury(MPI_Comm pool)
{
    MPI_Group kept;
    PMPI_Comm_group(pool, &kept);
    int all = rf.size, *world = malloc(sizeof(int) * (size_t)all), *there = malloc(sizeof(int) * (size_t)all);
    for (int place = 0; place < all; place++)
        world[place] = place;
    PMPI_Group_translate_ranks(rf.group, all, world, kept, there);
    for (int place = 0; place < all; place++)
        if (there[place] == MPI_UNDEFINED && !roster.dead[place])
            bury_one(place);
    if (roster.policy.handle) {
        policy_places(&roster.policy, roster.places);
    } else {
        for (int rank = 0; rank < roster.ranks; rank++)
            if (roster.places[rank] >= 0 && roster.dead[roster.places[rank]])
                roster.places[rank] = -1, roster.lost_ranks = true;
    }
    fence_others(kept);
    PMPI_Group_free(&kept);
    free(world);
    free(there);
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

MPI_Group own_group(MPI_Comm pool)
{
    MPI_Group all, ranks, spares;
    int count = 0, *places = malloc(sizeof(int) * (size_t)roster.ranks);
    for (int at = 0; at < roster.ranks; at++)
        if (roster.places[at] >= 0)
            places[count++] = roster.places[at];
    PMPI_Group_incl(rf.group, count, places, &ranks);
    free(places);
    if (own_rank() >= 0)
        return ranks;
    PMPI_Comm_group(pool, &all);
    PMPI_Group_difference(all, ranks, &spares);
    PMPI_Group_free(&all);
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

int process_of(int rank)
{
    return roster.places[rank];
}
