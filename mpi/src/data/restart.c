#include "data/restart.h"

#include "data/copies.h"
#include "data/store.h"
#include "data/transfer.h"
#include "modes/agree.h"
#include "spares/roster.h"
#include "state.h"

#include <stdlib.h>

/* What a process has read. */
struct found {
    int64_t number, version, bytes; /* number -1: nothing */
};

/* What all processes of the pool have read: COPIES_MAX entries each. */
struct table {
    MPI_Comm pool;
    int size;
    struct found *all;
};

bool is_restart(void)
{
    const char *given = getenv("RUNFLAT_RESTART");
    return given && atoi(given) > 0;
}

/* Shares the files of this host among its processes. */
static void load_share(void)
{
    int before = 0, here = 0;
    for (int place = 0; place < rf.size; place++) {
        here += is_here(place);
        before += place < rf.rank && is_here(place);
    }
    load_stored(before, here);
}

static bool tell_all(struct table *table)
{
    struct found own[COPIES_MAX];
    for (int at = 0; at < COPIES_MAX; at++)
        own[at] = (struct found){copies[at].rank, copies[at].version, (int64_t)copies[at].bytes};
    PMPI_Comm_size(table->pool, &table->size);
    table->all = malloc(sizeof own * (size_t)table->size);
    if (PMPI_Allgather(own, sizeof own, MPI_BYTE, table->all, sizeof own, MPI_BYTE, table->pool) ==
        MPI_SUCCESS)
        return true;
    PMPIX_Comm_revoke(table->pool);
    return false;
}

/* The first entry of a number's version, at `process` or (-1) anywhere; NULL: there is none. */
static const struct found *entry_of(const struct table *table, int process, int number,
                                    int64_t version)
{
    int from = process < 0 ? 0 : process * COPIES_MAX,
        to = process < 0 ? table->size * COPIES_MAX : from + COPIES_MAX;
    for (int at = from; at < to; at++)
        if (table->all[at].number == number && table->all[at].version == version)
            return &table->all[at];
    return NULL;
}

static bool is_whole(const struct table *table, int64_t version)
{
    for (int number = 0; number < first_count(); number++)
        if (place_of(number) >= 0 && !entry_of(table, -1, number, version))
            return false;
    return true;
}

/* The last version of which all ranks have a copy; -1: none. */
static int64_t last_whole(const struct table *table)
{
    int64_t last = -1;
    for (int at = 0; at < table->size * COPIES_MAX; at++)
        if (table->all[at].number >= 0 && table->all[at].version > last &&
            is_whole(table, table->all[at].version))
            last = table->all[at].version;
    return last;
}

static bool bring(const struct table *table, int64_t version)
{
    struct transfer *plan = calloc((size_t)first_count(), sizeof *plan);
    int count = 0, own;
    PMPI_Comm_rank(table->pool, &own);
    for (int number = 0; number < first_count(); number++) {
        int home = place_of(number) < 0 ? MPI_UNDEFINED : member_at(place_of(number));
        const struct found *found = entry_of(table, -1, number, version);
        if (home != MPI_UNDEFINED && !entry_of(table, home, number, version))
            plan[count++] = (struct transfer){number, (int)(found - table->all) / COPIES_MAX, home,
                                              (size_t)found->bytes};
    }
    bool good = carry(table->pool, own, version, count, plan);
    free(plan);
    return good;
}

bool bring_stored(MPI_Comm pool, MPI_Comm gate)
{
    struct table table = {.pool = pool};
    double begin = wall_s();
    load_share();
    bool good = tell_all(&table);
    int64_t version = good ? last_whole(&table) : -1;
    int flag = good && (version < 0 || bring(&table, version));
    free(table.all);
    good = agree_unless_other_revoked(gate, &flag, pool) == MPI_SUCCESS && flag;
    int own = -1;
    for (int number = 0; number < first_count(); number++)
        if (place_of(number) == rf.rank)
            own = number;
    keep_copies(good ? version : -1, own, -1);
    if (!good || version < 0)
        return good;
    last_complete = own >= 0 ? version : -1;
    note_event_of("restarted", 1e3 * (wall_s() - begin), "version", (long)version);
    return true;
}
