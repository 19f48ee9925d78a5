#include "requests/shrink.h"

#include "guards/deaths.h"
#include "guards/inject.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "modes/range.h"
#include "modes/uniform.h"
#include "requests/requests.h"
#include "runflat.h"
#include "state.h"

#include <stdlib.h>

/* A set of ranks as 16 bits, whatever their order. */
static unsigned hash_of_set(const int *ranks, int count)
{
    unsigned hash = (unsigned)count;
    for (int at = 0; at < count; at++) {
        unsigned own = (unsigned)(ranks[at] + 1) * 2654435761u;
        own ^= own >> 15;
        own *= 2246822519u;
        hash += own ^ own >> 13;
    }
    return (hash ^ hash >> 16) & 0xffff;
}

/* Who is dead as far as is known here: acknowledges them, notes who is alive. Returns what stands for the set in an agreement:
 * a hash and its complement, so that the bitwise and of all is one's own only if all have the same. */
static int count_dead(struct shrink *shrink)
{
    MPI_Group all, dead;
    int count, acknowledged;
    PMPI_Comm_group(shrink->comm, &all);
    PMPIX_Comm_get_failed(shrink->comm, &dead);
    PMPI_Group_size(dead, &count);
    int *at = new_table((size_t)count, sizeof(int)), *ranks = new_table((size_t)count, sizeof(int));
    for (int one = 0; one < count; one++)
        at[one] = one;
    PMPI_Group_translate_ranks(dead, count, at, all, ranks);
    unsigned hash = hash_of_set(ranks, count);
    PMPIX_Comm_ack_failed(shrink->comm, count, &acknowledged);
    PMPI_Group_difference(all, dead, &shrink->alive);
    PMPI_Group_free(&all);
    if (dead != MPI_GROUP_EMPTY)
        PMPI_Group_free(&dead);
    free(at);
    free(ranks);
    return (int)(hash | (~hash & 0xffff) << 16);
}

static void agree_on_dead(struct shrink *shrink)
{
    if (shrink->alive != MPI_GROUP_NULL)
        PMPI_Group_free(&shrink->alive);
    shrink->building = false;
    shrink->vote = shrink->votes = count_dead(shrink);
    iagree(shrink->comm, &shrink->votes, &shrink->agreement);
}

void begin_shrink(struct shrink *shrink, MPI_Comm comm)
{
    *shrink = (struct shrink){.comm = comm, .made = MPI_COMM_NULL, .alive = MPI_GROUP_NULL};
    MPI_Errhandler handler = hold_errors(comm);
    agree_on_dead(shrink);
    put_back_errors(comm, handler);
}

/* Whether the agreement has ended, and begins to build if all know of the same failures. */
static bool advance_agreement(struct shrink *shrink, int *code)
{
    int done = 0;
    *code = PMPI_Test(&shrink->agreement, &done, MPI_STATUS_IGNORE);
    if (*code == MPI_SUCCESS && !done)
        return false;
    /* The same at all: the votes are, and with the same votes all have acknowledged the same failures, so that a new one is an
     * error at all. */
    if (*code != MPI_SUCCESS || shrink->votes != shrink->vote) {
        agree_on_dead(shrink);
        return false;
    }
    shrink->building = true;
    *code = begin_build(&shrink->build, shrink->comm, shrink->alive);
    return *code != MPI_SUCCESS;
}

static bool advance_step(struct shrink *shrink, int *code)
{
    if (!shrink->building)
        return advance_agreement(shrink, code);
    if (!advance_build(&shrink->build, code))
        return false;
    if (is_failure(*code)) {
        agree_on_dead(shrink);
        return false;
    }
    if (*code != MPI_SUCCESS)
        return true;
    shrink->made = shrink->build.made;
    /* All know the same failures now, also those that MPI has not told of here. */
    tell_of_missing(shrink->comm, shrink->made);
    note_deaths();
    PMPI_Group_free(&shrink->alive);
    return true;
}

bool advance_shrink(struct shrink *shrink, int *code)
{
    MPI_Errhandler handler = hold_errors(shrink->comm);
    bool ended = advance_step(shrink, code);
    put_back_errors(shrink->comm, handler);
    return ended;
}

void shrink_now(MPI_Comm comm, MPI_Comm *made)
{
    struct shrink shrink;
    int code;
    do {
        begin_shrink(&shrink, comm);
        while (!advance_shrink(&shrink, &code))
            ;
    } while (code != MPI_SUCCESS);
    *made = shrink.made;
}

/* A request of MPIX_Comm_ishrink. */
struct shrinking {
    struct work work;
    struct shrink shrink;
    MPI_Comm *made;
    bool begun;
    double posted;
};

static bool advance(struct work *work)
{
    struct shrinking *own = (struct shrinking *)work;
    if (!own->begun && is_behind(work))
        return false;
    if (!own->begun)
        begin_shrink(&own->shrink, work->owner);
    own->begun = true;
    bool ended = advance_shrink(&own->shrink, &work->code);
    if (ended && work->code == MPI_SUCCESS) {
        *own->made = own->shrink.made;
        inherit_handler(work->owner, *own->made);
        inherit_modes(work->owner, *own->made);
        note_event("shrink", 1e3 * (wall_s() - own->posted));
    }
    return ended;
}

/* Of an MPI that has one. */
__attribute__((weak)) int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *made, MPI_Request *request);

RF_API int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    if (PMPIX_Comm_ishrink)
        return PMPIX_Comm_ishrink(comm, made, request);
    *made = MPI_COMM_NULL;
    *request = MPI_REQUEST_NULL;
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (!rf.ready || !is_within(comm) || !can_build())
        return raise_error(comm, MPI_ERR_UNSUPPORTED_OPERATION, __func__);
    struct shrinking *own = calloc(1, sizeof *own);
    if (!own)
        return MPI_ERR_NO_MEM;
    own->work = (struct work){
        .owner = comm, .advance = advance, .early = true, .step = "MPIX_Comm_ishrink"};
    own->made = made;
    own->posted = wall_s();
    enter_phase("shrink");
    *request = start_work(&own->work);
    advance_works();
    return MPI_SUCCESS;
}
