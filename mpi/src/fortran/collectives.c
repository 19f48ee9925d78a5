/* Fortran's names of collective calls: the blocking, the non-blocking and the persistent form of each. */
#include "fortran/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTIVE(NAME, C_NAME, C_INAME, PARAMETERS, ...)                                \
    FORTRAN(NAME, PARAMETERS, MPI_##C_NAME(__VA_ARGS__))                                  \
    MAKING(MPI_Request, i##NAME, PARAMETERS, MPI_##C_INAME, __VA_ARGS__)                  \
    MAKING(MPI_Request, NAME##_init, (UNWRAP PARAMETERS, fint info), MPI_##C_NAME##_init, \
           __VA_ARGS__, INFO)

COLLECTIVE(barrier, Barrier, Ibarrier, (fint comm), COMM)
COLLECTIVE(bcast, Bcast, Ibcast, (void *buffer, fint count, fint type, fint root, fint comm),
           at(buffer), *count, TYPE(type), *root, COMM)
COLLECTIVE(gather, Gather, Igather,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint root, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), *root, COMM)
COLLECTIVE(scatter, Scatter, Iscatter,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint root, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), *root, COMM)
COLLECTIVE(gatherv, Gatherv, Igatherv,
           (void *out, fint out_count, fint out_type, void *in, fint in_counts, fint places,
            fint in_type, fint root, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), in_counts, places, TYPE(in_type), *root,
           COMM)
COLLECTIVE(scatterv, Scatterv, Iscatterv,
           (void *out, fint out_counts, fint places, fint out_type, void *in, fint in_count,
            fint in_type, fint root, fint comm),
           at(out), out_counts, places, TYPE(out_type), at(in), *in_count, TYPE(in_type), *root,
           COMM)
COLLECTIVE(allgather, Allgather, Iallgather,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), COMM)
COLLECTIVE(allgatherv, Allgatherv, Iallgatherv,
           (void *out, fint out_count, fint out_type, void *in, fint in_counts, fint places,
            fint in_type, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), in_counts, places, TYPE(in_type), COMM)
COLLECTIVE(alltoall, Alltoall, Ialltoall,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), COMM)
COLLECTIVE(alltoallv, Alltoallv, Ialltoallv,
           (void *out, fint out_counts, fint out_places, fint out_type, void *in, fint in_counts,
            fint in_places, fint in_type, fint comm),
           at(out), out_counts, out_places, TYPE(out_type), at(in), in_counts, in_places,
           TYPE(in_type), COMM)
COLLECTIVE(reduce, Reduce, Ireduce,
           (void *out, void *in, fint count, fint type, fint op, fint root, fint comm), at(out),
           at(in), *count, TYPE(type), OP, *root, COMM)
COLLECTIVE(allreduce, Allreduce, Iallreduce,
           (void *out, void *in, fint count, fint type, fint op, fint comm), at(out), at(in),
           *count, TYPE(type), OP, COMM)
COLLECTIVE(scan, Scan, Iscan, (void *out, void *in, fint count, fint type, fint op, fint comm),
           at(out), at(in), *count, TYPE(type), OP, COMM)
COLLECTIVE(exscan, Exscan, Iexscan,
           (void *out, void *in, fint count, fint type, fint op, fint comm), at(out), at(in),
           *count, TYPE(type), OP, COMM)
COLLECTIVE(reduce_scatter, Reduce_scatter, Ireduce_scatter,
           (void *out, void *in, fint counts, fint type, fint op, fint comm), at(out), at(in),
           counts, TYPE(type), OP, COMM)
COLLECTIVE(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block,
           (void *out, void *in, fint count, fint type, fint op, fint comm), at(out), at(in),
           *count, TYPE(type), OP, COMM)
COLLECTIVE(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), COMM)
COLLECTIVE(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv,
           (void *out, fint out_count, fint out_type, void *in, fint in_counts, fint places,
            fint in_type, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), in_counts, places, TYPE(in_type), COMM)
