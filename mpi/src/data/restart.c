#include "data/restart.h"

#include "data/copies.h"
#include "data/store.h"
#include "data/transfer.h"
#include "modes/agree.h"
#include "spares/roster.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

/* What a process has read. */
struct found {
    int64_t number, version, pass, bytes; /* number -1: nothing */
};

/* What the job may begin again from; versions of a later pass count more. */
struct point {
    int64_t pass, version;
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

/* Shares the files of this host among its processes that live. */
static void load_share(void)
{
    int before = 0, here = 0;
    for (int place = 0; place < rf.size; place++) {
        bool beside = is_here(place) && member_at(place) != MPI_UNDEFINED;
        here += beside;
        before += beside && place < rf.rank;
    }
    load_stored(before, here);
}

static bool tell_all(struct table *table)
{
    struct found own[COPIES_MAX];
    for (int at = 0; at < COPIES_MAX; at++)
        own[at] = (struct found){copies[at].rank, copies[at].version, copies[at].pass,
                                 (int64_t)copies[at].bytes};
    PMPI_Comm_size(table->pool, &table->size);
    table->all = new_table((size_t)table->size, sizeof own);
    if (PMPI_Allgather(own, sizeof own, MPI_BYTE, table->all, sizeof own, MPI_BYTE, table->pool) ==
        MPI_SUCCESS)
        return true;
    PMPIX_Comm_revoke(table->pool);
    return false;
}

static bool is_of(const struct found *found, struct point point)
{
    return found->number >= 0 && found->version == point.version && found->pass == point.pass;
}

/* The first entry of a number, at `process` or (-1) anywhere; NULL: there is none. */
static const struct found *entry_of(const struct table *table, int process, int number,
                                    struct point point)
{
    int from = process < 0 ? 0 : process * COPIES_MAX,
        to = process < 0 ? table->size * COPIES_MAX : from + COPIES_MAX;
    for (int at = from; at < to; at++)
        if (table->all[at].number == number && is_of(&table->all[at], point))
            return &table->all[at];
    return NULL;
}

/* Whether all ranks have a copy; `there` has room for all. */
static bool is_whole(const struct table *table, struct point point, bool *there)
{
    memset(there, 0, sizeof *there * (size_t)first_count());
    for (int at = 0; at < table->size * COPIES_MAX; at++) {
        int64_t number = table->all[at].number;
        if (number < first_count() && is_of(&table->all[at], point))
            there[number] = true;
    }
    for (int number = 0; number < first_count(); number++)
        if (place_of(number) >= 0 && !there[number])
            return false;
    return true;
}

static bool is_before(struct point one, struct point other)
{
    return one.pass < other.pass || (one.pass == other.pass && one.version < other.version);
}

/* The last point before another one; version -1: none. */
static struct point last_before(const struct table *table, struct point end)
{
    struct point last = {-1, -1};
    for (int at = 0; at < table->size * COPIES_MAX; at++) {
        struct point here = {table->all[at].pass, table->all[at].version};
        if (table->all[at].number >= 0 && is_before(here, end) && is_before(last, here))
            last = here;
    }
    return last;
}

/* The last point of which all ranks have a copy; version -1: none. */
static struct point last_whole(const struct table *table, struct point last)
{
    bool *there = new_table((size_t)first_count(), sizeof *there);
    while (last.version >= 0 && !is_whole(table, last, there))
        last = last_before(table, last);
    free(there);
    return last;
}

static bool bring(const struct table *table, struct point point)
{
    struct transfer *plan = new_table((size_t)first_count(), sizeof *plan);
    int count = 0, own;
    PMPI_Comm_rank(table->pool, &own);
    for (int number = 0; number < first_count(); number++) {
        int home = place_of(number) < 0 ? MPI_UNDEFINED : member_at(place_of(number));
        const struct found *found = entry_of(table, -1, number, point);
        if (home != MPI_UNDEFINED && !entry_of(table, home, number, point))
            plan[count++] = (struct transfer){number, (int)(found - table->all) / COPIES_MAX, home,
                                              (size_t)found->bytes};
    }
    bool good = carry(table->pool, own, point.version, count, plan);
    free(plan);
    return good;
}

bool bring_stored(MPI_Comm pool, MPI_Comm gate)
{
    struct table table = {.pool = pool};
    struct point end = {INT64_MAX, INT64_MAX}, last = {-1, -1}, whole = {-1, -1};
    double begin = wall_s();
    load_share();
    bool good = tell_all(&table);
    if (good) {
        last = last_before(&table, end);
        whole = last_whole(&table, last);
    }
    int flag = good && (whole.version < 0 || bring(&table, whole));
    free(table.all);
    good = agree_unless_other_revoked(gate, &flag, pool) == MPI_SUCCESS && flag;
    int own = -1;
    for (int number = 0; number < first_count(); number++)
        if (place_of(number) == rf.rank)
            own = number;
    keep_copies(good ? whole.version : -1, own, -1);
    if (!good)
        return false;
    pass = last.pass + 1;
    last_pass = whole.pass;
    if (whole.version < 0)
        return true;
    last_complete = own >= 0 ? whole.version : -1;
    note_event_of("restarted", 1e3 * (wall_s() - begin), "version", (long)whole.version);
    return true;
}
