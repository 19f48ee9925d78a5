#include "requests/calls.h"

#include "requests/steps.h"

#include <pthread.h>
#include <stdlib.h>

/* How many calls with a key there were on a communicator. */
struct calls {
    unsigned long key, count;
    struct calls *next;
};

struct known {
    MPI_Comm comm;
    unsigned long identity, children;
    struct calls *calls;
    struct known *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *all_known;

/* FNV-1a, a byte at a time. */
static const unsigned long BASIS = 14695981039346656037ul;

static unsigned long mix(unsigned long hash, unsigned long value)
{
    for (int byte = 0; byte < 8; byte++)
        hash = (hash ^ (value >> 8 * byte & 0xff)) * 1099511628211ul;
    return hash;
}

/* What is known of a communicator: nothing, but from now on. */
static struct known *find(MPI_Comm comm)
{
    struct known *own = all_known;
    while (own && own->comm != comm)
        own = own->next;
    if (own || !(own = calloc(1, sizeof *own)))
        return own;
    *own = (struct known){.comm = comm, .next = all_known};
    return all_known = own;
}

static void identify(MPI_Comm made, unsigned long identity)
{
    struct known *own = made == MPI_COMM_NULL ? NULL : find(made);
    if (own)
        own->identity = identity;
}

void note_child(MPI_Comm parent, MPI_Comm made)
{
    pthread_mutex_lock(&lock);
    struct known *own = find(parent);
    if (own)
        identify(made, mix(mix(BASIS, own->identity), ++own->children));
    pthread_mutex_unlock(&lock);
}

void note_made_by(MPI_Comm made, unsigned long key)
{
    pthread_mutex_lock(&lock);
    identify(made, key);
    pthread_mutex_unlock(&lock);
}

static void drop(struct known *own)
{
    for (struct calls *calls = own->calls; calls;) {
        struct calls *next = calls->next;
        free(calls);
        calls = next;
    }
    free(own);
}

void forget_calls(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    struct known **at = &all_known;
    while (*at && (*at)->comm != comm)
        at = &(*at)->next;
    if (*at) {
        struct known *own = *at;
        *at = own->next;
        drop(own);
    }
    pthread_mutex_unlock(&lock);
}

unsigned long key_of(const int *ranks, int count, int tag)
{
    unsigned long key = mix(BASIS, (unsigned long)tag);
    for (int at = 0; at < count; at++)
        key = mix(key, (unsigned long)ranks[at]);
    return key;
}

/* How many calls with this key there were before. */
static unsigned long count_call(struct known *own, unsigned long key)
{
    struct calls *calls = own->calls;
    while (calls && calls->key != key)
        calls = calls->next;
    if (!calls && (calls = calloc(1, sizeof *calls))) {
        *calls = (struct calls){key, 0, own->calls};
        own->calls = calls;
    }
    return calls ? calls->count++ : 0;
}

unsigned long key_of_call(MPI_Comm comm, const int *ranks, int count, int tag, int kind)
{
    unsigned long key = mix(key_of(ranks, count, tag), (unsigned long)kind);
    for (const char *at = ompi_comm_print_cid ? ompi_comm_print_cid(comm) : ""; *at; at++)
        key = mix(key, (unsigned long)*at);
    pthread_mutex_lock(&lock);
    struct known *own = find(comm);
    if (own)
        key = mix(mix(key, own->identity), count_call(own, key));
    pthread_mutex_unlock(&lock);
    return key;
}

int tag_of(unsigned long key)
{
    return (int)((key ^ key >> 32) % (1ul << 29)) * 2 + (1 << 16);
}
