#include "data/homing.h"

#include "data/copies.h"
#include "guards/inject.h"
#include "modes/agree.h"
#include "spares/roster.h"
#include "state.h"

#include <mpi-ext.h>
#include <stdlib.h>

enum { TAG = 32003, NOBODY = -1 };

bool has_checkpoint(void)
{
    return last_complete >= 0;
}

void drop_all_copies(void)
{
    keep_copies(last_complete = -1, -1, -1);
}

static struct offer own_offer(void)
{
    struct offer offer = {.last = last_complete};
    for (int at = 0; at < COPIES_MAX; at++) {
        const struct copy *copy = &copies[at];
        bool is_whole = copy->rank >= 0 && copy->whole;
        offer.held[at] = (struct offered){is_whole ? copy->rank : -1, copy->version, copy->pass,
                                          (int64_t)copy->bytes, copy->checksum};
    }
    return offer;
}

/* Asks as many processes for what they know as are known here; so log2 of all rounds bring all. */
static void begin_round(struct homing *own)
{
    int more = own->known < own->size - own->known ? own->known : own->size - own->known;
    size_t bytes = sizeof *own->offers * (size_t)more;
    receive_bytes(&own->flight, &own->offers[own->known], bytes,
                  (own->own + own->known) % own->size, TAG);
    send_bytes(&own->flight, own->offers, bytes, (own->own - own->known + own->size) % own->size,
               TAG);
    own->known += more;
}

void begin_homing(struct homing *homing, MPI_Comm pool)
{
    *homing = (struct homing){.pool = pool, .known = 1, .begin = wall_s()};
    change_copies_if_due();
    PMPI_Comm_size(pool, &homing->size);
    PMPI_Comm_rank(pool, &homing->own);
    begin_flight(&homing->flight, pool);
    homing->offers = new_table((size_t)homing->size, sizeof *homing->offers);
    homing->offers[0] = own_offer();
    if (homing->size > 1)
        begin_round(homing);
}

static const struct offer *offer_of(const struct homing *own, int member)
{
    return &own->offers[(member - own->own + own->size) % own->size];
}

static const struct offered *held(const struct homing *own, int member, int64_t number)
{
    const struct offer *offer = offer_of(own, member);
    for (int at = 0; at < COPIES_MAX; at++)
        if (offer->held[at].number == number && offer->held[at].version == own->version)
            return &offer->held[at];
    return NULL;
}

/* The processes that are ranks, by rank in the pool. */
static bool *find_ranks(const struct homing *own)
{
    bool *is_rank = new_table((size_t)own->size, sizeof *is_rank);
    for (int number = 0; number < first_count(); number++)
        if (place_of(number) >= 0)
            is_rank[member_at(place_of(number))] = true;
    return is_rank;
}

/* By the number of a copy or block: who holds it, a rank where one does; NOBODY. */
static void find_holders(const struct homing *own, const bool *is_rank, int *holder)
{
    for (int number = 0; number < 2 * first_count(); number++)
        holder[number] = NOBODY;
    for (int member = 0; member < own->size; member++) {
        const struct offer *offer = offer_of(own, member);
        for (int at = 0; at < COPIES_MAX; at++) {
            int64_t number = offer->held[at].number;
            if (number >= 0 && offer->held[at].version == own->version &&
                (holder[number] == NOBODY || (is_rank[member] && !is_rank[holder[number]])))
                holder[number] = member;
        }
    }
}

/* What must travel so that each rank holds what is of it, as far as anybody does. */
static void make_plan(struct homing *own)
{
    int numbers = 2 * first_count();
    bool *is_rank = find_ranks(own);
    int *holder = new_table((size_t)numbers, sizeof *holder);
    own->plan = new_table((size_t)numbers, sizeof *own->plan);
    own->version = -1;
    for (int at = 0; at < own->size; at++)
        if (own->offers[at].last > own->version)
            own->version = own->offers[at].last;
    find_holders(own, is_rank, holder);
    for (int number = 0; number < numbers; number++) {
        int from = holder[number], home = place_of(number % first_count());
        if (from != NOBODY && home >= 0 && !held(own, member_at(home), number))
            own->plan[own->count++] = (struct transfer){number, from, member_at(home),
                                                        (size_t)held(own, from, number)->bytes};
    }
    free(is_rank);
    free(holder);
}

/* How many copies go from this process, or (`comes`) come to it. */
static int count_own(const struct homing *own, bool comes)
{
    int count = 0;
    for (int at = 0; at < own->count; at++)
        count += (comes ? own->plan[at].to : own->plan[at].from) == own->own;
    return count;
}

static void begin_to_carry(struct homing *own)
{
    make_plan(own);
    if (count_own(own, false) + count_own(own, true) > 0)
        enter_phase("reload");
    begin_carrying(&own->flight, own->pool, own->own, own->version, own->count, own->plan);
    own->stage = CARRYING;
}

static void land_here(struct homing *own)
{
    int brought = count_own(own, true);
    if (own->stage == CARRYING && own->flight.good && brought > 0)
        note_event_of("brought", 1e3 * (wall_s() - own->begin), "copies", brought);
    own->stage = LANDED;
}

bool advance_homing(struct homing *homing)
{
    if (homing->stage >= LANDED)
        return true;
    if (!has_landed(&homing->flight))
        return false;
    if (homing->stage == CARRYING || !homing->flight.good)
        land_here(homing);
    else if (homing->known < homing->size)
        begin_round(homing);
    else
        begin_to_carry(homing);
    return homing->stage == LANDED;
}

/* What has come is as it was offered, or has changed in the memory of its holder: it is checked like the copies that were here. */
static void take_all(const struct homing *own)
{
    for (int at = 0; at < own->count; at++) {
        const struct transfer *one = &own->plan[at];
        if (one->to != own->own)
            continue;
        const struct offered *offered = held(own, one->from, one->number);
        struct copy *copy = find_copy(one->number, own->version);
        copy->pass = offered->pass;
        copy->checksum = offered->checksum;
        copy->whole = true;
    }
    if (own_rank() >= 0)
        last_complete = own->version;
}

static void forget(struct homing *own)
{
    free(own->offers);
    free(own->plan);
    own->offers = NULL;
    own->plan = NULL;
}

bool end_homing(struct homing *homing, bool *good)
{
    int done = 0;
    if (homing->stage != AGREEING) {
        if (!advance_homing(homing))
            return false;
        /* What has ended well here may have failed elsewhere. */
        homing->all_good = homing->flight.good;
        iagree(homing->pool, &homing->all_good, &homing->agreement);
        homing->stage = AGREEING;
    }
    if (PMPI_Test(&homing->agreement, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        return false;
    *good = homing->all_good;
    if (*good)
        take_all(homing);
    forget(homing);
    return true;
}

bool leave_homing(struct homing *homing)
{
    give_up_flight(&homing->flight);
    if (!has_landed(&homing->flight))
        return false;
    forget(homing);
    return true;
}
