/* Checkpoints in memory: each rank's protected memory here and at a partner on another host.
 *
 * A checkpoint is written beside the one before and counts when an agreement says that all have theirs: a failure in its
 * midst leaves the one before in force at all ranks. What must travel after a repair follows from one table of who holds what,
 * the same at all ranks. */
#include "agree.h"
#include "bounded.h"
#include "copies.h"
#include "inject.h"
#include "parity.h"
#include "ring.h"
#include "roster.h"
#include "runflat.h"
#include "spares.h"
#include "state.h"
#include "store.h"
#include "transfer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Memory that the program has named. */
struct region {
    int id;
    void *memory;
    size_t bytes;
};

static struct region *regions;
static int region_count;

/* What a process holds, for the table. */
struct holding {
    int64_t number, bytes; /* number -1: nothing */
    int64_t members;       /* of the group that a block is of */
};

RF_API int RF_Protect(int id, void *memory, size_t bytes)
{
    if (!memory && bytes > 0)
        return RF_ERR_ARGUMENT;
    for (int at = 0; at < region_count; at++) {
        if (regions[at].id == id) {
            regions[at] = (struct region){id, memory, bytes};
            return MPI_SUCCESS;
        }
    }
    struct region *more = realloc(regions, sizeof *regions * ((size_t)region_count + 1));
    if (!more)
        return MPI_ERR_NO_MEM;
    regions = more;
    regions[region_count++] = (struct region){id, memory, bytes};
    return MPI_SUCCESS;
}

/* The shift that puts the most second copies on other hosts; the smallest of several. */
static int best_shift(const struct ring *ring)
{
    int best = ring->size > 1 ? 1 : 0, most = -1;
    for (int shift = 1; shift < ring->size; shift++) {
        int apart = 0;
        for (int rank = 0; rank < ring->size; rank++) {
            int here = process_of(ring->number[rank]), there = process_of(ring->number[(rank + shift) % ring->size]);
            apart += rf.place[here].host != rf.place[there].host;
        }
        if (apart > most)
            most = apart, best = shift;
        if (most == ring->size)
            break;
    }
    return best;
}

static struct ring open_ring(MPI_Comm comm)
{
    struct ring ring = {.comm = comm};
    PMPI_Comm_size(comm, &ring.size);
    PMPI_Comm_rank(comm, &ring.own);
    ring.number = malloc(sizeof(int) * (size_t)ring.size);
    first_numbers(ring.number);
    ring.shift = best_shift(&ring);
    return ring;
}

static int partner(const struct ring *ring, int rank, int direction)
{
    return (rank + direction * ring->shift + ring->size) % ring->size;
}

static size_t snapshot_bytes(void)
{
    size_t bytes = 0;
    for (int at = 0; at < region_count; at++)
        bytes += sizeof(int64_t[2]) + regions[at].bytes;
    return bytes;
}

/* Writes the protected memory down; false: there is no room. */
static bool take_snapshot(int number, int64_t version)
{
    struct copy *copy = new_copy(number, version, snapshot_bytes());
    if (!copy)
        return false;
    unsigned char *to = copy->data;
    for (int at = 0; at < region_count; at++) {
        int64_t head[2] = {regions[at].id, (int64_t)regions[at].bytes};
        memcpy(to, head, sizeof head);
        memcpy(to + sizeof head, regions[at].memory, regions[at].bytes);
        to += sizeof head + regions[at].bytes;
    }
    copy->checksum = checksum_of(copy->data, copy->bytes);
    return true;
}

/* Puts a snapshot back into the protected memory; false: that is not what was named. */
static bool load_snapshot(const struct copy *copy)
{
    const unsigned char *from = copy->data, *end = from + copy->bytes;
    for (int at = 0; at < region_count; at++) {
        int64_t head[2];
        if (end - from < (ptrdiff_t)sizeof head)
            return false;
        memcpy(head, from, sizeof head);
        if (head[0] != regions[at].id || head[1] != (int64_t)regions[at].bytes) {
            say("memory %d of %zu bytes is protected now, memory %ld of %ld bytes was at the checkpoint; name the same",
                regions[at].id, regions[at].bytes, (long)head[0], (long)head[1]);
            return false;
        }
        memcpy(regions[at].memory, from + sizeof head, regions[at].bytes);
        from += sizeof head + regions[at].bytes;
    }
    return from == end;
}

