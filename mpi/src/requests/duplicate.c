/* MPI_Comm_idup: copies of communicators as requests.
 *
 * In Open MPI 5.0 live processes crash inside it when another one dies. Here it is a build and an agreement, so that all have the
 * copy or none; attributes are copied when the call is made, as the standard says. Who has turned to a recovery before it has made the
 * call takes part in neither: a revoke ends them, when what others may have already has had time to come. */
#include "guards/lasting.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "modes/uniform.h"
#include "requests/build.h"
#include "requests/requests.h"
#include "state.h"

#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

/* What MPI was told of an attribute; there is no call that asks it. */
struct key {
    int number;
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *drop;
    void *extra;
};

static struct key *keys;
static int key_count;

struct attribute {
    struct key key;
    void *value;
};

struct duplicating {
    struct work work;
    struct build build;
    MPI_Comm *made;
    MPI_Info info; /* MPI_INFO_NULL: that of the owner */
    struct modes modes;
    struct attribute *attributes;
    int attribute_count, code, votes;
    MPI_Request agreement;
    double revoked_at; /* 0: not yet, as far as is known here */
    enum { WAITING, BUILDING, AGREEING } stage;
};

EXPORTED int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                                    MPI_Comm_delete_attr_function *drop, int *number, void *extra)
{
    int code = PMPI_Comm_create_keyval(copy, drop, number, extra), at = 0;
    if (code != MPI_SUCCESS)
        return code;
    /* Numbers are used again. */
    while (at < key_count && keys[at].number != *number)
        at++;
    if (at == key_count)
        keys = longer_table(keys, (size_t)++key_count, sizeof *keys);
    keys[at] = (struct key){*number, copy, drop, extra};
    return MPI_SUCCESS;
}

/* Copies the attributes of the owner; what a copying function says. */
static int copy_attributes(struct duplicating *own)
{
    MPI_Comm comm = own->work.owner;
    own->attributes = new_table((size_t)key_count, sizeof *own->attributes);
    for (int at = 0; at < key_count; at++) {
        struct attribute *next = &own->attributes[own->attribute_count];
        void *value, *copied = NULL;
        int there = 0, wanted = 0, code = MPI_SUCCESS;
        if (PMPI_Comm_get_attr(comm, keys[at].number, &value, &there) == MPI_SUCCESS && there)
            code = keys[at].copy(comm, keys[at].number, keys[at].extra, value, &copied, &wanted);
        if (code != MPI_SUCCESS)
            return code;
        *next = (struct attribute){keys[at], copied};
        own->attribute_count += wanted != 0;
    }
    return MPI_SUCCESS;
}

