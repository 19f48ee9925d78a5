/* Fortran's names of the calls that begin and end MPI, and that make communicators. */
#include "fortran/names.h"

#include <mpi-ext.h>
#include <stdlib.h>

EXPORTED void mpi_init_(fint code)
{
    *code = MPI_Init(NULL, NULL);
}

EXPORTED void mpi_init_thread_(fint required, fint provided, fint code)
{
    *code = MPI_Init_thread(NULL, NULL, *required, provided);
}

EXPORTED void mpi_finalize_(fint code)
{
    *code = MPI_Finalize();
}

FORTRAN(abort, (fint comm, fint status), PMPI_Abort(COMM, *status))

MAKING(MPI_Comm, comm_dup, (fint comm), MPI_Comm_dup, COMM)
MAKING(MPI_Comm, comm_split, (fint comm, fint color, fint key), MPI_Comm_split, COMM, *color, *key)
MAKING(MPI_Comm, comm_split_type, (fint comm, fint type, fint key, fint info), MPI_Comm_split_type,
       COMM, *type, *key, INFO)
MAKING(MPI_Comm, comm_create, (fint comm, fint group), MPI_Comm_create, COMM,
       PMPI_Group_f2c(*group))
MAKING(MPI_Comm, cart_create, (fint comm, fint count, fint lengths, fint periodic, fint reorder),
       MPI_Cart_create, COMM, *count, lengths, periodic, *reorder)
MAKING(MPI_Comm, cart_sub, (fint comm, fint kept), MPI_Cart_sub, COMM, kept)
MAKING(MPI_Comm, comm_dup_with_info, (fint comm, fint info), MPI_Comm_dup_with_info, COMM, INFO)
MAKING(MPI_Comm, comm_create_group, (fint comm, fint group, fint tag), MPI_Comm_create_group, COMM,
       PMPI_Group_f2c(*group), *tag)
MAKING(MPI_Comm, intercomm_create, (fint comm, fint leader, fint between, fint other, fint tag),
       MPI_Intercomm_create, COMM, *leader, PMPI_Comm_f2c(*between), *other, *tag)
MAKING(MPI_Comm, intercomm_merge, (fint comm, fint high), MPI_Intercomm_merge, COMM, *high != 0)
MAKING(MPI_Comm, graph_create, (fint comm, fint count, fint ends, fint edges, fint reorder),
       MPI_Graph_create, COMM, *count, ends, edges, *reorder)

static int *weights_at(fint weights)
{
    if (IS(weights, unweighted))
        return MPI_UNWEIGHTED;
    return IS(weights, weights_empty) ? MPI_WEIGHTS_EMPTY : weights;
}

MAKING(MPI_Comm, dist_graph_create,
       (fint comm, fint count, fint from, fint degrees, fint to, fint weights, fint info,
        fint reorder),
       MPI_Dist_graph_create, COMM, *count, from, degrees, to, weights_at(weights), INFO, *reorder)
MAKING(MPI_Comm, dist_graph_create_adjacent,
       (fint comm, fint in_count, fint from, fint in_weights, fint out_count, fint to,
        fint out_weights, fint info, fint reorder),
       MPI_Dist_graph_create_adjacent, COMM, *in_count, from, weights_at(in_weights), *out_count,
       to, weights_at(out_weights), INFO, *reorder)

/* Fortran's integer is there when the request has ended: the communicator is not made before. */
#define MAKING_LATER(NAME, PARAMETERS, CALL, ...)                                      \
    EXPORTED void mpi_##NAME##_(UNWRAP PARAMETERS, fint made, fint request, fint code) \
    {                                                                                  \
        MPI_Request own = MPI_REQUEST_NULL;                                            \
        struct promise *promise = calloc(1, sizeof *promise);                          \
        *code = promise ? CALL(__VA_ARGS__, &promise->made, &own) : MPI_ERR_NO_MEM;    \
        *request = PMPI_Request_c2f(own);                                              \
        if (*code != MPI_SUCCESS) {                                                    \
            free(promise);                                                             \
            return;                                                                    \
        }                                                                              \
        promise->request = *request;                                                   \
        promise->place = made;                                                         \
        keep_promise(promise);                                                         \
    }

MAKING_LATER(comm_idup, (fint comm), MPI_Comm_idup, COMM)
MAKING_LATER(comm_idup_with_info, (fint comm, fint info), MPI_Comm_idup_with_info, COMM, INFO)

ENDING(MPI_Comm, comm_free, MPI_Comm_free)
ENDING(MPI_Comm, comm_disconnect, MPI_Comm_disconnect)

MAKING(MPI_Info, comm_get_info, (fint comm), MPI_Comm_get_info, COMM)

FORTRAN(comm_set_errhandler, (fint comm, fint handler),
        MPI_Comm_set_errhandler(COMM, PMPI_Errhandler_f2c(*handler)))

FORTRAN(comm_set_info, (fint comm, fint info), MPI_Comm_set_info(COMM, INFO))

/* Those that Open MPI has beside the standard. */
EXPORTED void mpix_comm_shrink_(fint comm, fint made, fint code)
{
    MPI_Comm own;
    *code = MPIX_Comm_shrink(COMM, &own);
    if (*code == MPI_SUCCESS)
        *made = PMPI_Comm_c2f(own);
}

EXPORTED void mpix_comm_agree_(fint comm, fint flag, fint code)
{
    *code = MPIX_Comm_agree(COMM, flag);
}

EXPORTED void mpix_comm_iagree_(fint comm, fint flag, fint request, fint code)
{
    MPI_Request own = MPI_REQUEST_NULL;
    *code = MPIX_Comm_iagree(COMM, flag, &own);
    *request = PMPI_Request_c2f(own);
}
