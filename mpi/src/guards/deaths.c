#include "guards/deaths.h"

#include "state.h"

#include <stdlib.h>

bool has_failures(MPI_Comm comm)
{
    MPI_Group failed = MPI_GROUP_EMPTY;
    int count = 0;
    if (PMPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS)
        PMPI_Group_size(failed, &count);
    if (failed != MPI_GROUP_EMPTY)
        PMPI_Group_free(&failed);
    return count > 0;
}

int mark_dead(bool *dead)
{
    MPI_Group failed, all;
    int count = 0;
    if (PMPIX_Comm_get_failed(rf.world, &failed) != MPI_SUCCESS)
        return 0;
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
    return count;
}

/* By place; NULL before the first. */
static enum { NOT_NOTED, NOTED, FILLED_AGAIN } * deaths;

void note_death(int place)
{
    if (!deaths)
        deaths = calloc((size_t)rf.size, sizeof *deaths);
    if (!deaths || deaths[place] == NOTED)
        return;
    deaths[place] = NOTED;
    note_event_of("failure_detected", -1, "of", place);
}

void note_deaths(void)
{
    int size = 0;
    if (rf.world == MPI_COMM_NULL)
        return;
    PMPI_Comm_size(rf.world, &size);
    bool *dead = calloc((size_t)size, sizeof *dead);
    if (dead && mark_dead(dead) > 0)
        for (int rank = 0; rank < size; rank++)
            if (dead[rank] && !(deaths && deaths[rank] == FILLED_AGAIN))
                note_death(rank);
    free(dead);
}

void forget_death(int place)
{
    if (deaths)
        deaths[place] = FILLED_AGAIN;
}
