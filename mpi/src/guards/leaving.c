#include "guards/leaving.h"

#include "guards/deaths.h"
#include "state.h"

#include <stdlib.h>
#include <time.h>

/* For a launcher that has lost a host to end the job. */
enum { LAUNCHER_S = 2 };

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
    bool found = false, *dead = new_table((size_t)rf.size, sizeof *dead);
    if (mark_dead(dead) > 0)
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
    note_deaths();
    if (!is_some_host_empty())
        return;
    while (nanosleep(&moment, &moment) != 0)
        continue;
}
