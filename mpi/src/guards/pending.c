/* Receives that Open MPI 5.0 would go on with after they have failed.
 *
 * One that cannot ask for its data now is put into a queue that is looked at whenever there is progress. If the sender has died, it ends
 * with an error and is used again for another message, and is in the queue still: MPI crashes soon. Over TCP that is what becomes of large
 * messages that had begun when their sender died. The library stands before the functions that put requests into the queue and that end
 * failed ones, and takes those out. */
#include "guards/pending.h"

#include "requests/build.h"
#include "state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

/* Open MPI 5.0's requests begin with this, and so does the end of a queue. */
struct item {
    void *class;
    int32_t references;
    struct item *volatile next, *volatile before;
};

struct end {
    struct item item;
    int32_t references;
    volatile size_t length;
};

/* What a function says that has put a request into a queue. */
enum { OUT_OF_RESOURCE = -2 };

static struct item **waiting;
static struct end *end; /* of the queue */
static int room;
static atomic_int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int find(const struct item *request)
{
    for (int at = 0; at < count; at++)
        if (waiting[at] == request)
            return at;
    return -1;
}

/* It is the last of the queue now, unless it was there already. */
static void note_waiting(struct item *request)
{
    pthread_mutex_lock(&lock);
    if (can_build() && find(request) < 0 && request->next->before == request) {
        if (count == room) {
            room = 2 * room + 16;
            waiting = longer_table(waiting, (size_t)room, sizeof(struct item *));
        }
        waiting[count++] = request;
        end = (struct end *)request->next;
    }
    pthread_mutex_unlock(&lock);
}

/* It waits no longer; if it has failed, it is in the queue still. */
static void forget(struct item *request, bool failed)
{
    pthread_mutex_lock(&lock);
    int at = find(request);
    if (at >= 0) {
        if (failed) {
            request->before->next = request->next;
            request->next->before = request->before;
            end->length--;
        }
        waiting[at] = waiting[--count];
    }
    pthread_mutex_unlock(&lock);
}

EXPORTED int mca_pml_ob1_recv_request_schedule_once(struct item *request, void *transport)
{
    static int (*next)(struct item *, void *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "mca_pml_ob1_recv_request_schedule_once");
    int code = next(request, transport);
    if (code == OUT_OF_RESOURCE)
        note_waiting(request);
    else if (atomic_load_explicit(&count, memory_order_relaxed) > 0)
        forget(request, false);
    return code;
}

/* Whether a request has failed, which ends it. */
EXPORTED bool ompi_request_is_failed_fn(struct item *request)
{
    static bool (*next)(struct item *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_request_is_failed_fn");
    if (__builtin_expect(atomic_load_explicit(&count, memory_order_relaxed) == 0, 1))
        return next(request);
    bool failed = next(request);
    if (failed)
        forget(request, true);
    return failed;
}

bool has_failed(MPI_Request request)
{
    return ompi_request_is_failed_fn((struct item *)request);
}
