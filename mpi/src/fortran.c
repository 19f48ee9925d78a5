/* Fortran's names of the calls that this library watches (mpif.h and the module mpi; gfortran, Intel and Cray mangle names alike).
 *
 * Open MPI's own Fortran calls go to its PMPI functions and so past the C ones here. Those of the module mpi_f08 do too. */
#include "runflat.h"

#include <stdbool.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

/* Where Open MPI's constants are that Fortran knows as places; of an MPI without Fortran there are none. */
extern MPI_Fint mpi_fortran_bottom_ __attribute__((weak)),
    mpi_fortran_in_place_ __attribute__((weak)), mpi_fortran_status_ignore_ __attribute__((weak)),
    mpi_fortran_statuses_ignore_ __attribute__((weak));

/* A buffer. */
static void *at(void *place)
{
    if (&mpi_fortran_bottom_ && place == &mpi_fortran_bottom_)
        return MPI_BOTTOM;
    return &mpi_fortran_in_place_ && place == &mpi_fortran_in_place_ ? MPI_IN_PLACE : place;
}

/* A status, and what it is brought back from; NULL: it is ignored. */
struct status {
    MPI_Fint *fortran;
    MPI_Status own;
};

static struct status status_at(MPI_Fint *place)
{
    bool ignored = &mpi_fortran_status_ignore_ && place == &mpi_fortran_status_ignore_;
    return (struct status){.fortran = ignored ? NULL : place};
}

static MPI_Status *c_status(struct status *status)
{
    return status->fortran ? &status->own : MPI_STATUS_IGNORE;
}

static int give_status(struct status *status, int code)
{
    if (status->fortran)
        PMPI_Status_c2f(&status->own, status->fortran);
    return code;
}

/* Requests and statuses of one call. */
struct requests {
    int count;
    MPI_Fint *fortran, *fortran_statuses;
    MPI_Request *own;
    MPI_Status *statuses;
};

static struct requests requests_at(int count, MPI_Fint *fortran, MPI_Fint *statuses)
{
    bool ignored =
        !statuses || (&mpi_fortran_statuses_ignore_ && statuses == &mpi_fortran_statuses_ignore_);
    struct requests made = {count, fortran, ignored ? NULL : statuses,
                            malloc(sizeof(MPI_Request) * (size_t)(count + 1)),
                            ignored ? MPI_STATUSES_IGNORE
                                    : calloc((size_t)(count + 1), sizeof(MPI_Status))};
    for (int one = 0; one < count; one++)
        made.own[one] = PMPI_Request_f2c(fortran[one]);
    return made;
}

/* Takes handles back, and the first `ended` statuses. */
static int give_requests(struct requests *requests, int ended, int code)
{
    for (int one = 0; one < requests->count; one++)
        requests->fortran[one] = PMPI_Request_c2f(requests->own[one]);
    for (int one = 0; one < ended && requests->fortran_statuses; one++)
        PMPI_Status_c2f(&requests->statuses[one],
                        requests->fortran_statuses +
                            one * (int)(sizeof(MPI_Status) / sizeof(MPI_Fint)));
    free(requests->own);
    if (requests->fortran_statuses)
        free(requests->statuses);
    return code;
}

typedef MPI_Fint *fint;
#define COMM PMPI_Comm_f2c(*comm)
#define TYPE(one) PMPI_Type_f2c(*(one))
#define OP PMPI_Op_f2c(*op)
#define UNWRAP(...) __VA_ARGS__
#define FORTRAN(NAME, PARAMETERS, ...)                        \
    EXPORTED void mpi_##NAME##_(UNWRAP PARAMETERS, fint code) \
    {                                                         \
        *code = __VA_ARGS__;                                  \
    }

/* A call that makes a request, or a communicator. */
#define MAKING(KIND, NAME, PARAMETERS, CALL, ...)                        \
    EXPORTED void mpi_##NAME##_(UNWRAP PARAMETERS, fint made, fint code) \
    {                                                                    \
        KIND own;                                                        \
        *code = CALL(__VA_ARGS__, &own);                                 \
        if (*code == MPI_SUCCESS)                                        \
            *made = P##KIND##_c2f(own);                                  \
    }

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

EXPORTED void mpi_wait_(fint request, fint status, fint code)
{
    struct requests one = requests_at(1, request, NULL);
    struct status own = status_at(status);
    *code = MPI_Wait(one.own, c_status(&own));
    give_status(&own, give_requests(&one, 0, *code));
}

