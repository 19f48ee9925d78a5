/* Calls that make communicators.
 *
 * All agree before anybody gets the new one, so that nobody can revoke it while another is still inside the call, and all have
 * it or none: on the communicator that it is made from where all of that take part, else on the new one. */
#include "guards/bounded.h"
#include "guards/deaths.h"
#include "guards/inject.h"
#include "guards/lasting.h"
#include "guards/young.h"
#include "jobs/dynamic.h"
#include "jobs/parting.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "modes/range.h"
#include "modes/uniform.h"
#include "requests/between.h"
#include "requests/build.h"
#include "requests/meeting.h"
#include "requests/requests.h"
#include "requests/shrink.h"
#include "spares/spares.h"
#include "state.h"

#define EXPORTED __attribute__((visibility("default")))

/* A kind of calls, see `key_of_call`; those of between.c are smaller. */
enum { OF_GROUP = 16 };

/* Ends a call that all processes of `parent` make. A communicator that others could not make is dropped, not freed: freeing
 * takes all of them. */
static int settle_new(MPI_Comm parent, int code, struct modes modes, MPI_Comm *made)
{
    code = settle_all(parent, code);
    if (code != MPI_SUCCESS) {
        *made = MPI_COMM_NULL;
    } else if (*made != MPI_COMM_NULL) {
        /* MPI has made it while that of the parent was off. */
        inherit_handler(parent, *made);
        change_modes(*made, modes);
    }
    if (code == MPI_SUCCESS)
        note_child(parent, *made);
    return code;
}

/* A call by all processes of `comm`. */
#define CREATION(NAME, PARAMETERS, PARENT, MADE, ...)            \
    EXPORTED int MPI_##NAME PARAMETERS                           \
    {                                                            \
        if (sleeps_in(PARENT))                                   \
            return refuse_in_world(__func__);                    \
        if (!is_looked_after(PARENT, MADE))                      \
            return PMPI_##NAME(__VA_ARGS__);                     \
        MPI_Errhandler handler = hold_errors(PARENT);            \
        *(MADE) = MPI_COMM_NULL;                                 \
        begin_making();                                          \
        int code = PMPI_##NAME(__VA_ARGS__);                     \
        code = end_making(code, MADE);                           \
        code = settle_new(PARENT, code, modes_of(PARENT), MADE); \
        return release_errors(PARENT, handler, code, __func__);  \
    }

CREATION(Comm_dup, (MPI_Comm comm, MPI_Comm *made), comm, made, comm, made)

CREATION(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), comm, made, comm, color,
         key, made)

CREATION(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), comm,
         made, comm, type, key, info, made)

CREATION(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), comm, made, comm, group,
         made)

CREATION(Cart_create,
         (MPI_Comm comm, int count, const int lengths[], const int periodic[], int reorder,
          MPI_Comm *made),
         comm, made, comm, count, lengths, periodic, reorder, made)

CREATION(Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm *made), comm, made, comm, kept, made)

CREATION(Graph_create,
         (MPI_Comm comm, int count, const int index[], const int edges[], int reorder,
          MPI_Comm *made),
         comm, made, comm, count, index, edges, reorder, made)

CREATION(Dist_graph_create,
         (MPI_Comm comm, int count, const int sources[], const int degrees[], const int targets[],
          const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
         comm, made, comm, count, sources, degrees, targets, weights, info, reorder, made)

CREATION(Dist_graph_create_adjacent,
         (MPI_Comm comm, int in_count, const int sources[], const int source_weights[],
          int out_count, const int targets[], const int target_weights[], MPI_Info info,
          int reorder, MPI_Comm *made),
         comm, made, comm, in_count, sources, source_weights, out_count, targets, target_weights,
         info, reorder, made)

EXPORTED int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made)
{
    struct modes modes = {RANGE_LOCAL, UNIFORM_LOCAL, modes_of(comm).of_job};
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (!is_looked_after(comm, made))
        return PMPI_Comm_dup_with_info(comm, info, made);
    MPI_Errhandler handler = hold_errors(comm);
    *made = MPI_COMM_NULL;
    /* The new one goes by this info alone. Who cannot read it makes the call, too: the others wait in there. */
    int wrong = read_modes(info, &modes);
    begin_making();
    int code = end_making(PMPI_Comm_dup_with_info(comm, info, made), made);
    code = settle_new(comm, code == MPI_SUCCESS ? wrong : code, modes, made);
    return release_errors(comm, handler, code, __func__);
}

/* What a new communicator has from the one that it was made from, which gets an error, once. */
static int give(MPI_Comm from, int code, MPI_Comm *made, const char *call)
{
    if (code == MPI_SUCCESS) {
        inherit_handler(from, *made);
        change_modes(*made, modes_of(from));
        if (is_joined(from))
            note_joined(*made);
    } else {
        *made = MPI_COMM_NULL;
        raise_error(from, code, call);
    }
    return code;
}