/* All have it: what the copy is to have. */
static void furnish(struct duplicating *own)
{
    MPI_Info info = own->info;
    *own->made = own->build.made;
    for (int at = 0; at < own->attribute_count; at++)
        PMPI_Comm_set_attr(*own->made, own->attributes[at].key.number, own->attributes[at].value);
    inherit_handler(own->work.owner, *own->made);
    if (info == MPI_INFO_NULL && PMPI_Comm_get_info(own->work.owner, &info) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_info(*own->made, info);
    PMPI_Info_free(&info);
    own->info = MPI_INFO_NULL;
    adopt_modes(*own->made, own->modes);
}

/* Nobody has it. */
static void discard(struct duplicating *own)
{
    for (int at = 0; at < own->attribute_count; at++) {
        struct attribute *gone = &own->attributes[at];
        gone->key.drop(own->work.owner, gone->key.number, gone->value, gone->key.extra);
    }
    if (own->info != MPI_INFO_NULL)
        PMPI_Info_free(&own->info);
}

static void begin_agreement(struct duplicating *own, int built)
{
    int code = own->code != MPI_SUCCESS ? own->code : built;
    own->code = code == MPI_SUCCESS && is_revoked(own->work.owner) ? MPIX_ERR_REVOKED : code;
    own->votes = vote_on(own->code);
    iagree(own->work.owner, &own->votes, &own->agreement);
    own->stage = AGREEING;
}

static bool advance_step(struct duplicating *own)
{
    int code, done = 0;
    switch (own->stage) {
    case WAITING:
        if (is_behind(&own->work))
            return false;
        own->stage = BUILDING;
        code = begin_copy(&own->build, own->work.owner);
        if (code != MPI_SUCCESS)
            begin_agreement(own, code);
        return false;
    case BUILDING:
        if (advance_build(&own->build, &code))
            begin_agreement(own, code);
        return false;
    default:
        code = PMPI_Test(&own->agreement, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !done)
            return false;
        own->work.code = outcome_of(own->code, error_class(code), own->votes);
        return true;
    }
}

/* Whether others have had time to bring to an end what they take part in. */
static bool is_abandoned(struct duplicating *own)
{
    if (own->stage == WAITING || !is_revoked(own->work.owner))
        return false;
    own->revoked_at = own->revoked_at > 0 ? own->revoked_at : wall_s();
    return wall_s() >= own->revoked_at + PATIENCE_S;
}

static void leave(struct duplicating *own)
{
    if (own->stage == BUILDING)
        leave_build(&own->build);
    else
        make_last(own->work.owner);
    own->work.kept = true;
    own->work.code = MPIX_ERR_REVOKED;
}

static bool advance(struct work *work)
{
    struct duplicating *own = (struct duplicating *)work;
    MPI_Errhandler handler = hold_errors(work->owner);
    bool ended = advance_step(own);
    if (!ended && is_abandoned(own)) {
        leave(own);
        ended = true;
    }
    put_back_errors(work->owner, handler);
    if (!ended)
        return false;
    if (work->code == MPI_SUCCESS)
        furnish(own);
    else
        discard(own);
    free(own->attributes);
    return true;
}

/* `wrong`: what is said of the info. */
static int duplicate(MPI_Comm comm, MPI_Info info, int wrong, struct modes modes, MPI_Comm *made,
                     MPI_Request *request)
{
    struct duplicating *own = calloc(1, sizeof *own);
    if (!own)
        return MPI_ERR_NO_MEM;
    own->work = (struct work){.owner = comm, .advance = advance, .early = true};
    own->made = made;
    own->info = MPI_INFO_NULL;
    own->modes = modes;
    *made = MPI_COMM_NULL;
    MPI_Errhandler handler = hold_errors(comm);
    if (info != MPI_INFO_NULL)
        PMPI_Info_dup(info, &own->info);
    own->code = wrong == MPI_SUCCESS ? copy_attributes(own) : wrong;
    put_back_errors(comm, handler);
    *request = start_work(&own->work);
    advance_works();
    return MPI_SUCCESS;
}

static bool is_ours(MPI_Comm comm, const MPI_Comm *made, const MPI_Request *request)
{
    return is_looked_after(comm, made) && request && is_within(comm) && can_build();
}

EXPORTED int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (!is_ours(comm, made, request))
        return PMPI_Comm_idup(comm, made, request);
    return duplicate(comm, MPI_INFO_NULL, MPI_SUCCESS, modes_of(comm), made, request);
}

/* The new one goes by this info alone. */
EXPORTED int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made,
                                     MPI_Request *request)
{
    struct modes modes = {RANGE_LOCAL, UNIFORM_LOCAL, modes_of(comm).of_job};
    MPI_Info empty = MPI_INFO_NULL;
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (!is_ours(comm, made, request))
        return PMPI_Comm_idup_with_info(comm, info, made, request);
    if (info == MPI_INFO_NULL)
        PMPI_Info_create(&empty);
    int wrong = read_modes(info, &modes);
    int code = duplicate(comm, info == MPI_INFO_NULL ? empty : info, wrong, modes, made, request);
    if (empty != MPI_INFO_NULL)
        PMPI_Info_free(&empty);
    return code;
}
