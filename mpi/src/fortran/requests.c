/* Fortran's names of the calls that wait, test and start. */
#include "fortran/names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct promise *_Atomic promises;

/* Takes out the promise of a request; NULL: there is none. */
static struct promise *taken(MPI_Fint request)
{
    struct promise *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct promise *one = promises, *before = NULL; one && !found;
         before = one, one = one->next) {
        if (one->request != request)
            continue;
        found = one;
        if (before)
            before->next = one->next;
        else
            promises = one->next;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void keep_promise(struct promise *promise)
{
    *promise->place = PMPI_Comm_c2f(promise->made);
    if (promise->made != MPI_COMM_NULL) {
        free(promise);
        return;
    }
    /* A request of the same number, which C has waited for. */
    free(taken(promise->request));
    pthread_mutex_lock(&lock);
    promise->next = promises;
    promises = promise;
    pthread_mutex_unlock(&lock);
}

/* A request has ended. */
static void redeem(MPI_Fint request)
{
    struct promise *own =
        atomic_load_explicit(&promises, memory_order_relaxed) ? taken(request) : NULL;
    if (own)
        *own->place = PMPI_Comm_c2f(own->made);
    free(own);
}

/* A status, and what it is brought back from; NULL: it is ignored. */
struct status {
    MPI_Fint *fortran;
    MPI_Status own;
};

static struct status status_at(MPI_Fint *place)
{
    return (struct status){.fortran = IS(place, status_ignore) ? NULL : place};
}

static MPI_Status *c_status(struct status *status)
{
    return status->fortran ? &status->own : MPI_STATUS_IGNORE;
}

static int give_status(struct status *status, int code)
{
    if (status->fortran)
        PMPI_Status_c2f(&status->own, status->fortran);
    return code;
}

/* Requests and statuses of one call. */
struct requests {
    int count;
    MPI_Fint *fortran, *fortran_statuses;
    MPI_Request *own;
    MPI_Status *statuses;
};

static struct requests requests_at(int count, MPI_Fint *fortran, MPI_Fint *statuses)
{
    bool ignored = !statuses || IS(statuses, statuses_ignore);
    struct requests made = {count, fortran, ignored ? NULL : statuses,
                            malloc(sizeof(MPI_Request) * (size_t)(count + 1)),
                            ignored ? MPI_STATUSES_IGNORE
                                    : calloc((size_t)(count + 1), sizeof(MPI_Status))};
    for (int one = 0; one < count; one++)
        made.own[one] = PMPI_Request_f2c(fortran[one]);
    return made;
}

/* Takes handles back, and the first `ended` statuses. */
static int give_requests(struct requests *requests, int ended, int code)
{
    for (int one = 0; one < requests->count; one++) {
        if (requests->own[one] == MPI_REQUEST_NULL)
            redeem(requests->fortran[one]);
        requests->fortran[one] = PMPI_Request_c2f(requests->own[one]);
    }
    for (int one = 0; one < ended && requests->fortran_statuses; one++)
        PMPI_Status_c2f(&requests->statuses[one],
                        requests->fortran_statuses +
                            one * (int)(sizeof(MPI_Status) / sizeof(MPI_Fint)));
    free(requests->own);
    if (requests->fortran_statuses)
        free(requests->statuses);
    return code;
}

EXPORTED void mpi_wait_(fint request, fint status, fint code)
{
    struct requests one = requests_at(1, request, NULL);
    struct status own = status_at(status);
    *code = MPI_Wait(one.own, c_status(&own));
    give_status(&own, give_requests(&one, 0, *code));
}

EXPORTED void mpi_test_(fint request, fint done, fint status, fint code)
{
    struct requests one = requests_at(1, request, NULL);
    struct status own = status_at(status);
    *code = MPI_Test(one.own, done, c_status(&own));
    give_requests(&one, 0, *code);
    if (*done)
        give_status(&own, *code);
}

EXPORTED void mpi_waitall_(fint count, fint requests, fint statuses, fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Waitall(*count, all.own, all.statuses);
    give_requests(&all, *count, *code);
}

EXPORTED void mpi_testall_(fint count, fint requests, fint done, fint statuses, fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Testall(*count, all.own, done, all.statuses);
    give_requests(&all, *done ? *count : 0, *code);
}

/* Fortran counts from 1. */
static void count_from_one(int count, fint indices)
{
    for (int one = 0; one < count; one++)
        indices[one] += indices[one] != MPI_UNDEFINED;
}

EXPORTED void mpi_waitany_(fint count, fint requests, fint index, fint status, fint code)
{
    struct requests all = requests_at(*count, requests, NULL);
    struct status own = status_at(status);
    *code = MPI_Waitany(*count, all.own, index, c_status(&own));
    give_status(&own, give_requests(&all, 0, *code));
    count_from_one(1, index);
}

EXPORTED void mpi_testany_(fint count, fint requests, fint index, fint done, fint status, fint code)
{
    struct requests all = requests_at(*count, requests, NULL);
    struct status own = status_at(status);
    *code = MPI_Testany(*count, all.own, index, done, c_status(&own));
    give_requests(&all, 0, *code);
    if (*done)
        give_status(&own, *code);
    count_from_one(*done ? 1 : 0, index);
}

EXPORTED void mpi_waitsome_(fint count, fint requests, fint ended, fint indices, fint statuses,
                            fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Waitsome(*count, all.own, ended, indices, all.statuses);
    int some = *ended == MPI_UNDEFINED ? 0 : *ended;
    give_requests(&all, some, *code);
    count_from_one(some, indices);
}

EXPORTED void mpi_testsome_(fint count, fint requests, fint ended, fint indices, fint statuses,
                            fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Testsome(*count, all.own, ended, indices, all.statuses);
    int some = *ended == MPI_UNDEFINED ? 0 : *ended;
    give_requests(&all, some, *code);
    count_from_one(some, indices);
}

EXPORTED void mpi_request_get_status_(fint request, fint done, fint status, fint code)
{
    struct status own = status_at(status);
    *code = MPI_Request_get_status(PMPI_Request_f2c(*request), done, c_status(&own));
    if (*done) {
        redeem(*request);
        give_status(&own, *code);
    }
}

EXPORTED void mpi_startall_(fint count, fint requests, fint code)
{
    struct requests all = requests_at(*count, requests, NULL);
    *code = MPI_Startall(*count, all.own);
    give_requests(&all, 0, *code);
}

ENDING(MPI_Request, start, MPI_Start)
ENDING(MPI_Request, request_free, MPI_Request_free)
