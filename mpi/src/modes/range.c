#include "modes/range.h"

#include "requests/requests.h"
#include "spares/spares.h"
#include "state.h"

/* As Open MPI exports them: what is called in each eighth turn of its progress engine. */
__attribute__((weak)) int opal_progress_register_lp(int (*callback)(void));
__attribute__((weak)) int opal_progress_unregister(int (*callback)(void));

/* Turns between two looks, which cost about a microsecond: with waits of a microsecond or so a turn, some milliseconds at most where
 * processes share cores. */
enum { TURNS = 64 };

/* Failures that were known when communicators were looked at last. */
static atomic_int known;

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

/* Processes that are known to have failed: of the world, and of those started later that are in the pool. */
static MPI_Group failed_group(int *count)
{
    MPI_Group failed = failed_in(rf.world), later = failed_in(pool_of_job()), all = failed;
    if (later != MPI_GROUP_EMPTY) {
        PMPI_Group_union(failed, later, &all);
        free_group(&later);
        free_group(&failed);
    }
    PMPI_Group_size(all, count);
    return all;
}

static bool is_hit(MPI_Comm comm, enum range range, MPI_Group failed)
{
    if (range == RANGE_UNIVERSE)
        return true;
    MPI_Group own, both;
    int common = 0;
    PMPI_Comm_group(comm, &own);
    PMPI_Group_intersection(own, failed, &both);
    PMPI_Group_size(both, &common);
    free_group(&both);
    PMPI_Group_free(&own);
    if (common == 0 && is_between(comm)) {
        PMPI_Comm_remote_group(comm, &own);
        PMPI_Group_intersection(own, failed, &both);
        PMPI_Group_size(both, &common);
        free_group(&both);
        PMPI_Group_free(&own);
    }
    return common > 0;
}

static bool interrupt(MPI_Comm comm, enum range range, void *failed)
{
    int revoked = 0;
    PMPIX_Comm_is_revoked(comm, &revoked);
    if (!revoked && is_hit(comm, range, *(MPI_Group *)failed)) {
        note_event("interrupted", -1);
        PMPIX_Comm_revoke(comm);
    }
    return true;
}

void look_for_failures(void)
{
    int count;
    MPI_Group failed = failed_group(&count);
    if (atomic_exchange(&known, count) != count) {
        each_ranged(interrupt, &failed);
    }
    free_group(&failed);
}

void interrupt_if_hit(MPI_Comm comm, enum range range)
{
    int count;
    MPI_Group failed = failed_group(&count);
    if (count > 0 && range != RANGE_LOCAL)
        interrupt(comm, range, &failed);
    free_group(&failed);
}

static bool registered;

/* Called by MPI, maybe by several threads; how many events it has found, which are none of MPI's. */
static int look(void)
{
    static atomic_uint turns;
    static atomic_flag looking = ATOMIC_FLAG_INIT;
    if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
        advance_works();
    if (atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed) % TURNS != 0 ||
        atomic_flag_test_and_set(&looking))
        return 0;
    if (atomic_load(&ranged_count) > 0)
        look_for_failures();
    look_at_ballots();
    atomic_flag_clear(&looking);
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