COLLECTIVE(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), COMM)
COLLECTIVE(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv,
           (void *out, fint out_counts, fint out_places, fint out_type, void *in, fint in_counts,
            fint in_places, fint in_type, fint comm),
           at(out), out_counts, out_places, TYPE(out_type), at(in), in_counts, in_places,
           TYPE(in_type), COMM)

/* How many types a call with an array of them sends and receives. */
struct counts {
    int out, in;
};

static struct counts counts_of_all(MPI_Comm comm)
{
    int size = 0, inter = 0;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else if (comm != MPI_COMM_NULL)
        PMPI_Comm_size(comm, &size);
    return (struct counts){size, size};
}

static struct counts counts_of_neighbors(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, count = 0, in = 0, rank, weighted;
    if (comm != MPI_COMM_NULL)
        PMPI_Topo_test(comm, &kind);
    if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &in, &count, &weighted);
        return (struct counts){count, in};
    }
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &count);
        count *= 2;
    } else if (kind == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &count);
    }
    return (struct counts){count, count};
}

/* The caller frees it. */
static MPI_Datatype *types_of(int count, const MPI_Fint *types)
{
    MPI_Datatype *own = calloc((size_t)count + 1, sizeof *own);
    for (int one = 0; one < count && own; one++)
        own[one] = PMPI_Type_f2c(types[one]);
    return own;
}

/* Arrays of types that MPI reads until the request has ended, or is freed: Open MPI does not copy them. They are kept for good, so an
 * array is kept once however often it is used. */
struct kept {
    MPI_Datatype *types;
    int count;
    struct kept *next;
};

static const MPI_Datatype *kept_types(int count, const MPI_Fint *types)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct kept *first;
    MPI_Datatype *own = types_of(count, types);
    size_t bytes = sizeof *own * (size_t)count;
    pthread_mutex_lock(&lock);
    struct kept *found = own ? first : NULL;
    while (found && (found->count != count || memcmp(found->types, own, bytes) != 0))
        found = found->next;
    struct kept *new = found || !own ? NULL : malloc(sizeof *new);
    if (new) {
        *new = (struct kept){own, count, first};
        first = new;
    }
    pthread_mutex_unlock(&lock);
    if (!found)
        return own;
    free(own);
    return found->types;
}

#define W_PARAMETERS(AINT)                                                                  \
    void *out, fint out_counts, AINT *out_places, fint out_types, void *in, fint in_counts, \
        AINT *in_places, fint in_types, fint comm
#define W_KEPT(COUNTS)                                                                    \
    at(out), out_counts, out_places,                                                      \
        at(out) == MPI_IN_PLACE ? NULL : kept_types(COUNTS(COMM).out, out_types), at(in), \
        in_counts, in_places, kept_types(COUNTS(COMM).in, in_types), COMM

/* A collective call with arrays of types; places are Fortran's or addresses. */
#define COLLECTIVE_W(NAME, C_NAME, C_INAME, AINT, COUNTS)                                         \
    EXPORTED void mpi_##NAME##_(W_PARAMETERS(AINT), fint code)                                    \
    {                                                                                             \
        struct counts counts = COUNTS(COMM);                                                      \
        bool in_place = at(out) == MPI_IN_PLACE;                                                  \
        MPI_Datatype *outs = in_place ? NULL : types_of(counts.out, out_types);                   \
        MPI_Datatype *ins = types_of(counts.in, in_types);                                        \
        *code = MPI_##C_NAME(at(out), out_counts, out_places, outs, at(in), in_counts, in_places, \
                             ins, COMM);                                                          \
        free(outs);                                                                               \
        free(ins);                                                                                \
    }                                                                                             \
    MAKING(MPI_Request, i##NAME, (W_PARAMETERS(AINT)), MPI_##C_INAME, W_KEPT(COUNTS))             \
    MAKING(MPI_Request, NAME##_init, (W_PARAMETERS(AINT), fint info), MPI_##C_NAME##_init,        \
           W_KEPT(COUNTS), INFO)

COLLECTIVE_W(alltoallw, Alltoallw, Ialltoallw, MPI_Fint, counts_of_all)
COLLECTIVE_W(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, MPI_Aint,
             counts_of_neighbors)