EXPORTED void mpi_test_(fint request, fint done, fint status, fint code)
{
    struct requests one = requests_at(1, request, NULL);
    struct status own = status_at(status);
    *code = MPI_Test(one.own, done, c_status(&own));
    give_requests(&one, 0, *code);
    if (*done)
        give_status(&own, *code);
}

EXPORTED void mpi_waitall_(fint count, fint requests, fint statuses, fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Waitall(*count, all.own, all.statuses);
    give_requests(&all, *count, *code);
}

EXPORTED void mpi_testall_(fint count, fint requests, fint done, fint statuses, fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Testall(*count, all.own, done, all.statuses);
    give_requests(&all, *done ? *count : 0, *code);
}

/* Fortran counts from 1. */
static void count_from_one(int count, fint indices)
{
    for (int one = 0; one < count; one++)
        indices[one] += indices[one] != MPI_UNDEFINED;
}

EXPORTED void mpi_waitany_(fint count, fint requests, fint index, fint status, fint code)
{
    struct requests all = requests_at(*count, requests, NULL);
    struct status own = status_at(status);
    *code = MPI_Waitany(*count, all.own, index, c_status(&own));
    give_status(&own, give_requests(&all, 0, *code));
    count_from_one(1, index);
}

EXPORTED void mpi_testany_(fint count, fint requests, fint index, fint done, fint status, fint code)
{
    struct requests all = requests_at(*count, requests, NULL);
    struct status own = status_at(status);
    *code = MPI_Testany(*count, all.own, index, done, c_status(&own));
    give_requests(&all, 0, *code);
    if (*done)
        give_status(&own, *code);
    count_from_one(*done ? 1 : 0, index);
}

EXPORTED void mpi_waitsome_(fint count, fint requests, fint ended, fint indices, fint statuses,
                            fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Waitsome(*count, all.own, ended, indices, all.statuses);
    int some = *ended == MPI_UNDEFINED ? 0 : *ended;
    give_requests(&all, some, *code);
    count_from_one(some, indices);
}

EXPORTED void mpi_testsome_(fint count, fint requests, fint ended, fint indices, fint statuses,
                            fint code)
{
    struct requests all = requests_at(*count, requests, statuses);
    *code = MPI_Testsome(*count, all.own, ended, indices, all.statuses);
    int some = *ended == MPI_UNDEFINED ? 0 : *ended;
    give_requests(&all, some, *code);
    count_from_one(some, indices);
}

/* A blocking collective call and its non-blocking form. */
#define COLLECTIVE(NAME, C_NAME, INAME, C_INAME, PARAMETERS, ...) \
    FORTRAN(NAME, PARAMETERS, MPI_##C_NAME(__VA_ARGS__))          \
    MAKING(MPI_Request, INAME, PARAMETERS, MPI_##C_INAME, __VA_ARGS__)

COLLECTIVE(barrier, Barrier, ibarrier, Ibarrier, (fint comm), COMM)
COLLECTIVE(bcast, Bcast, ibcast, Ibcast,
           (void *buffer, fint count, fint type, fint root, fint comm), at(buffer), *count,
           TYPE(type), *root, COMM)
COLLECTIVE(gather, Gather, igather, Igather,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint root, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), *root, COMM)
COLLECTIVE(scatter, Scatter, iscatter, Iscatter,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint root, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), *root, COMM)
COLLECTIVE(gatherv, Gatherv, igatherv, Igatherv,
           (void *out, fint out_count, fint out_type, void *in, fint in_counts, fint places,
            fint in_type, fint root, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), in_counts, places, TYPE(in_type), *root,
           COMM)
COLLECTIVE(scatterv, Scatterv, iscatterv, Iscatterv,
           (void *out, fint out_counts, fint places, fint out_type, void *in, fint in_count,
            fint in_type, fint root, fint comm),
           at(out), out_counts, places, TYPE(out_type), at(in), *in_count, TYPE(in_type), *root,
           COMM)
COLLECTIVE(allgather, Allgather, iallgather, Iallgather,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), COMM)
COLLECTIVE(allgatherv, Allgatherv, iallgatherv, Iallgatherv,
           (void *out, fint out_count, fint out_type, void *in, fint in_counts, fint places,
            fint in_type, fint comm),
           at(out), *out_count, TYPE(out_type), at(in), in_counts, places, TYPE(in_type), COMM)
COLLECTIVE(alltoall, Alltoall, ialltoall, Ialltoall,
           (void *out, fint out_count, fint out_type, void *in, fint in_count, fint in_type,
            fint comm),
           at(out), *out_count, TYPE(out_type), at(in), *in_count, TYPE(in_type), COMM)
