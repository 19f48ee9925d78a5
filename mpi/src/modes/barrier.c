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
#include <sys/stat.h>
#include <unistd.h>

/* More processes than that have too many places to look at. */
enum { PROCESSES_MOST = 64, LINE = 64 };

/* Looks at the others before MPI makes progress, in which a process gives way where there are more than processors; and looks between two
 * for failures, when MPI has told of none. */
enum { SPINS = 64, LOOKS = 4096 };

#define NAME "runflat-barrier"

/* How often one process has come, in a line of the cache where nobody else writes. */
struct seat {
    _Alignas(LINE) atomic_uint count;
};

struct barrier {
    MPI_Comm comm;
    int rank, size;
    unsigned count; /* how often this process has come */
    unsigned news;  /* told by MPI before the last look for failures */
    struct seat *seats;
};

/* Where the first process has the memory, as it tells the others. */
struct source {
    uint64_t host;
    long long process, file;
};

static size_t length_of(const struct barrier *barrier)
{
    return (size_t)barrier->size * sizeof(struct seat);
}

static struct seat *map_seats(int file, size_t length)
{
    void *place = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return place == MAP_FAILED ? NULL : place;
}

/* Makes the memory, which has no name and goes with the last process that has it; the file, -1: there is none. */
static int make_seats(struct barrier *barrier)
{
    int file = memfd_create(NAME, MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)length_of(barrier)) == 0)
        barrier->seats = map_seats(file, length_of(barrier));
    return file;
}

/* Takes the memory of another process of this host, if what it tells is that: where processes are counted anew, as in containers, the
 * number may be another's. */
static void take_seats(struct barrier *barrier, struct source source)
{
    static const char called[] = "/memfd:" NAME;
    char path[64], link[sizeof called] = "";
    struct stat found;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", source.process, source.file);
    if (source.host != rf.place[rf.rank].host || readlink(path, link, sizeof link - 1) < 0 ||
        strcmp(link, called) != 0)
        return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && fstat(file, &found) == 0 && (size_t)found.st_size == length_of(barrier))
        barrier->seats = map_seats(file, length_of(barrier));
    if (file >= 0)
        close(file);
}

int make_barrier(MPI_Comm comm, struct barrier **made)
{
    struct barrier *barrier = new_table(1, sizeof *barrier);
    struct source source = {rf.place[rf.rank].host, getpid(), -1};
    int has_seats, all_have = 0, file = -1;
    barrier->comm = comm;
    PMPI_Comm_rank(comm, &barrier->rank);
    PMPI_Comm_size(comm, &barrier->size);
    if (barrier->rank == 0 && barrier->size <= PROCESSES_MOST)
        source.file = file = make_seats(barrier);
    int code = PMPI_Bcast(&source, sizeof source, MPI_BYTE, 0, comm);
    if (code == MPI_SUCCESS && barrier->rank > 0)
        take_seats(barrier, source);
    has_seats = barrier->seats != NULL;
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(&has_seats, &all_have, 1, MPI_INT, MPI_MIN, comm);
    if (file >= 0)
        close(file);
    if (code != MPI_SUCCESS || !all_have) {
        free_barrier(barrier);
        barrier = NULL;
    }
    *made = barrier;
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

int wait_for_all(struct barrier *barrier)
{
    unsigned count = ++barrier->count;
    int come = 0;
    atomic_store_explicit(&barrier->seats[barrier->rank].count, count, memory_order_release);
    for (unsigned looks = 1;; looks++) {
        /* Who is ahead has come one time more. */
        while (come < barrier->size &&
               atomic_load_explicit(&barrier->seats[come].count, memory_order_acquire) - count <= 1)
            come++;
        if (come == barrier->size)
            return MPI_SUCCESS;
        if (looks <= SPINS)
            continue;
        if (is_broken(barrier, looks))
            return MPIX_ERR_PROC_FAILED;
        opal_progress();
    }
}

void free_barrier(struct barrier *barrier)
{
    if (barrier && barrier->seats)
        munmap(barrier->seats, length_of(barrier));
    free(barrier);
}
