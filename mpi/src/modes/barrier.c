#include "modes/barrier.h"

#include "guards/deaths.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "requests/steps.h"
#include "state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* More processes than that have too many places to look at. */
enum { PROCESSES_MOST = 64, LINE = 64 };

/* Looks at the others before MPI makes progress, in which a process gives way where there are more than processors; and looks between two
 * for failures, as MPI may have told of one a moment before it can be seen. */
enum { SPINS = 64, LOOKS = 256, HEARD_EVERY = 16 };

#define NAME "runflat-barrier"

/* How often one process has come, in a line of the cache where nobody else writes. */
struct seat {
    _Alignas(LINE) atomic_uint count;
};

/* What the processes share. The key is of this memory alone: the number of a process, and of a file of it, may be another's in another
 * container. */
struct shared {
    uint64_t key;
    struct seat seats[];
};

struct barrier {
    MPI_Comm comm;
    int rank, size;
    unsigned count; /* how often this process has come */
    unsigned news;  /* told by MPI before the last look for failures */
    struct shared *shared;
};

/* Where the first process has the memory, as it tells the others. */
struct source {
    uint64_t host;
    long long process, file;
    uint64_t key;
};

static size_t length_of(const struct barrier *barrier)
{
    return sizeof(struct shared) + (size_t)barrier->size * sizeof(struct seat);
}

static void map_memory(struct barrier *barrier, int file)
{
    void *place = mmap(NULL, length_of(barrier), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    barrier->shared = place == MAP_FAILED ? NULL : place;
}

static void unmap_memory(struct barrier *barrier)
{
    if (barrier->shared)
        munmap(barrier->shared, length_of(barrier));
    barrier->shared = NULL;
}

/* Makes the memory, which has no name and goes with the last process that has it. */
static void make_memory(struct barrier *barrier, struct source *source)
{
    int file = memfd_create(NAME, MFD_CLOEXEC);
    source->file = file;
    if (file >= 0 && ftruncate(file, (off_t)length_of(barrier)) == 0 &&
        getrandom(&source->key, sizeof source->key, 0) == (ssize_t)sizeof source->key)
        map_memory(barrier, file);
    if (barrier->shared)
        barrier->shared->key = source->key;
}

/* Takes the memory of another process of this host, if what is found there is that. */
static void take_memory(struct barrier *barrier, struct source source)
{
    static const char called[] = "/memfd:" NAME;
    char path[64], link[sizeof called] = "";
    struct stat found;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", source.process, source.file);
    if (source.host != rf.place[rf.rank].host || readlink(path, link, sizeof link - 1) < 0 ||
        strcmp(link, called) != 0)
        return;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0 && fstat(file, &found) == 0 && (size_t)found.st_size == length_of(barrier))
        map_memory(barrier, file);
    if (file >= 0)
        close(file);
    if (barrier->shared && barrier->shared->key != source.key)
        unmap_memory(barrier);
}

/* Whether all have the memory; a barrier. */
static int share_memory(struct barrier *barrier, int *all_have)
{
    struct source source = {rf.place[rf.rank].host, getpid(), -1, 0};
    if (barrier->rank == 0)
        make_memory(barrier, &source);
    int code = PMPI_Bcast(&source, sizeof source, MPI_BYTE, 0, barrier->comm), has;
    if (code == MPI_SUCCESS && barrier->rank > 0)
        take_memory(barrier, source);
    has = barrier->shared != NULL;
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(&has, all_have, 1, MPI_INT, MPI_MIN, barrier->comm);
    if (barrier->rank == 0 && source.file >= 0)
        close((int)source.file);
    return code;
}

int make_barrier(MPI_Comm comm, struct barrier **made)
{
    int rank, size, all_have = 0;
    *made = NULL;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (size == 1 || size > PROCESSES_MOST)
        return PMPI_Barrier(comm);
    struct barrier *barrier = new_table(1, sizeof *barrier);
    *barrier = (struct barrier){.comm = comm, .rank = rank, .size = size};
    int code = share_memory(barrier, &all_have);
    if (code == MPI_SUCCESS && all_have)
        *made = barrier;
    else
        free_barrier(barrier);
    return code;
}

/* Whether somebody who has not come may never do so. */
static bool is_broken(struct barrier *barrier, unsigned looks)
{
    unsigned news = news_told();
    if (news == barrier->news && looks % LOOKS != 0)
        return false;
    barrier->news = news;
    return is_revoked(barrier->comm) || has_failures(barrier->comm);
}

/* Whether a process has come so often; who is ahead has come one time more. */
static bool has_come(const struct barrier *barrier, int rank, unsigned count)
{
    struct seat *seat = &barrier->shared->seats[rank];
    return atomic_load_explicit(&seat->count, memory_order_acquire) - count <= 1;
}

int wait_for_all(struct barrier *barrier, bool must_hear)
{
    struct seat *own = &barrier->shared->seats[barrier->rank];
    unsigned count = ++barrier->count;
    unsigned looks = 1;
    int come = 0;
    atomic_store_explicit(&own->count, count, memory_order_release);
    for (;; looks++) {
        while (come < barrier->size && has_come(barrier, come, count))
            come++;
        if (come == barrier->size)
            break;
        if (looks <= SPINS)
            continue;
        if (is_broken(barrier, looks))
            return MPIX_ERR_PROC_FAILED;
        opal_progress();
    }
    /* Who comes last waits for nobody, and who comes with it hardly. */
    if (must_hear && (looks == 1 || count % HEARD_EVERY == 0))
        opal_progress();
    return MPI_SUCCESS;
}

void free_barrier(struct barrier *barrier)
{
    if (barrier)
        unmap_memory(barrier);
    free(barrier);
}