/* Only some processes of `comm` call it. */
static int create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    int count, votes = ~0, *ranks = ranks_in_world(group, &count);
    struct meeting meeting =
        ranks ? begin_meeting(comm, ranks, count, key_of_call(comm, ranks, count, tag, OF_GROUP))
              : begin_meeting_of(comm, group, tag);
    MPI_Errhandler handler = hold_errors(comm);
    int code = meet(&meeting, &votes, made);
    if (code == MPI_SUCCESS && meeting.in_world)
        note_made_by(*made, meeting.key);
    put_back_errors(comm, handler);
    end_meeting(&meeting);
    return code;
}

/* What is wrong with the arguments, MPI says. */
static bool is_group_for_us(MPI_Comm comm, MPI_Group group, int tag, const MPI_Comm *made)
{
    int rank = MPI_UNDEFINED;
    if (!is_looked_after(comm, made) || !can_build() || group == MPI_GROUP_NULL || tag < 0)
        return false;
    PMPI_Group_rank(group, &rank);
    return rank != MPI_UNDEFINED;
}

EXPORTED int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    if (!is_group_for_us(comm, group, tag, made))
        return PMPI_Comm_create_group(comm, group, tag, made);
    return give(comm, create_group(comm, group, tag, made), made, __func__);
}

EXPORTED int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *made)
{
    if (!rf.ready || !made || !is_between(comm) || !can_build())
        return PMPI_Intercomm_merge(comm, high, made);
    int code = merge_between(comm, high, made);
    if (code == NOT_IN_WORLD) {
        begin_step("MPI_Intercomm_merge");
        MPI_Errhandler handler = hold_errors(comm);
        code = merge_jobs(comm, high, made);
        put_back_errors(comm, handler);
        end_step();
    }
    return give(comm, code, made, __func__);
}

EXPORTED int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm between, int other, int tag,
                                  MPI_Comm *made)
{
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (!is_looked_after(comm, made) || !can_build())
        return PMPI_Intercomm_create(comm, leader, between, other, tag, made);
    int code = create_between(comm, leader, between, other, tag, made);
    return code == NOT_IN_WORLD ? create_between_jobs(comm, leader, between, other, tag, made)
                                : give(comm, code, made, __func__);
}

/* Open MPI's own is not safe against other threads. */
static int shrink_waiting(MPI_Comm comm, MPI_Comm *made)
{
    bool agrees = !is_alone(comm) || is_revoked(comm);
    int flag = 1;
    if (rf.threads == MPI_THREAD_MULTIPLE && agrees && is_within(comm) && can_build()) {
        shrink_now(comm, made);
        return MPI_SUCCESS;
    }
    begin_making();
    int code = agrees ? PMPIX_Comm_shrink(comm, made) : PMPI_Comm_split(comm, 0, 0, made);
    end_making(code, made);
    if (code == MPI_SUCCESS && !is_between(comm) && !is_alone(*made))
        PMPIX_Comm_agree(*made, &flag);
    return code;
}

EXPORTED int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *made)
{
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (!rf.ready || comm == MPI_COMM_NULL || !made)
        return PMPIX_Comm_shrink(comm, made);
    let_earlier_works_agree(comm);
    enter_phase("shrink");
    begin_step("MPIX_Comm_shrink");
    double begin = wall_s();
    int code = shrink_waiting(comm, made);
    end_step();
    if (code == MPI_SUCCESS && !is_between(comm)) {
        tell_of_missing(comm, *made);
        note_deaths();
        note_event("shrink", 1e3 * (wall_s() - begin));
        change_modes(*made, modes_of(comm));
        note_child(comm, *made);
    }
    return code;
}

/* A communicator goes away. false: this process alone is done with it, it stays. */
static bool forget(MPI_Comm comm)
{
    if (modes_of(comm).of_job && !may_part_from(comm))
        return false;
    make_last_if_broken(comm);
    drop_modes(comm);
    forget_made(comm);
    rest_joined(comm);
    forget_calls(comm);
    return true;
}

static int free_if_done(MPI_Comm *comm, int (*next)(MPI_Comm *), const char *call)
{
    if (comm && is_of_job(*comm)) {
        refuse(call,
               "the communicator that RF_Init or a repair gave is freed by RF_Repair and RF_End");
        return MPI_ERR_COMM;
    }
    if (!comm || forget(*comm))
        return next(comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

EXPORTED int MPI_Comm_free(MPI_Comm *comm)
{
    return free_if_done(comm, PMPI_Comm_free, __func__);
}

EXPORTED int MPI_Comm_disconnect(MPI_Comm *comm)
{
    if (!rf.ready || !comm || *comm == MPI_COMM_NULL)
        return PMPI_Comm_disconnect(comm);
    disconnect_joined(*comm);
    int code = free_if_done(comm, PMPI_Comm_disconnect, __func__);
    disconnect_joined(MPI_COMM_NULL);
    return code;
}
