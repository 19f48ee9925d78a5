/* Checkpoints in memory: each rank's protected memory here, and what gives it back at others.
 *
 * A checkpoint is written beside the one before and counts when all have theirs: a failure in its midst leaves the one before
 * in force at all ranks. Of one that is written beside the computation it need not be known by all alike that it counts, since
 * RF_Restore asks everybody. */
#include "data/checkpoint.h"

#include "data/copies.h"
#include "data/ring.h"
#include "data/sharing.h"
#include "data/snapshot.h"
#include "data/store.h"
#include "guards/bounded.h"
#include "guards/inject.h"
#include "modes/agree.h"
#include "requests/requests.h"
#include "runflat.h"
#include "spares/roster.h"
#include "spares/spares.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>

/* The number of copies that will never count: a rank whose version is refused goes along so far that others do not wait for it. */
enum { REFUSED = -2 };

/* Whether a version may be the next one, which only this rank can tell; else it says why not. */
static bool is_next(const char *call, int64_t version)
{
    if (version > last_complete && version >= 0)
        return true;
    if (last_complete < 0)
        say("%s: version %lld is given; a version is 0 or more", call, (long long)version);
    else
        say("%s: version %lld is given, and %lld counts already; a version is more than the last",
            call, (long long)version, (long long)last_complete);
    return false;
}

/* Whether versions go to files: not those of a job that has lost ranks, since it is begun again with all of them, from the last version
 * of which all have files. */
static bool is_storing(void)
{
    return has_store() && !has_lost_ranks();
}

/* A version counts. */
static void commit(const struct ring *ring, int64_t version, double begin)
{
    keep_copies(last_complete = version, ring->number[ring->own], second_of(ring));
    last_pass = pass;
    if (is_storing())
        forget_stored(version);
    note_event_of("checkpoint", 1e3 * (wall_s() - begin), "version", (long)version);
}

/* All know that a version will never count. */
static void discard(const struct ring *ring)
{
    keep_copies(last_complete, ring->number[ring->own], second_of(ring));
}

/* Takes the snapshot of a version: MPI_SUCCESS, or MPI_ERR_NO_MEM, and the communicator is revoked. */
static int begin_version(const struct ring *ring, int64_t version)
{
    static bool told;
    forget_lack_of_memory();
    if (protected_count() == 0 && ring->own == 0 && !told)
        say("a checkpoint of nothing: name the memory with RF_Protect before, or who takes over "
            "gets no data");
    told = true;
    if (take_snapshot(ring->number[ring->own], version))
        return MPI_SUCCESS;
    say("no memory for a checkpoint");
    PMPIX_Comm_revoke(ring->comm);
    return MPI_ERR_NO_MEM;
}

/* What ranks say of a version: whether all goes well, whether nobody refuses it, and the lowest and the highest version that is meant,
 * each with the first rank that means it. */
struct word {
    int64_t good, next;
    struct meant {
        int64_t version, rank;
    } low, high;
};

/* Ranks tell each other that all have theirs: in round k each tells the one 2^k places behind it what it has heard so far. Open
 * MPI's own non-blocking calls print what they think of failures. */
struct confirmation {
    const struct ring *ring;
    int distance;
    struct word out, in;
    struct flight flight;
};

enum { TAG = 32002 };

static void begin_round(struct confirmation *own)
{
    const struct ring *ring = own->ring;
    receive_bytes(&own->flight, &own->in, sizeof own->in,
                  (ring->own - own->distance + ring->size) % ring->size, TAG);
    send_bytes(&own->flight, &own->out, sizeof own->out, (ring->own + own->distance) % ring->size,
               TAG);
}

static void begin_confirmation(struct confirmation *own, const struct ring *ring, bool good,
                               bool next, int64_t version)
{
    struct meant meant = {version, ring->own};
    *own = (struct confirmation){.ring = ring, .distance = 1, .out = {good, next, meant, meant}};
    begin_flight(&own->flight, ring->comm);
    if (ring->size > 1)
        begin_round(own);
}

/* The lower of two, or (`sign` -1) the higher; of equal ones that of the first rank. */
static struct meant first_of(struct meant one, struct meant other, int sign)
{
    bool is_less = sign > 0 ? one.version < other.version : one.version > other.version;
    return is_less || (one.version == other.version && one.rank < other.rank) ? one : other;
}

/* True: ended, and `out` is what all have said, if the flight is good. */
static bool advance_confirmation(struct confirmation *own)
{
    struct word *all = &own->out, *other = &own->in;
    if (!has_landed(&own->flight))
        return false;
    if (!own->flight.good || own->ring->size == 1)
        return true;
    all->good = all->good && other->good;
    all->next = all->next && other->next;
    all->low = first_of(all->low, other->low, 1);
    all->high = first_of(all->high, other->high, -1);
    own->distance *= 2;
    if (own->distance >= own->ring->size)
        return true;
    begin_round(own);
    return false;
}

static bool differs(const struct word *all)
{
    return all->low.version != all->high.version;
}

/* What it has come to; without a failure at all ranks alike. A request ends with a code of MPI's. */
static int confirmed(const struct confirmation *own)
{
    const struct word *all = &own->out;
    if (!own->flight.good)
        return MPIX_ERR_REVOKED;
    if (!all->next || differs(all))
        return MPI_ERR_ARG;
    return all->good ? MPI_SUCCESS : MPI_ERR_IO;
}