/* Whether all ranks are there and did well: the class of the failure if not. */
static int settle(const struct ring *ring, bool good)
{
    enter_phase("agree");
    int flag = good, code = agree_unless_revoked(ring->comm, &flag, 0);
    return code == MPI_SUCCESS && !flag ? MPIX_ERR_REVOKED : code;
}

/* Each rank tells the one that keeps its second copy how large that is; false: a failure. */
static bool exchange_sizes(const struct ring *ring, size_t own, size_t *theirs)
{
    uint64_t sent = own, got = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int to = partner(ring, ring->own, 1), from = partner(ring, ring->own, -1), tag = 32000;
    PMPI_Irecv(&got, 1, MPI_UINT64_T, from, tag, ring->comm, &requests[0]);
    PMPI_Isend(&sent, 1, MPI_UINT64_T, to, tag, ring->comm, &requests[1]);
    bool good = finish_requests(ring->comm, 2, requests);
    *theirs = got;
    return good;
}

/* Copies the own snapshot to the partner, and the other partner's here. */
static bool share(const struct ring *ring, int64_t version)
{
    if (ring->shift == 0)
        return true;
    int to = partner(ring, ring->own, 1), from = partner(ring, ring->own, -1);
    size_t own = find_copy(ring->number[ring->own], version)->bytes, theirs;
    if (!exchange_sizes(ring, own, &theirs))
        return false;
    struct transfer both[2] = {{ring->number[ring->own], ring->own, to, own},
                               {ring->number[from], from, ring->own, theirs}};
    return carry(ring->comm, ring->own, version, 2, both);
}

/* What this rank keeps beside its own copy. */
static int second_of(const struct ring *ring)
{
    return parity_size() ? block_number(ring->number[ring->own]) : ring->number[partner(ring, ring->own, -1)];
}

RF_API int RF_Checkpoint(MPI_Comm comm, int64_t version)
{
    if (!job_runs() || version <= last_complete || comm == MPI_COMM_NULL)
        return RF_ERR_ARGUMENT;
    double begin = wall_s();
    enter_phase("checkpoint");
    struct ring ring = open_ring(comm);
    int own = ring.number[ring.own], other = second_of(&ring);
    bool good = take_snapshot(own, version);
    if (!good)
        PMPIX_Comm_revoke(comm);
    good = good && (parity_size() ? share_parity(&ring, version) : share(&ring, version)) && store_copies(version);
    int code = settle(&ring, good);
    /* After a failure others may know that it is complete: it is kept beside the one before, and RF_Restore finds out. */
    if (code == MPI_SUCCESS) {
        keep_copies(last_complete = version, own, other);
        forget_stored(version);
    }
    free(ring.number);
    if (code == MPI_SUCCESS)
        note_event_of("checkpoint", 1e3 * (wall_s() - begin), "version", (long)version);
    return code;
}

/* Forgets copies that are not any more what they were: the other one of the same rank is as good. */
static void drop_changed_copies(void)
{
    for (int at = 0; at < COPIES_MAX; at++) {
        struct copy *copy = &copies[at];
        if (copy->rank < 0 || checksum_of(copy->data, copy->bytes) == copy->checksum)
            continue;
        say("a copy of rank %d's checkpoint of version %ld has changed in memory; it is left out", copy->rank, (long)copy->version);
        note_event_of("changed", -1, "version", (long)copy->version);
        drop_copy(copy);
    }
}

