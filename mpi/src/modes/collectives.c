/* Collective calls that are uniform where that is wanted. */
#include "modes/agree.h"
#include "modes/ballot.h"
#include "modes/modes.h"
#include "modes/persistent.h"
#include "modes/uniform.h"
#include "state.h"

#define EXPORTED __attribute__((visibility("default")))
#define UNWRAP(...) __VA_ARGS__

/* A blocking call; its parameters in brackets, then their names. THE_CALL is what is made of it where it is followed by a barrier. */
#define BLOCKING(NAME, IS_BARRIER, THE_CALL, PARAMETERS, ...)                                      \
    static __attribute__((noinline)) int watch_##NAME(UNWRAP PARAMETERS)                           \
    {                                                                                              \
        if (sleeps_in(comm))                                                                       \
            return refuse_in_world("MPI_" #NAME);                                                  \
        if (modes_of(comm).uniform != UNIFORM_COLL)                                                \
            return PMPI_##NAME(__VA_ARGS__);                                                       \
        struct ballot *ballot = ballot_of(comm);                                                   \
        MPI_Errhandler handler = returns_errors(comm) ? MPI_ERRHANDLER_NULL : hold_errors(comm);   \
        int code = ballot && is_open(ballot)                                                       \
                       ? confirm(ballot, is_call_wanted(ballot) ? THE_CALL : MPIX_ERR_PROC_FAILED, \
                                 IS_BARRIER)                                                       \
                       : settle_all(comm, PMPI_##NAME(__VA_ARGS__));                               \
        return handler == MPI_ERRHANDLER_NULL ? code                                               \
                                              : release_errors(comm, handler, code, "MPI_" #NAME); \
    }                                                                                              \
                                                                                                   \
    EXPORTED int MPI_##NAME(UNWRAP PARAMETERS)                                                     \
    {                                                                                              \
        return all_is_quiet() && !sleeps_in(comm) ? PMPI_##NAME(__VA_ARGS__)                       \
                                                  : watch_##NAME(__VA_ARGS__);                     \
    }

/* Its non-blocking form and its persistent one. */
#define POSTED(NAME, INAME, PARAMETERS, ...)                                               \
    EXPORTED int MPI_##INAME(UNWRAP PARAMETERS, MPI_Request *request)                      \
    {                                                                                      \
        if (sleeps_in(comm))                                                               \
            return refuse_in_world(__func__);                                              \
        if (all_is_quiet() || modes_of(comm).uniform != UNIFORM_COLL)                      \
            return PMPI_##INAME(__VA_ARGS__, request);                                     \
        MPI_Errhandler handler = hold_errors(comm);                                        \
        int code = PMPI_##INAME(__VA_ARGS__, request);                                     \
        return release_errors(comm, handler, agree_after(comm, code, request), __func__);  \
    }                                                                                      \
                                                                                           \
    EXPORTED int MPI_##NAME##_init(UNWRAP PARAMETERS, MPI_Info info, MPI_Request *request) \
    {                                                                                      \
        if (sleeps_in(comm))                                                               \
            return refuse_in_world(__func__);                                              \
        int code = PMPI_##NAME##_init(__VA_ARGS__, info, request);                         \
        if (code == MPI_SUCCESS && modes_of(comm).uniform == UNIFORM_COLL)                 \
            keep_persistent(comm, *request);                                               \
        return code;                                                                       \
    }

#define COLLECTIVE(NAME, INAME, PARAMETERS, ...)                             \
    BLOCKING(NAME, false, PMPI_##NAME(__VA_ARGS__), PARAMETERS, __VA_ARGS__) \
    POSTED(NAME, INAME, PARAMETERS, __VA_ARGS__)

/* A barrier is all that follows: there is nothing else to do. */
BLOCKING(Barrier, true, is_revoked(comm) ? MPIX_ERR_REVOKED : MPI_SUCCESS, (MPI_Comm comm), comm)
POSTED(Barrier, Ibarrier, (MPI_Comm comm), comm)

COLLECTIVE(Bcast, Ibcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           buffer, count, type, root, comm)

COLLECTIVE(Gather, Igather,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm comm),
           out, out_count, out_type, in, in_count, in_type, root, comm)

COLLECTIVE(Gatherv, Igatherv,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, const int in_counts[],
            const int places[], MPI_Datatype in_type, int root, MPI_Comm comm),
           out, out_count, out_type, in, in_counts, places, in_type, root, comm)

COLLECTIVE(Scatter, Iscatter,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm comm),
           out, out_count, out_type, in, in_count, in_type, root, comm)

COLLECTIVE(Scatterv, Iscatterv,
           (const void *out, const int out_counts[], const int places[], MPI_Datatype out_type,
            void *in, int in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
           out, out_counts, places, out_type, in, in_count, in_type, root, comm)

COLLECTIVE(Allgather, Iallgather,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
           out, out_count, out_type, in, in_count, in_type, comm)

COLLECTIVE(Allgatherv, Iallgatherv,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, const int in_counts[],
            const int places[], MPI_Datatype in_type, MPI_Comm comm),
           out, out_count, out_type, in, in_counts, places, in_type, comm)

COLLECTIVE(Alltoall, Ialltoall,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
           out, out_count, out_type, in, in_count, in_type, comm)

COLLECTIVE(Alltoallv, Ialltoallv,
           (const void *out, const int out_counts[], const int out_places[], MPI_Datatype out_type,
            void *in, const int in_counts[], const int in_places[], MPI_Datatype in_type,
            MPI_Comm comm),
           out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm)

COLLECTIVE(Alltoallw, Ialltoallw,
           (const void *out, const int out_counts[], const int out_places[],
            const MPI_Datatype out_types[], void *in, const int in_counts[], const int in_places[],
            const MPI_Datatype in_types[], MPI_Comm comm),
           out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm)

COLLECTIVE(Reduce, Ireduce,
           (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           out, in, count, type, op, root, comm)

COLLECTIVE(Allreduce, Iallreduce,
           (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out,
           in, count, type, op, comm)

COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           (const void *out, void *in, const int counts[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           out, in, counts, type, op, comm)

COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out,
           in, count, type, op, comm)

COLLECTIVE(Scan, Iscan,
           (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out,
           in, count, type, op, comm)

COLLECTIVE(Exscan, Iexscan,
           (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out,
           in, count, type, op, comm)

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
           out, out_count, out_type, in, in_count, in_type, comm)

COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, const int in_counts[],
            const int places[], MPI_Datatype in_type, MPI_Comm comm),
           out, out_count, out_type, in, in_counts, places, in_type, comm)

COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall,
           (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
           out, out_count, out_type, in, in_count, in_type, comm)

COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
           (const void *out, const int out_counts[], const int out_places[], MPI_Datatype out_type,
            void *in, const int in_counts[], const int in_places[], MPI_Datatype in_type,
            MPI_Comm comm),
           out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm)

COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
           (const void *out, const int out_counts[], const MPI_Aint out_places[],
            const MPI_Datatype out_types[], void *in, const int in_counts[],
            const MPI_Aint in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
           out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm)
