/* Calls that make communicators.
 *
 * All agree before anybody gets the new one, so that nobody can revoke it while another is still inside the call, and all have
 * it or none: on the communicator that it is made from where all of that take part, else on the new one. */
#include "guards/young.h"
#include "jobs/parting.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "modes/uniform.h"
#include "state.h"

#define EXPORTED __attribute__((visibility("default")))

/* Ends a call that all processes of `parent` make. A communicator that others could not make is dropped, not freed: freeing
 * takes all of them. */
static int settle_new(MPI_Comm parent, MPI_Errhandler handler, int code, struct modes modes,
                      MPI_Comm *made)
{
    code = settle_all(parent, code);
    if (code != MPI_SUCCESS)
        *made = MPI_COMM_NULL;
    else if (*made != MPI_COMM_NULL)
        change_modes(*made, modes);
    return release_errors(parent, handler, code);
}

/* A call by all processes of `comm`. */
#define CREATION(NAME, PARAMETERS, PARENT, MADE, ...)                                          \
    EXPORTED int MPI_##NAME PARAMETERS                                                         \
    {                                                                                          \
        if (!rf.ready || is_between(PARENT))                                                   \
            return PMPI_##NAME(__VA_ARGS__);                                                   \
        MPI_Errhandler handler = hold_errors(PARENT);                                          \
        *(MADE) = MPI_COMM_NULL;                                                               \
        begin_making();                                                                        \
        int code = PMPI_##NAME(__VA_ARGS__);                                                   \
        return settle_new(PARENT, handler, end_making(code, *(MADE)), modes_of(PARENT), MADE); \
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
    struct modes modes = {RANGE_LOCAL, UNIFORM_LOCAL};
    if (!rf.ready || is_between(comm))
        return PMPI_Comm_dup_with_info(comm, info, made);
    MPI_Errhandler handler = hold_errors(comm);
    *made = MPI_COMM_NULL;
    int code = read_modes(info, &modes);
    if (code == MPI_SUCCESS) {
        begin_making();
        code = PMPI_Comm_dup_with_info(comm, info, made);
        end_making(code, *made);
    }
    /* The new one goes by this info alone. */
    return settle_new(comm, handler, code, modes, made);
}

/* Only some processes of `comm` call it: they agree on what they have made. */
EXPORTED int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    begin_making();
    int code = PMPI_Comm_create_group(comm, group, tag, made), flag = 1;
    end_making(code, *made);
    if (code == MPI_SUCCESS && rf.ready && *made != MPI_COMM_NULL) {
        agree_unless_revoked(*made, &flag, PATIENCE_S);
        change_modes(*made, modes_of(comm));
    }
    return code;
}

EXPORTED int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *made)
{
    begin_making();
    int code = PMPI_Intercomm_merge(comm, high, made), flag = 1;
    end_making(code, *made);
    if (code == MPI_SUCCESS && rf.ready) {
        agree_unless_revoked(*made, &flag, PATIENCE_S);
        change_modes(*made, modes_of(comm));
        if (is_joined(comm))
            note_joined(*made);
    }
    return code;
}

/* Agreements on intercommunicators do not end: each side agrees on its own, its leaders tell each other over `between`. */
EXPORTED int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm between, int other, int tag,
                                  MPI_Comm *made)
{
    if (!rf.ready)
        return PMPI_Intercomm_create(comm, leader, between, other, tag, made);
    MPI_Errhandler handler = hold_errors(comm);
    int rank, word = 0, heard = 0;
    *made = MPI_COMM_NULL;
    PMPI_Comm_rank(comm, &rank);
    begin_making();
    int code = PMPI_Intercomm_create(comm, leader, between, other, tag, made);
    code = settle_all(comm, end_making(code, *made));
    if (code == MPI_SUCCESS && rank == leader)
        code = PMPI_Sendrecv(&word, 1, MPI_INT, other, tag, &heard, 1, MPI_INT, other, tag, between,
                             MPI_STATUS_IGNORE);
    return settle_new(comm, handler, code, modes_of(comm), made);
}

EXPORTED int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *made)
{
    begin_making();
    int code = PMPIX_Comm_shrink(comm, made), flag = 1;
    end_making(code, *made);
    if (code == MPI_SUCCESS && rf.ready && !is_between(comm)) {
        PMPIX_Comm_agree(*made, &flag);
        change_modes(*made, modes_of(comm));
    }
    return code;
}

EXPORTED int MPI_Comm_free(MPI_Comm *comm)
{
    drop_modes(*comm);
    forget_made(*comm);
    forget_joined(*comm);
    return PMPI_Comm_free(comm);
}

EXPORTED int MPI_Comm_disconnect(MPI_Comm *comm)
{
    drop_modes(*comm);
    forget_made(*comm);
    forget_joined(*comm);
    return PMPI_Comm_disconnect(comm);
}
