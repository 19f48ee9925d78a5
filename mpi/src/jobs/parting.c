#include "jobs/parting.h"

#include "guards/bounded.h"
#include "modes/agree.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>

/* A communicator with others, in the order in which they were made. */
struct joined {
    MPI_Comm comm;
    MPI_Request *words; /* two for each process that there is to part from */
    int count;
    struct joined *next;
};

/* The highest tag that every MPI has. */
enum { LAST_WORD = 32767 };

/* How long others are waited for once a failure is known, in s: Open MPI 5.0 does not tell every process of one in another job. */
enum { AFTER_FAILURE_S = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct joined *all;

/* The place of a communicator in the list, or its end. */
static struct joined **find(MPI_Comm comm)
{
    struct joined **at = &all;
    while (*at && (*at)->comm != comm)
        at = &(*at)->next;
    return at;
}

void note_joined(MPI_Comm comm)
{
    struct joined *own = calloc(1, sizeof *own);
    if (!own)
        return;
    own->comm = comm;
    pthread_mutex_lock(&lock);
    *find(MPI_COMM_NULL) = own;
    pthread_mutex_unlock(&lock);
}

void forget_joined(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    struct joined **at = find(comm), *own = *at;
    if (own)
        *at = own->next;
    pthread_mutex_unlock(&lock);
    free(own);
}

bool is_joined(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    bool found = *find(comm) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* The last word to each process on the other side, or to each of both sides; who is dead does not answer. */
static void exchange_words(struct joined *own)
{
    int rank = MPI_PROC_NULL;
    PMPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
    if (is_between(own->comm)) {
        PMPI_Comm_remote_size(own->comm, &own->count);
    } else {
        PMPI_Comm_size(own->comm, &own->count);
        PMPI_Comm_rank(own->comm, &rank);
    }
    own->words = calloc((size_t)own->count, 2 * sizeof *own->words);
    for (int other = 0; own->words && other < own->count; other++) {
        MPI_Request *pair = own->words + 2 * other;
        pair[0] = pair[1] = MPI_REQUEST_NULL;
        if (other == rank)
            continue;
        PMPI_Irecv(NULL, 0, MPI_BYTE, other, LAST_WORD, own->comm, &pair[0]);
        PMPI_Isend(NULL, 0, MPI_BYTE, other, LAST_WORD, own->comm, &pair[1]);
    }
}

/* Those that have neither come nor failed. */
static int count_open(struct joined *own)
{
    int open = 0;
    for (int at = 0; own->words && at < 2 * own->count; at++) {
        int done = 0;
        if (own->words[at] == MPI_REQUEST_NULL)
            continue;
        if (PMPI_Test(&own->words[at], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            own->words[at] = MPI_REQUEST_NULL;
        else
            open += !done;
    }
    return open;
}

static bool is_hit(MPI_Comm comm)
{
    MPI_Group failed;
    int count = 0;
    if (is_revoked(comm))
        return true;
    if (PMPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS)
        return false;
    PMPI_Group_size(failed, &count);
    if (failed != MPI_GROUP_EMPTY)
        PMPI_Group_free(&failed);
    return count > 0;
}

void part(void)
{
    double limit_s = step_limit_s();
    int open = 0;
    for (struct joined *own = all; own; own = own->next) {
        if (is_hit(own->comm))
            limit_s = AFTER_FAILURE_S;
        exchange_words(own);
    }
    double until = wall_s() + limit_s;
    do {
        open = 0;
        for (struct joined *own = all; own; own = own->next)
            open += count_open(own);
    } while (open > 0 && wall_s() < until);
}
