#include "jobs/parting.h"

#include "guards/bounded.h"
#include "guards/deaths.h"
#include "guards/fence.h"
#include "guards/lasting.h"
#include "modes/agree.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>

/* A communicator with others, in the order in which they were made. */
struct joined {
    MPI_Comm comm;
    MPI_Group processes; /* of both sides */
    MPI_Request rest;    /* freed, but kept; MPI_REQUEST_NULL: in use */
    MPI_Request *words;  /* two for each process that there is to part from */
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

static void free_group(MPI_Group *group)
{
    if (*group != MPI_GROUP_EMPTY)
        PMPI_Group_free(group);
}

/* The processes that a communicator leads to. */
static MPI_Group group_behind(MPI_Comm comm)
{
    MPI_Group group;
    if (is_between(comm))
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    return group;
}

static MPI_Group group_of_all(MPI_Comm comm)
{
    MPI_Group own, behind = group_behind(comm), all;
    PMPI_Comm_group(comm, &own);
    PMPI_Group_union(own, behind, &all);
    free_group(&own);
    free_group(&behind);
    return all;
}

/* The processes of one group that another does not have, and how many. */
static MPI_Group others_of(MPI_Group group, MPI_Group known, int *count)
{
    MPI_Group others;
    PMPI_Group_difference(group, known, &others);
    PMPI_Group_size(others, count);
    return others;
}

static bool has_all(MPI_Group group, MPI_Group some)
{
    int count;
    MPI_Group others = others_of(some, group, &count);
    free_group(&others);
    return count == 0;
}

static void drop(struct joined **at)
{
    struct joined *own = *at;
    *at = own->next;
    if (own->rest != MPI_REQUEST_NULL)
        PMPI_Request_free(&own->rest);
    free_group(&own->processes);
    free(own);
}

void note_joined(MPI_Comm comm)
{
    struct joined *own = new_table(1, sizeof *own);
    *own = (struct joined){
        .comm = comm, .processes = group_of_all(comm), .rest = MPI_REQUEST_NULL, .next = NULL};
    pthread_mutex_lock(&lock);
    /* Who has made this one with us does not use any more what was freed before. */
    for (struct joined **at = &all; *at;) {
        if ((*at)->rest != MPI_REQUEST_NULL && has_all(own->processes, (*at)->processes))
            drop(at);
        else
            at = &(*at)->next;
    }
    *find(MPI_COMM_NULL) = own;
    pthread_mutex_unlock(&lock);
}

/* By this thread. */
static __thread MPI_Comm disconnecting;

bool is_disconnecting(void)
{
    return disconnecting != NULL;
}

/* Of the other side MPI tells for each process alone. */
static bool has_far_failed(MPI_Comm comm)
{
    int size, there, code = MPI_SUCCESS;
    if (!is_between(comm))
        return false;
    PMPI_Comm_remote_size(comm, &size);
    for (int far = 0; far < size && error_class(code) != MPIX_ERR_PROC_FAILED; far++)
        code = PMPI_Iprobe(far, LAST_WORD, comm, &there, MPI_STATUS_IGNORE);
    return error_class(code) == MPIX_ERR_PROC_FAILED;
}

bool disconnects_in_vain(void)
{
    if (!is_revoked(disconnecting) && !has_failures(disconnecting) &&
        !has_far_failed(disconnecting))
        return false;
    if (!is_revoked(disconnecting))
        PMPIX_Comm_revoke(disconnecting);
    return true;
}

void disconnect_joined(MPI_Comm comm)
{
    disconnecting = comm == MPI_COMM_NULL ? NULL : comm;
    pthread_mutex_lock(&lock);
    struct joined **at = find(comm);
    if (*at)
        drop(at);
    pthread_mutex_unlock(&lock);
}

void rest_joined(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    struct joined **at = find(comm);
    if (*at)
        (*at)->rest = make_last(comm);
    if (*at && (*at)->rest == MPI_REQUEST_NULL)
        drop(at);
    pthread_mutex_unlock(&lock);
}

bool is_joined(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    bool found = *find(comm) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* The last word to each process that no communicator before leads to; who is dead does not answer. */
static void exchange_words(struct joined *own, MPI_Group *reached)
{
    MPI_Group behind = group_behind(own->comm), others = others_of(behind, *reached, &own->count),
              now;
    PMPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
    own->words = calloc((size_t)own->count, 2 * sizeof *own->words);
    for (int at = 0; own->words && at < own->count; at++) {
        MPI_Request *pair = own->words + 2 * at;
        int other;
        PMPI_Group_translate_ranks(others, 1, &at, behind, &other);
        pair[0] = pair[1] = MPI_REQUEST_NULL;
        PMPI_Irecv(NULL, 0, MPI_BYTE, other, LAST_WORD, own->comm, &pair[0]);
        PMPI_Isend(NULL, 0, MPI_BYTE, other, LAST_WORD, own->comm, &pair[1]);
    }
    PMPI_Group_union(*reached, behind, &now);
    free_group(&others);
    free_group(&behind);
    free_group(reached);
    *reached = now;
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
    MPI_Group reached;
    MPI_Comm ended = MPI_COMM_NULL;
    /* Parents that have ended need not have heard of this process. */
    if (is_spawned() && !is_spawner_there())
        PMPI_Comm_get_parent(&ended);
    PMPI_Comm_group(MPI_COMM_WORLD, &reached);
    for (struct joined *own = all; own; own = own->next) {
        if (is_hit(own->comm))
            limit_s = AFTER_FAILURE_S;
        if (!is_revoked(own->comm) && own->comm != ended)
            exchange_words(own, &reached);
    }
    free_group(&reached);
    double until = wall_s() + limit_s;
    do {
        open = 0;
        for (struct joined *own = all; own; own = own->next)
            open += count_open(own);
    } while (open > 0 && wall_s() < until);
}
