#include "modes/persistent.h"

#include "modes/uniform.h"
#include "state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

static atomic_int persistents;

struct persistent {
    MPI_Comm comm;
    MPI_Request own;     /* the program's */
    MPI_Request running; /* ours, from MPI_Start on until somebody has waited for it */
    struct persistent *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct persistent *first;

void keep_persistent(MPI_Comm comm, MPI_Request request)
{
    struct persistent *own = new_table(1, sizeof *own);
    pthread_mutex_lock(&lock);
    *own = (struct persistent){comm, request, MPI_REQUEST_NULL, first};
    first = own;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&persistents, 1);
}

/* Where a request of the program is kept; NULL: nowhere. */
static struct persistent *find(MPI_Request request)
{
    struct persistent *found;
    if (atomic_load_explicit(&persistents, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    for (found = first; found && found->own != request; found = found->next)
        ;
    pthread_mutex_unlock(&lock);
    return found;
}

static struct persistent *find_running(MPI_Request request)
{
    struct persistent *found = find(request);
    return found && found->running != MPI_REQUEST_NULL ? found : NULL;
}

MPI_Request *stand_in(int count, const MPI_Request requests[])
{
    int running = 0;
    for (int at = 0; at < count; at++)
        running += find_running(requests[at]) != NULL;
    MPI_Request *others = running ? malloc(sizeof *others * (size_t)count) : NULL;
    for (int at = 0; at < count && others; at++) {
        const struct persistent *own = find_running(requests[at]);
        others[at] = own ? own->running : requests[at];
    }
    return others;
}

void stand_back(int count, MPI_Request requests[], MPI_Request *others)
{
    for (int at = 0; at < count; at++) {
        struct persistent *own = find_running(requests[at]);
        if (!own)
            requests[at] = others[at];
        else if (others[at] == MPI_REQUEST_NULL)
            own->running = MPI_REQUEST_NULL;
    }
    free(others);
}

static int start(MPI_Request *request, const char *call)
{
    struct persistent *own = find(*request);
    if (!own)
        return PMPI_Start(request);
    MPI_Errhandler handler = hold_errors(own->comm);
    int code = PMPI_Start(request);
    own->running = *request;
    code = agree_after(own->comm, code, &own->running);
    return release_errors(own->comm, handler, code, call);
}

EXPORTED int MPI_Start(MPI_Request *request)
{
    return start(request, __func__);
}

EXPORTED int MPI_Startall(int count, MPI_Request requests[])
{
    int code = MPI_SUCCESS;
    if (atomic_load_explicit(&persistents, memory_order_relaxed) == 0)
        return PMPI_Startall(count, requests);
    for (int at = 0; at < count && code == MPI_SUCCESS; at++)
        code = start(&requests[at], __func__);
    return code;
}

EXPORTED int MPI_Request_free(MPI_Request *request)
{
    struct persistent *own = find(*request);
    if (own) {
        pthread_mutex_lock(&lock);
        struct persistent **at = &first;
        while (*at != own)
            at = &(*at)->next;
        *at = own->next;
        pthread_mutex_unlock(&lock);
        atomic_fetch_sub(&persistents, 1);
        free(own);
    }
    return PMPI_Request_free(request);
}