/* Who holds which copies of a version: COPIES_MAX entries by rank. NULL: a failure. */
static struct holding *who_holds(const struct ring *ring, int64_t version)
{
    struct holding own[COPIES_MAX];
    struct holding *all = malloc(sizeof own * (size_t)ring->size);
    for (int at = 0; at < COPIES_MAX; at++) {
        bool has = copies[at].rank >= 0 && copies[at].version == version;
        own[at] = (struct holding){has ? copies[at].rank : -1, has ? (int64_t)copies[at].bytes : 0,
                                   has ? members_of(&copies[at]) : 0};
    }
    if (PMPI_Allgather(own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, ring->comm) == MPI_SUCCESS)
        return all;
    PMPIX_Comm_revoke(ring->comm);
    free(all);
    return NULL;
}

/* What `rank` holds of the rank with a first number; NULL: nothing. */
static const struct holding *held(const struct holding *all, int rank, int number)
{
    for (int at = 0; at < COPIES_MAX; at++)
        if (all[rank * COPIES_MAX + at].number == number)
            return &all[rank * COPIES_MAX + at];
    return NULL;
}

/* The copies that must travel so that each rank has its own; -1: one is lost. */
static int plan_homes(const struct ring *ring, const struct holding *all, struct transfer *plan)
{
    int count = 0;
    for (int rank = 0; rank < ring->size; rank++) {
        int number = ring->number[rank];
        if (held(all, rank, number))
            continue;
        const struct holding *found = NULL;
        for (int from = 0; from < ring->size && !found; from++)
            if ((found = held(all, from, number)))
                plan[count++] = (struct transfer){number, from, rank, (size_t)found->bytes};
        if (!found)
            return -1;
    }
    return count;
}

/* The copies that must travel so that each rank's second copy is where it belongs; each rank has its own. */
static int plan_seconds(const struct ring *ring, const struct holding *all, struct transfer *plan)
{
    int count = 0;
    for (int rank = 0; rank < ring->size && ring->shift > 0; rank++) {
        int number = ring->number[rank], to = partner(ring, rank, 1);
        const struct holding *found = NULL;
        for (int at = 0; at < ring->size && !found; at++)
            found = held(all, at, number);
        if (!held(all, to, number))
            plan[count++] = (struct transfer){number, rank, to, (size_t)found->bytes};
    }
    return count;
}

/* The first rank that holds something; -1: none does. */
static int holder(const struct ring *ring, const struct holding *all, int number)
{
    for (int rank = 0; rank < ring->size; rank++)
        if (held(all, rank, number))
            return rank;
    return -1;
}

/* Copies and blocks that another rank holds than the one they are of. */
static int plan_moves(const struct ring *ring, const struct holding *all, struct transfer *plan)
{
    int count = 0;
    for (int rank = 0; rank < ring->size; rank++) {
        int number[2] = {ring->number[rank], block_number(ring->number[rank])};
        for (int at = 0; at < 2; at++) {
            int from = holder(ring, all, number[at]);
            if (from >= 0 && !held(all, rank, number[at]))
                plan[count++] = (struct transfer){number[at], from, rank, (size_t)held(all, from, number[at])->bytes};
        }
    }
    return count;
}

/* What is left of a group. */
struct left {
    int lost;           /* the rank whose copy nobody holds; -1: none */
    int64_t block_bytes; /* of the blocks */
    bool renews;        /* a block is not there or is not what it would be made of now */
    bool hopeless;      /* more is lost than blocks give back */
};

static struct left what_is_left(const struct ring *ring, const struct holding *all, int group)
{
    struct left left = {.lost = -1};
    int ranks = 0;
    for (int rank = 0; rank < ring->size; rank++)
        ranks += group_of(ring->number[rank]) == group;
    for (int rank = 0; rank < ring->size; rank++) {
        int number = ring->number[rank];
        if (group_of(number) != group)
            continue;
        if (holder(ring, all, number) < 0) {
            left.hopeless = left.hopeless || left.lost >= 0;
            left.lost = rank;
        }
    }
    for (int rank = 0; rank < ring->size; rank++) {
        int from = group_of(ring->number[rank]) == group ? holder(ring, all, block_number(ring->number[rank])) : -2;
        const struct holding *block = from >= 0 ? held(all, from, block_number(ring->number[rank])) : NULL;
        bool good = block && block->members == ranks;
        left.block_bytes = good ? block->bytes : left.block_bytes;
        left.renews = left.renews || (from != -2 && !good);
        left.hopeless = left.hopeless || (from != -2 && !good && left.lost >= 0 && rank != left.lost);
    }
    left.renews = left.renews || left.lost >= 0;
    return left;
}

