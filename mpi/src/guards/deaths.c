#include "guards/deaths.h"

#include "state.h"

#include <pthread.h>
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

/* By place; NULL before the first. MPI may learn of a failure in any thread. */
static enum { NOT_NOTED, NOTED, FILLED_AGAIN } * deaths;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Marks a place as noted; false: it was before, or (`once`) another process has taken it since. */
static bool mark(int place, bool once)
{
    pthread_mutex_lock(&lock);
    if (!deaths)
        deaths = new_table((size_t)rf.size, sizeof *deaths);
    bool is_new = deaths[place] != NOTED && !(once && deaths[place] == FILLED_AGAIN);
    if (is_new)
        deaths[place] = NOTED;
    pthread_mutex_unlock(&lock);
    return is_new;
}

void note_death(int place)
{
    if (mark(place, false))
        note_event_of("failure_detected", -1, "of", place);
}

void note_death_in(MPI_Comm comm, int rank)
{
    if (rf.world != MPI_COMM_NULL && comm == rf.world && mark(rank, true))
        note_event_of("failure_detected", -1, "of", rank);
}

void note_deaths(void)
{
    int size = 0;
    if (rf.world == MPI_COMM_NULL)
        return;
    PMPI_Comm_size(rf.world, &size);
    bool *dead = new_table((size_t)size, sizeof *dead);
    if (mark_dead(dead) > 0)
        for (int rank = 0; rank < size; rank++)
            if (dead[rank])
                note_death_in(rf.world, rank);
    free(dead);
}

void forget_death(int place)
{
    pthread_mutex_lock(&lock);
    if (deaths)
        deaths[place] = FILLED_AGAIN;
    pthread_mutex_unlock(&lock);
}
