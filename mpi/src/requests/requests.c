#include "requests/requests.h"

#include "guards/bounded.h"
#include "guards/lasting.h"
#include "modes/range.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>

atomic_int works;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, started_lock = PTHREAD_MUTEX_INITIALIZER;

/* What is under way, in the order of the posts; and what has not been waited for, in no order. */
static struct work *first, *first_started;

static int query(void *state, MPI_Status *status)
{
    const struct work *work = state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return work->code;
}

static int release(void *state)
{
    struct work *work = state, **at;
    pthread_mutex_lock(&started_lock);
    for (at = &first_started; *at != work; at = &(*at)->next_started)
        ;
    *at = work->next_started;
    pthread_mutex_unlock(&started_lock);
    atomic_fetch_sub(&works, 1);
    atomic_fetch_sub(&attention, 1);
    if (work->owner_lasts != MPI_REQUEST_NULL)
        PMPI_Request_free(&work->owner_lasts);
    if (!work->kept)
        free(work);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

MPI_Request start_work(struct work *work)
{
    struct work **last;
    MPI_Request request;
    begin_looking();
    PMPI_Grequest_start(query, release, cancel, work, &request);
    work->request = request;
    /* The program may free it before. */
    work->owner_lasts = make_last(work->owner);
    work->until = steady_s() + step_limit_s();
    pthread_mutex_lock(&started_lock);
    work->next_started = first_started;
    first_started = work;
    pthread_mutex_unlock(&started_lock);
    pthread_mutex_lock(&lock);
    for (last = &first; *last; last = &(*last)->next)
        ;
    work->next = NULL;
    *last = work;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&works, 1);
    atomic_fetch_add(&attention, 1);
    return request;
}

/* This thread is in there. */
static __thread bool advancing __attribute__((tls_model("initial-exec")));

void advance_works(void)
{
    /* One thread at a time; the others need not wait for it. */
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    advancing = true;
    for (struct work **at = &first; *at;) {
        struct work *work = *at;
        if (!work->advance(work)) {
            if (work->step && steady_s() > work->until)
                exceed(work->step);
            at = &work->next;
            continue;
        }
        *at = work->next;
        PMPI_Grequest_complete(work->request);
    }
    advancing = false;
    pthread_mutex_unlock(&lock);
}

bool is_behind(const struct work *work)
{
    for (const struct work *other = first; other != work; other = other->next)
        if (other->owner == work->owner && other->early)
            return true;
    return false;
}

bool is_any_early(MPI_Comm owner)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (const struct work *work = first; work && !found; work = work->next)
        found = work->owner == owner && work->early;
    pthread_mutex_unlock(&lock);
    return found;
}

void let_earlier_works_agree(MPI_Comm owner)
{
    if (advancing)
        return;
    while (atomic_load_explicit(&works, memory_order_relaxed) > 0 && is_any_early(owner))
        advance_works();
}

MPI_Comm owner_of(int count, const MPI_Request requests[])
{
    MPI_Comm owner = MPI_COMM_NULL;
    if (atomic_load_explicit(&works, memory_order_relaxed) == 0)
        return owner;
    pthread_mutex_lock(&started_lock);
    for (const struct work *work = first_started; work; work = work->next_started)
        for (int at = 0; at < count && owner == MPI_COMM_NULL; at++)
            if (requests[at] == work->request)
                owner = work->owner;
    pthread_mutex_unlock(&started_lock);
    return owner;
}
