/* Bringing copies back. What must travel after a repair follows from one table of who holds what, the same at all ranks. */
#include "data/checkpoint.h"
#include "data/copies.h"
#include "data/parity.h"
#include "data/ring.h"
#include "data/sharing.h"
#include "data/snapshot.h"
#include "data/store.h"
#include "data/transfer.h"
#include "guards/bounded.h"
#include "guards/inject.h"
#include "modes/agree.h"
#include "runflat.h"
#include "spares/roster.h"
#include "spares/spares.h"
#include "state.h"

#include <stdlib.h>

/* What a process holds, for the table. */
struct holding {
    int64_t number, bytes; /* number -1: nothing */
    int64_t members;       /* of the group that a block is of */
};

/* Who holds which copies of a version: COPIES_MAX entries by rank. NULL: a failure. */
static struct holding *who_holds(const struct ring *ring, int64_t version)
{
    struct holding own[COPIES_MAX];
    struct holding *all = new_table((size_t)ring->size, sizeof own);
    for (int at = 0; at < COPIES_MAX; at++) {
        bool has = copies[at].rank >= 0 && copies[at].version == version;
        own[at] = (struct holding){has ? copies[at].rank : -1, has ? (int64_t)copies[at].bytes : 0,
                                   has ? members_of(&copies[at]) : 0};
    }
    if (PMPI_Allgather(own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, ring->comm) ==
        MPI_SUCCESS)
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

/* The first rank that holds something; -1: none does. */
static int holder(const struct ring *ring, const struct holding *all, int number)
{
    for (int rank = 0; rank < ring->size; rank++)
        if (held(all, rank, number))
            return rank;
    return -1;
}

/* The copies that must travel so that each rank has its own; -1: one is lost. */
static int plan_homes(const struct ring *ring, const struct holding *all, struct transfer *plan)
{
    int count = 0;
    for (int rank = 0; rank < ring->size; rank++) {
        int number = ring->number[rank], from = holder(ring, all, number);
        if (from < 0)
            return -1;
        if (!held(all, rank, number))
            plan[count++] =
                (struct transfer){number, from, rank, (size_t)held(all, from, number)->bytes};
    }
    return count;
}

/* Looks in the files of this host for copies that nobody holds in memory; the ranks of a host share them. */
static void look_in_store(const struct ring *ring, const struct holding *all, int64_t version)
{
    int here = 0, before = 0, lost = 0;
    for (int rank = 0; rank < ring->size; rank++) {
        bool beside = is_here(place_of(ring->number[rank]));
        here += beside;
        before += beside && rank < ring->own;
    }
    for (int rank = 0; rank < ring->size; rank++)
        if (holder(ring, all, ring->number[rank]) < 0 && lost++ % here == before)
            load_stored_copy(ring->number[rank], version, last_pass);
}

/* The copies that must travel so that each rank's second copy is where it belongs; each rank has its own. */
static int plan_seconds(const struct ring *ring, const struct holding *all, struct transfer *plan)
{
    int count = 0;
    for (int rank = 0; rank < ring->size && ring->shift > 0; rank++) {
        int number = ring->number[rank], to = partner(ring, rank, 1);
        const struct holding *found = held(all, holder(ring, all, number), number);
        if (!held(all, to, number))
            plan[count++] = (struct transfer){number, rank, to, (size_t)found->bytes};
    }
    return count;
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
                plan[count++] = (struct transfer){number[at], from, rank,
                                                  (size_t)held(all, from, number[at])->bytes};
        }
    }
    return count;
}

/* What is left of a group. */
struct left {
    int lost;            /* the rank whose copy nobody holds; -1: none */
    int64_t block_bytes; /* of the blocks */
    bool renews;         /* a block is not there or is not what it would be made of now */
    bool hopeless;       /* more is lost than blocks give back */
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
        int from = group_of(ring->number[rank]) == group
                       ? holder(ring, all, block_number(ring->number[rank]))
                       : -2;
        const struct holding *block =
            from >= 0 ? held(all, from, block_number(ring->number[rank])) : NULL;
        bool good = block && block->members == ranks;
        left.block_bytes = good ? block->bytes : left.block_bytes;
        left.renews = left.renews || (from != -2 && !good);
        left.hopeless =
            left.hopeless || (from != -2 && !good && left.lost >= 0 && rank != left.lost);
    }
    left.renews = left.renews || left.lost >= 0;
    return left;
}

/* Loads the copy of a rank; RF_ERR_ARGUMENT: other memory is protected now. */
static int load(int number, int64_t version)
{
    return load_snapshot(find_copy(number, version)) ? MPI_SUCCESS : RF_ERR_ARGUMENT;
}