/* Brings copies and blocks home, makes a lost copy anew and loads this rank's. */
static bool restore_by_parity(const struct ring *ring, const struct holding *all, int64_t version, int *lost)
{
    int number = ring->number[ring->own];
    for (int group = 0; group < first_count(); group++)
        *lost = *lost || what_is_left(ring, all, group).hopeless;
    if (*lost)
        return true;
    struct left left = what_is_left(ring, all, group_of(number));
    struct transfer *plan = calloc((size_t)(2 * ring->size), sizeof *plan);
    bool good = plan && carry(ring->comm, ring->own, version, plan_moves(ring, all, plan), plan);
    free(plan);
    good = good && (left.lost < 0 || rebuild(ring, version, left.lost, (size_t)left.block_bytes));
    good = good && (!left.renews || share_parity(ring, version));
    return good && load_snapshot(find_copy(number, version));
}

/* The last version that counts; -1: none. False: a failure. */
static bool last_of_all(const struct ring *ring, int64_t *version)
{
    if (PMPI_Allreduce(&last_complete, version, 1, MPI_INT64_T, MPI_MAX, ring->comm) == MPI_SUCCESS)
        return true;
    PMPIX_Comm_revoke(ring->comm);
    return false;
}

/* Brings copies home, loads them and renews what was lost; what it returns is the same at all ranks. */
static int restore(const struct ring *ring, int64_t *version)
{
    int64_t last = -1;
    int own = ring->number[ring->own], lost = 0, code;
    bool good = last_of_all(ring, &last);
    struct holding *all = good && last >= 0 ? who_holds(ring, last) : NULL;
    struct transfer *plan = calloc((size_t)ring->size, sizeof *plan);
    if (all && parity_size()) {
        good = restore_by_parity(ring, all, last, &lost);
    } else if (all) {
        int count = plan_homes(ring, all, plan);
        lost = count < 0;
        good = lost || (carry(ring->comm, ring->own, last, count, plan) &&
                        carry(ring->comm, ring->own, last, plan_seconds(ring, all, plan), plan) && load_snapshot(find_copy(own, last)));
    }
    code = settle(ring, good && (all || last < 0));
    if (code == MPI_SUCCESS && last >= 0 && !lost) {
        keep_copies(last, own, second_of(ring));
        *version = last_complete = last;
    }
    free(all);
    free(plan);
    if (code != MPI_SUCCESS)
        return code;
    if (lost)
        keep_copies(last_complete = -1, -1, -1);
    return lost ? RF_ERR_DATA_LOST : last < 0 ? RF_ERR_NO_CHECKPOINT : MPI_SUCCESS;
}

/* For tests: what a fault of memory does. */
static void change_a_copy(void)
{
    for (int at = 0; at < COPIES_MAX; at++)
        if (copies[at].rank >= 0 && copies[at].bytes > 0)
            copies[at].data[copies[at].bytes / 2] ^= 1;
}

RF_API int RF_Restore(MPI_Comm comm, int64_t *version)
{
    if (!job_runs() || comm == MPI_COMM_NULL)
        return RF_ERR_ARGUMENT;
    double begin = wall_s();
    begin_step("RF_Restore");
    enter_phase("restore");
    if (last_complete >= 0 && is_corruption_due())
        change_a_copy();
    drop_changed_copies();
    struct ring ring = open_ring(comm);
    int code = restore(&ring, version);
    free(ring.number);
    end_step();
    if (code == MPI_SUCCESS)
        note_event_of("restored", 1e3 * (wall_s() - begin), "version", (long)*version);
    return code;
}
