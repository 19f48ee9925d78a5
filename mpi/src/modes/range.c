#include "modes/range.h"

#include "jobs/fiber.h"
#include "requests/requests.h"
#include "spares/spares.h"
#include "state.h"

#include <pthread.h>

/* As Open MPI exports them: what is called in each eighth turn of its progress engine. */
__attribute__((weak)) int opal_progress_register_lp(int (*callback)(void));
__attribute__((weak)) int opal_progress_unregister(int (*callback)(void));

/* Turns between two looks, which cost about a microsecond: with waits of a microsecond or so a turn, some milliseconds at most where
 * processes share cores. */
enum { TURNS = 64 };

/* Failures that communicators have been looked at for: one that comes later is told of by none of them. */
static MPI_Group known = MPI_GROUP_EMPTY;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a look is about. */
struct news {
    MPI_Group failed;
    bool fresh; /* some of them have not been known */
};

static void free_group(MPI_Group *group)
{
    if (*group != MPI_GROUP_EMPTY && *group != MPI_GROUP_NULL)
        PMPI_Group_free(group);
}

static MPI_Group failed_in(MPI_Comm comm)
{
    MPI_Group failed;
    return comm != MPI_COMM_NULL && PMPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS
               ? failed
               : MPI_GROUP_EMPTY;
}

static int size_of(MPI_Group group)
{
    int size = 0;
    PMPI_Group_size(group, &size);
    return size;
}

/* Adds the processes of a group to another one, which is replaced. */
static void add_to(MPI_Group *group, MPI_Group more)
{
    MPI_Group before = *group;
    PMPI_Group_union(before, more, group);
    free_group(&before);
}

/* Processes that are known to have failed: of the world, and of those started later that are in the pool. */
static MPI_Group failed_group(void)
{
    MPI_Group failed = failed_in(rf.world), later = failed_in(pool_of_job());
    if (later != MPI_GROUP_EMPTY)
        add_to(&failed, later);
    free_group(&later);
    return failed;
}

static bool has_common(MPI_Group own, MPI_Group failed)
{
    MPI_Group both;
    PMPI_Group_intersection(own, failed, &both);
    bool common = size_of(both) > 0;
    free_group(&both);
    free_group(&own);
    return common;
}

static bool is_hit(MPI_Comm comm, enum range range, const struct news *news)
{
    MPI_Group own;
    if (range == RANGE_UNIVERSE && news->fresh)
        return true;
    PMPI_Comm_group(comm, &own);
    if (has_common(own, news->failed))
        return true;
    if (!is_between(comm))
        return false;
    PMPI_Comm_remote_group(comm, &own);
    return has_common(own, news->failed);
}

static void interrupt(MPI_Comm comm, enum range range, const struct news *news)
{
    int revoked = 0;
    PMPIX_Comm_is_revoked(comm, &revoked);
    if (!revoked && is_hit(comm, range, news)) {
        note_event("interrupted", -1);
        PMPIX_Comm_revoke(comm);
    }
}

static void interrupt_ranged(MPI_Comm comm, struct modes modes, void *news)
{
    if (modes.range != RANGE_LOCAL)
        interrupt(comm, modes.range, news);
}

/* This thread tells communicators of failures: a revoke makes progress, and what ends there may want modes changed, which wait for
 * that. */
static __thread bool telling __attribute__((tls_model("initial-exec")));

static void tell_of_failures(MPI_Group failed)
{
    MPI_Group unknown;
    /* Who looks already, maybe this thread in a revoke, sees it; what it does not see is seen next time. */
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    PMPI_Group_difference(failed, known, &unknown);
    if (size_of(unknown) > 0) {
        add_to(&known, unknown);
        telling = true;
        each_marked(interrupt_ranged, &(struct news){failed, true});
        telling = false;
    }
    free_group(&unknown);
    pthread_mutex_unlock(&lock);
}

void look_for_failures(void)
{
    MPI_Group failed = failed_group();
    if (failed != MPI_GROUP_EMPTY)
        tell_of_failures(failed);
    free_group(&failed);
}

void tell_of_missing(MPI_Comm before, MPI_Comm now)
{
    MPI_Group all, live, missing;
    PMPI_Comm_group(before, &all);
    PMPI_Comm_group(now, &live);
    PMPI_Group_difference(all, live, &missing);
    tell_of_failures(missing);
    free_group(&missing);
    free_group(&live);
    free_group(&all);
}

void interrupt_if_hit(MPI_Comm comm, enum range range)
{
    if (range == RANGE_LOCAL)
        return;
    look_for_failures();
    MPI_Group failed = failed_group();
    if (failed != MPI_GROUP_EMPTY)
        interrupt(comm, range, &(struct news){failed, false});
    free_group(&failed);
}

static bool registered;

static void look_at_times(void)
{
    static atomic_uint turns;
    static atomic_flag looking = ATOMIC_FLAG_INIT;
    if (atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed) % TURNS != 0 ||
        atomic_flag_test_and_set(&looking))
        return;
    if (atomic_load(&ranged_count) > 0)
        look_for_failures();
    look_at_ballots();
    atomic_flag_clear(&looking);
}

/* Called by MPI, maybe by several threads; how many events it has found, which are none of MPI's. */
static int look(void)
{
    begin_callback();
    if (atomic_load_explicit(&works, memory_order_relaxed) > 0 && !telling)
        advance_works();
    look_at_times();
    end_callback();
    return 0;
}

bool begin_looking(void)
{
    if (!registered)
        registered = opal_progress_register_lp && opal_progress_register_lp(look) == 0;
    return registered;
}

void end_looking(void)
{
    if (registered)
        opal_progress_unregister(look);
    registered = false;
}