COLLECTIVE(alltoallv, Alltoallv, ialltoallv, Ialltoallv,
           (void *out, fint out_counts, fint out_places, fint out_type, void *in, fint in_counts,
            fint in_places, fint in_type, fint comm),
           at(out), out_counts, out_places, TYPE(out_type), at(in), in_counts, in_places,
           TYPE(in_type), COMM)
COLLECTIVE(reduce, Reduce, ireduce, Ireduce,
           (void *out, void *in, fint count, fint type, fint op, fint root, fint comm), at(out),
           at(in), *count, TYPE(type), OP, *root, COMM)
COLLECTIVE(allreduce, Allreduce, iallreduce, Iallreduce,
           (void *out, void *in, fint count, fint type, fint op, fint comm), at(out), at(in),
           *count, TYPE(type), OP, COMM)
COLLECTIVE(scan, Scan, iscan, Iscan,
           (void *out, void *in, fint count, fint type, fint op, fint comm), at(out), at(in),
           *count, TYPE(type), OP, COMM)
COLLECTIVE(exscan, Exscan, iexscan, Iexscan,
           (void *out, void *in, fint count, fint type, fint op, fint comm), at(out), at(in),
           *count, TYPE(type), OP, COMM)
COLLECTIVE(reduce_scatter, Reduce_scatter, ireduce_scatter, Ireduce_scatter,
           (void *out, void *in, fint counts, fint type, fint op, fint comm), at(out), at(in),
           counts, TYPE(type), OP, COMM)
COLLECTIVE(reduce_scatter_block, Reduce_scatter_block, ireduce_scatter_block, Ireduce_scatter_block,
           (void *out, void *in, fint count, fint type, fint op, fint comm), at(out), at(in),
           *count, TYPE(type), OP, COMM)

MAKING(MPI_Comm, comm_dup, (fint comm), MPI_Comm_dup, COMM)
MAKING(MPI_Comm, comm_split, (fint comm, fint color, fint key), MPI_Comm_split, COMM, *color, *key)
MAKING(MPI_Comm, comm_split_type, (fint comm, fint type, fint key, fint info), MPI_Comm_split_type,
       COMM, *type, *key, PMPI_Info_f2c(*info))
MAKING(MPI_Comm, comm_create, (fint comm, fint group), MPI_Comm_create, COMM,
       PMPI_Group_f2c(*group))
MAKING(MPI_Comm, cart_create, (fint comm, fint count, fint lengths, fint periodic, fint reorder),
       MPI_Cart_create, COMM, *count, lengths, periodic, *reorder)
MAKING(MPI_Comm, cart_sub, (fint comm, fint kept), MPI_Cart_sub, COMM, kept)
MAKING(MPI_Info, comm_get_info, (fint comm), MPI_Comm_get_info, COMM)

FORTRAN(comm_set_errhandler, (fint comm, fint handler),
        MPI_Comm_set_errhandler(COMM, PMPI_Errhandler_f2c(*handler)))

FORTRAN(comm_set_info, (fint comm, fint info), MPI_Comm_set_info(COMM, PMPI_Info_f2c(*info)))

EXPORTED void mpi_comm_free_(fint comm, fint code)
{
    MPI_Comm own = COMM;
    *code = MPI_Comm_free(&own);
    *comm = PMPI_Comm_c2f(own);
}

/* What the module runflat calls; see runflat.h. */
EXPORTED int RF_Init_f(int spares, fint comm)
{
    MPI_Comm own = MPI_COMM_NULL;
    int code = RF_Init(spares, &own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_Repair_f(fint comm)
{
    MPI_Comm own = COMM;
    int code = RF_Repair(&own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_Refill_f(fint comm)
{
    MPI_Comm own = COMM;
    int code = RF_Refill(&own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_End_f(fint comm)
{
    MPI_Comm own = COMM;
    int code = RF_End(&own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_Checkpoint_f(MPI_Fint comm, int64_t version)
{
    return RF_Checkpoint(PMPI_Comm_f2c(comm), version);
}

EXPORTED int RF_Icheckpoint_f(MPI_Fint comm, int64_t version, MPI_Fint *request)
{
    MPI_Request own;
    int code = RF_Icheckpoint(PMPI_Comm_f2c(comm), version, &own);
    *request = PMPI_Request_c2f(own);
    return code;
}

EXPORTED int RF_Restore_f(MPI_Fint comm, int64_t *version)
{
    return RF_Restore(PMPI_Comm_f2c(comm), version);
}