/* Brings copies and blocks home, makes a lost copy anew and loads this rank's. */
static int restore_by_parity(const struct ring *ring, const struct holding *all, int64_t version,
                             int *lost)
{
    int number = ring->number[ring->own];
    for (int group = 0; group < first_count(); group++)
        *lost = *lost || what_is_left(ring, all, group).hopeless;
    if (*lost)
        return MPI_SUCCESS;
    struct left left = what_is_left(ring, all, group_of(number));
    struct transfer *plan = new_table((size_t)(2 * ring->size), sizeof *plan);
    bool good = carry(ring->comm, ring->own, version, plan_moves(ring, all, plan), plan);
    free(plan);
    int code = good && left.lost >= 0 ? rebuild(ring, version, left.lost, (size_t)left.block_bytes)
                                      : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    if (good && left.renews) {
        struct sharing sharing;
        begin_sharing(&sharing, ring, version);
        good = share(&sharing);
    }
    return good ? load(number, version) : class_of_failure();
}

/* Brings copies home, and second copies to where they belong, and loads this rank's; `all` is renewed if files bring more. */
static int restore_by_copies(const struct ring *ring, struct holding **all, int64_t version,
                             int *lost)
{
    struct transfer *plan = new_table((size_t)ring->size, sizeof *plan);
    int count = plan_homes(ring, *all, plan);
    if (count < 0 && has_store()) {
        look_in_store(ring, *all, version);
        free(*all);
        *all = who_holds(ring, version);
        count = *all ? plan_homes(ring, *all, plan) : 0;
    }
    *lost = count < 0;
    bool good =
        *all &&
        (*lost || (carry(ring->comm, ring->own, version, count, plan) &&
                   carry(ring->comm, ring->own, version, plan_seconds(ring, *all, plan), plan)));
    free(plan);
    if (!good)
        return class_of_failure();
    return *lost ? MPI_SUCCESS : load(ring->number[ring->own], version);
}

/* The last version that counts; -1: none. What others know of passes is known here then, too. False: a failure. */
static bool last_of_all(const struct ring *ring, int64_t *version)
{
    int64_t own[] = {last_complete, pass, last_pass}, all[3];
    if (PMPI_Allreduce(own, all, 3, MPI_INT64_T, MPI_MAX, ring->comm) != MPI_SUCCESS) {
        PMPIX_Comm_revoke(ring->comm);
        return false;
    }
    *version = all[0];
    pass = all[1];
    last_pass = all[2]; /* they only grow: the highest is that of the last version */
    return true;
}

/* Brings copies home, loads them and renews what was lost; what it returns is the same at all ranks. */
static int restore(MPI_Comm comm, const struct ring *ring, int64_t *version)
{
    int64_t last = -1;
    int own = ring->number[ring->own], lost = 0, code;
    forget_lack_of_memory();
    bool good = last_of_all(ring, &last);
    struct holding *all = good && last >= 0 ? who_holds(ring, last) : NULL;
    code = all || (good && last < 0) ? MPI_SUCCESS : MPIX_ERR_REVOKED;
    if (all)
        code = parity_size() ? restore_by_parity(ring, all, last, &lost)
                             : restore_by_copies(ring, &all, last, &lost);
    code = agree_on_outcome(comm, code, 0);
    if (code == MPI_SUCCESS && last >= 0 && !lost) {
        keep_copies(last, own, second_of(ring));
        *version = last_complete = last;
    }
    free(all);
    lost = lost || code == RF_ERR_DATA_LOST;
    if (code != MPI_SUCCESS && !lost)
        return code;
    if (lost)
        keep_copies(last_complete = -1, -1, -1);
    /* What was written before the failure of later versions is not of those that come now. */
    pass++;
    return lost ? RF_ERR_DATA_LOST : last < 0 ? RF_ERR_NO_CHECKPOINT : MPI_SUCCESS;
}

RF_API int RF_Restore(MPI_Comm comm, int64_t *version)
{
    if (!version)
        return refuse("RF_Restore", "there is no place for the version (NULL)");
    if (!may_call("RF_Restore", comm))
        return RF_ERR_ARGUMENT;
    finish_checkpoint();
    double begin = wall_s();
    begin_step("RF_Restore");
    enter_phase("restore");
    change_copies_if_due();
    drop_changed_copies();
    struct ring ring = open_ring(side_of_job());
    int code = restore(comm, &ring, version);
    close_ring(&ring);
    end_step();
    if (code == MPI_SUCCESS)
        note_event_of("restored", 1e3 * (wall_s() - begin), "version", (long)*version);
    return code;
}
