#include "guards/leaving.h"

#include "state.h"

#include <stdlib.h>
#include <time.h>

/* For a launcher that has lost a host to end the job. */
enum { LAUNCHER_S = 2 };

/* Marks processes that have failed; false: there are none. */
static bool mark_dead(bool *dead)
{
    MPI_Group failed, all;
    int count = 0;
    if (PMPIX_Comm_get_failed(rf.world, &failed) != MPI_SUCCESS)
        return false;
    PMPI_Comm_group(rf.world, &all);
    PMPI_Group_size(failed, &count);
    for (int at = 0; at < count; at++) {
        int rank;
        PMPI_Group_translate_ranks(failed, 1, &at, all, &rank);
        dead[rank] = true;
    }
    PMPI_Group_free(&all);
    if (failed != MPI_GROUP_EMPTY)
        PMPI_Group_free(&failed);
    return count > 0;
}

/* Whether no process lives beside this one on its host. */
static bool is_host_empty(int process, const bool *dead)
{
    for (int step = 0; step < rf.size; step++) {
        int other = (process + step) % rf.size;
        if (!dead[other] && rf.place[other].host == rf.place[process].host)
            return false;
    }
    return true;
}

static bool is_some_host_empty(void)
{
    bool found = false, *dead = calloc((size_t)rf.size, sizeof *dead);
    if (dead && mark_dead(dead))
        for (int rank = 0; rank < rf.size && !found; rank++)
            found = dead[rank] && is_host_empty(rank, dead);
    free(dead);
    return found;
}

void leave_together(void)
{
    struct timespec moment = {LAUNCHER_S, 0};
    int flag = 1;
    while (PMPIX_Comm_agree(rf.world, &flag) != MPI_SUCCESS) {
        int acknowledged;
        PMPIX_Comm_ack_failed(rf.world, rf.size, &acknowledged);
    }
    if (!is_some_host_empty())
        return;
    while (nanosleep(&moment, &moment) != 0)
        continue;
}
