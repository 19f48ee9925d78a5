#include "data/handing.h"

#include "data/copies.h"
#include "modes/agree.h"
#include "spares/roster.h"
#include "state.h"

#include <mpi-ext.h>
#include <stdlib.h>

enum { TAG = 32003, NOBODY = -1 };

bool has_to_hand(void)
{
    return own_rank() < 0 && last_complete >= 0;
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
        offer.held[at] = (struct offered){copy->rank, copy->version, (int64_t)copy->bytes};
    }
    return offer;
}

/* Asks as many processes for what they know as are known here; so log2 of all rounds bring all. */
static void begin_round(struct handing *own)
{
    int more = own->known < own->size - own->known ? own->known : own->size - own->known;
    size_t bytes = sizeof *own->offers * (size_t)more;
    receive_bytes(&own->flight, &own->offers[own->known], bytes,
                  (own->own + own->known) % own->size, TAG);
    send_bytes(&own->flight, own->offers, bytes, (own->own - own->known + own->size) % own->size,
               TAG);
    own->known += more;
}

void begin_handing(struct handing *handing, MPI_Comm pool)
{
    *handing = (struct handing){.pool = pool, .known = 1};
    PMPI_Comm_size(pool, &handing->size);
    PMPI_Comm_rank(pool, &handing->own);
    begin_flight(&handing->flight, pool);
    handing->offers = new_table((size_t)handing->size, sizeof *handing->offers);
    drop_changed_copies();
    handing->offers[0] = own_offer();
    if (handing->size > 1)
        begin_round(handing);
}

static const struct offer *offer_of(const struct handing *own, int member)
{
    return &own->offers[(member - own->own + own->size) % own->size];
}

static const struct offered *held(const struct handing *own, int member, int64_t number)
{
    const struct offer *offer = offer_of(own, member);
    for (int at = 0; at < COPIES_MAX; at++)
        if (offer->held[at].number == number && offer->held[at].version == own->version)
            return &offer->held[at];
    return NULL;
}

/* The processes that are ranks, by rank in the pool; NULL: no memory. */
static bool *find_ranks(const struct handing *own)
{
    bool *is_rank = new_table((size_t)own->size, sizeof *is_rank);
    for (int number = 0; number < first_count(); number++)
        if (place_of(number) >= 0)
            is_rank[member_at(place_of(number))] = true;
    return is_rank;
}

/* By the number of a copy or block: who holds it, a rank where one does; NOBODY. */
static void find_holders(const struct handing *own, const bool *is_rank, int *holder)
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

/* What must travel from spares to the ranks that it is of. */
static void make_plan(struct handing *own)
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
        if (from != NOBODY && !is_rank[from] && home >= 0)
            own->plan[own->count++] = (struct transfer){number, from, member_at(home),
                                                        (size_t)held(own, from, number)->bytes};
    }
    free(is_rank);
    free(holder);
}

static void note_handed(const struct handing *own)
{
    int handed = 0;
    for (int at = 0; at < own->count; at++)
        handed += own->plan[at].from == own->own;
    if (handed)
        note_event_of("handed", -1, "copies", handed);
}

static void end_handing(struct handing *own, bool good)
{
    if (good) {
        note_handed(own);
        end_carrying(own->own, own->version, own->count, own->plan);
        if (own_rank() >= 0)
            last_complete = own->version;
    }
    free(own->offers);
    free(own->plan);
}

/* What has ended well here may have failed elsewhere. */
static void begin_agreement(struct handing *own)
{
    own->all_good = own->flight.good;
    iagree(own->pool, &own->all_good, &own->agreement);
    own->stage = AGREEING;
}

static void begin_to_carry(struct handing *own)
{
    make_plan(own);
    begin_carrying(&own->flight, own->pool, own->own, own->version, own->count, own->plan);
    own->stage = CARRYING;
}

bool advance_handing(struct handing *handing, bool *good)
{
    int done = 0;
    if (handing->stage == AGREEING) {
        if (PMPI_Test(&handing->agreement, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
            return false;
        *good = handing->all_good;
        end_handing(handing, *good);
        return true;
    }
    if (!has_landed(&handing->flight))
        return false;
    if (!handing->flight.good || handing->stage == CARRYING)
        begin_agreement(handing);
    else if (handing->known < handing->size)
        begin_round(handing);
    else
        begin_to_carry(handing);
    return false;
}