/* Versions that differ are said by the first rank that means the lowest and by that which means the highest. */
static void tell_of_difference(const char *call, const struct word *all, int rank, int64_t version)
{
    if (differs(all) && (all->low.rank == rank || all->high.rank == rank))
        say("%s: version %lld is given here, and another one at other ranks: all give the same",
            call, (long long)version);
}

/* The same after a blocking call, which all ranks have come out of refused. */
static void find_difference(const char *call, const struct ring *ring, bool next, int64_t version)
{
    struct confirmation confirmation;
    begin_confirmation(&confirmation, ring, true, next, version);
    begin_step(call);
    while (!advance_confirmation(&confirmation))
        advance_works();
    end_step();
    if (confirmation.flight.good && confirmation.out.next)
        tell_of_difference(call, &confirmation.out, ring->own, version);
}

RF_API int RF_Checkpoint(MPI_Comm comm, int64_t version)
{
    if (!may_call("RF_Checkpoint", comm))
        return RF_ERR_ARGUMENT;
    finish_checkpoint();
    double begin = wall_s();
    enter_phase("checkpoint");
    struct ring ring = open_ring(side_of_job());
    bool good = is_next("RF_Checkpoint", version);
    struct sharing sharing;
    int code = begin_version(&ring, good ? version : REFUSED);
    if (code == MPI_SUCCESS) {
        begin_sharing(&sharing, &ring, good ? version : REFUSED);
        code = !share(&sharing)                         ? class_of_failure()
               : !good                                  ? RF_ERR_ARGUMENT
               : is_storing() && !store_copies(version) ? MPI_ERR_IO
                                                        : MPI_SUCCESS;
    }
    code = agree_on_outcome(comm, code, version);
    if (code == RF_ERR_ARGUMENT)
        find_difference("RF_Checkpoint", &ring, good, version);
    /* After a failure others may know that it is complete: it is kept beside the one before, and RF_Restore finds out. */
    if (code == MPI_SUCCESS)
        commit(&ring, version, begin);
    else if (!is_failure(code))
        discard(&ring);
    close_ring(&ring);
    return code;
}

/* A request of RF_Icheckpoint. */
struct background {
    struct work work;
    int64_t version;
    double begin;
    struct ring ring;
    struct sharing sharing;
    enum { SHARING, STORING, CONFIRMING } stage;
    bool next; /* the version may be: else nothing of it is to count */
    bool good;
    pthread_t writer;
    atomic_bool written;
    struct confirmation confirmation;
};

static struct background *current;

/* Files are written by a thread, which calls nothing of MPI. */
static void *write_files(void *state)
{
    struct background *own = state;
    own->good = store_copies(own->version);
    atomic_store(&own->written, true);
    return NULL;
}

static void begin_storing(struct background *own)
{
    own->stage = STORING;
    if (!is_storing() || !own->next) {
        atomic_store(&own->written, true);
    } else if (pthread_create(&own->writer, NULL, write_files, own) == 0) {
        pthread_detach(own->writer);
    } else {
        write_files(own);
    }
}

static bool end_background(struct background *own, int code)
{
    if (code == MPI_SUCCESS)
        commit(&own->ring, own->version, own->begin);
    else if (is_failure(code))
        PMPIX_Comm_revoke(own->ring.comm);
    else
        discard(&own->ring);
    if (code == MPI_ERR_ARG && own->confirmation.out.next)
        tell_of_difference("RF_Icheckpoint", &own->confirmation.out, own->ring.own, own->version);
    own->work.code = code;
    close_ring(&own->ring);
    current = NULL;
    return true;
}

static bool advance(struct work *work)
{
    struct background *own = (struct background *)work;
    switch (own->stage) {
    case SHARING:
        if (!advance_sharing(&own->sharing, &own->good))
            return false;
        if (!own->good)
            return end_background(own, MPIX_ERR_REVOKED);
        begin_storing(own);
        return false;
    case STORING:
        if (!atomic_load(&own->written))
            return false;
        begin_confirmation(&own->confirmation, &own->ring, own->good, own->next, own->version);
        own->stage = CONFIRMING;
        return false;
    case CONFIRMING:
        /* All tell each other whether their files are there: without a failure they know the same. */
        return advance_confirmation(&own->confirmation) &&
               end_background(own, confirmed(&own->confirmation));
    }
    return true;
}

RF_API int RF_Icheckpoint(MPI_Comm comm, int64_t version, MPI_Request *request)
{
    if (!request)
        return refuse("RF_Icheckpoint", "there is no place for the request (NULL)");
    *request = MPI_REQUEST_NULL;
    if (!may_call("RF_Icheckpoint", comm))
        return RF_ERR_ARGUMENT;
    finish_checkpoint();
    enter_phase("checkpoint");
    struct background *own = new_table(1, sizeof *own);
    *own = (struct background){.version = version,
                               .begin = wall_s(),
                               .ring = open_ring(side_of_job()),
                               .next = is_next("RF_Icheckpoint", version)};
    int64_t number = own->next ? version : REFUSED;
    own->work = (struct work){.owner = rf.world, .advance = advance};
    if (begin_version(&own->ring, number) != MPI_SUCCESS) {
        close_ring(&own->ring);
        free(own);
        return MPI_ERR_NO_MEM;
    }
    begin_sharing(&own->sharing, &own->ring, number);
    current = own;
    *request = start_work(&own->work);
    advance_works();
    return MPI_SUCCESS;
}

void finish_checkpoint(void)
{
    while (current)
        advance_works();
}

void give_up_checkpoint(void)
{
    if (!current)
        return;
    PMPIX_Comm_revoke(current->ring.comm);
    begin_step("end of a checkpoint");
    finish_checkpoint();
    end_step();
}
