#include "guards/leaving.h"

#include "guards/deaths.h"
#include "guards/lasting.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "state.h"

#include <dlfcn.h>
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

static bool leaves;

/* Stands before Open MPI's own function of the name, the barrier in MPI_Finalize: who fails in it lets the others out, and all go on. */
__attribute__((visibility("default"))) int ompi_coll_base_barrier_intra_doublering(MPI_Comm comm,
                                                                                   void *module)
{
    static int (*next)(MPI_Comm, void *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_coll_base_barrier_intra_doublering");
    if (!leaves)
        return next(comm, module);
    /* News of it have been held back since MPI made it. */
    note_made(comm);
    int code = next(comm, module);
    if (code != MPI_SUCCESS && (has_failures(comm) || is_revoked(comm))) {
        if (!is_revoked(comm))
            PMPIX_Comm_revoke(comm);
        make_last(comm);
        code = MPI_SUCCESS;
    }
    forget_made(comm);
    return code;
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
    leaves = true;
    if (!is_some_host_empty())
        return;
    while (nanosleep(&moment, &moment) != 0)
        continue;
}
