/* A job of spares whose ranks make all kinds of calls, drawn from a seed, on the communicator of the job, rows, columns, a copy and a torus.
 *
 *     runflat mpi run -n 8 --spares 2 --kill 3@0.2 -- ./mixture 220 [SEED [uniform|group|threads]]
 *
 * What each call gives a rank follows from the seed, the step and the ranks, and goes into a sum that is kept every tenth step. */
#include <mpi.h>
#include <runflat.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVERY = 10, CALLS = 3, MODULUS = 1000003, RANKS_MAX = 64, LARGE = 1 << 14, SMALL = 4 };

enum { JOB, ROW, COLUMN, COPY, TORUS, KINDS };

enum {
    SUM,
    SUM_LATER,
    SUM_PERSISTENT,
    FROM_ROOT,
    BARRIER_AND_ROOT,
    TO_ROOT,
    PREFIX,
    ALL_TO_ALL,
    SCATTERED,
    RING,
    RING_LARGE,
    RING_PROBED,
    RING_PERSISTENT,
    BOTH_WAYS,
    SYNCHRONOUS,
    NEIGHBOURS,
    NEW_COPY,
    OPERATIONS
};

/* A communicator, and who is in it: `first`, `first + stride`, ... of the job. */
struct members {
    MPI_Comm comm;
    int rank, size, first, stride;
};

/* What makes sums and messages without naming them anew. */
struct prepared {
    MPI_Request sum, ring[2];
    int64_t own, total, from;
};

struct place {
    struct members kinds[KINDS];
    struct prepared prepared;
};

static int64_t out[LARGE], in[LARGE];

static uint64_t mix(uint64_t word)
{
    word ^= word >> 33;
    word *= 0xff51afd7ed558ccdull;
    word ^= word >> 33;
    word *= 0xc4ceb9fe1a85ec53ull;
    return word ^ word >> 33;
}

/* What a member gives in a call. */
static int64_t share(const struct members *all, int member, int64_t step, int call)
{
    int rank = all->first + (member + all->size) % all->size * all->stride;
    return (rank + 1) * (step % 97 + 1) + call;
}

static int64_t total_of(const struct members *all, int64_t step, int call)
{
    int64_t total = 0;
    for (int member = 0; member < all->size; member++)
        total += share(all, member, step, call);
    return total;
}

/* What a call gives this rank. */
static int64_t expected(int operation, const struct members *all, int64_t step, int call)
{
    int root = (int)(step % all->size);
    int64_t before = share(all, all->rank - 1, step, call),
            after = share(all, all->rank + 1, step, call), result = 0;
    switch (operation) {
    case FROM_ROOT:
    case BARRIER_AND_ROOT:
        return share(all, root, step, call);
    case TO_ROOT:
        for (int member = 0; member < all->size && all->rank == root; member++)
            result += (member + 1) * share(all, member, step, call);
        return result;
    case PREFIX:
        for (int member = 0; member <= all->rank; member++)
            result += share(all, member, step, call);
        return result;
    case ALL_TO_ALL:
    case SCATTERED:
        return total_of(all, step, call) + (int64_t)all->size * all->rank;
    case RING:
    case RING_LARGE:
    case RING_PROBED:
    case RING_PERSISTENT:
    case SYNCHRONOUS:
        return before;
    case BOTH_WAYS:
    case NEIGHBOURS:
        return before + 2 * after;
    default:
        return total_of(all, step, call);
    }
}

static int collective(int operation, const struct members *all, int root, int64_t own,
                      int64_t *result)
{
    int64_t to[RANKS_MAX], from[RANKS_MAX];
    MPI_Request requests[2];
    int code, done = 0;
    for (int member = 0; member < all->size; member++)
        to[member] = own + member;
    *result = operation == FROM_ROOT || operation == BARRIER_AND_ROOT ? own : 0;
    switch (operation) {
    case SUM_LATER:
        code = MPI_Iallreduce(&own, result, 1, MPI_INT64_T, MPI_SUM, all->comm, requests);
        while (code == MPI_SUCCESS && !done)
            code = MPI_Test(requests, &done, MPI_STATUS_IGNORE);
        return code;
    case FROM_ROOT:
        return MPI_Bcast(result, 1, MPI_INT64_T, root, all->comm);
    case BARRIER_AND_ROOT:
        code = MPI_Ibarrier(all->comm, &requests[0]);
        if (code == MPI_SUCCESS)
            code = MPI_Ibcast(result, 1, MPI_INT64_T, root, all->comm, &requests[1]);
        return code == MPI_SUCCESS ? MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) : code;
    case TO_ROOT:
        code = MPI_Gather(&own, 1, MPI_INT64_T, from, 1, MPI_INT64_T, root, all->comm);
        for (int member = 0; member < all->size && all->rank == root; member++)
            *result += (member + 1) * from[member];
        return code;
    case PREFIX:
        return MPI_Scan(&own, result, 1, MPI_INT64_T, MPI_SUM, all->comm);
    case ALL_TO_ALL:
        code = MPI_Alltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, all->comm);
        for (int member = 0; member < all->size; member++)
            *result += from[member];
        return code;
    case SCATTERED:
        return MPI_Reduce_scatter_block(to, result, 1, MPI_INT64_T, MPI_SUM, all->comm);
    default:
        return MPI_Allreduce(&own, result, 1, MPI_INT64_T, MPI_SUM, all->comm);
    }
}

/* To the next member and from the one before. */
static int ring(int operation, const struct members *all, int tag, int64_t own, int64_t *result)
{
    int left = (all->rank + all->size - 1) % all->size, right = (all->rank + 1) % all->size;
    int count = operation == RING_LARGE ? LARGE : SMALL, code;
    MPI_Request request;
    out[0] = out[count - 1] = own;
    if (operation == RING_PROBED || operation == SYNCHRONOUS) {
        MPI_Status status;
        int source = operation == RING_PROBED ? MPI_ANY_SOURCE : left;
        code = operation == RING_PROBED
                   ? MPI_Isend(out, count, MPI_INT64_T, right, tag, all->comm, &request)
                   : MPI_Issend(out, count, MPI_INT64_T, right, tag, all->comm, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Probe(source, tag, all->comm, &status);
        if (code == MPI_SUCCESS)
            code = MPI_Recv(in, count, MPI_INT64_T, source, tag, all->comm, &status);
        int sent = code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
        code = code == MPI_SUCCESS ? sent : code;
    } else {
        code = MPI_Sendrecv(out, count, MPI_INT64_T, right, tag, in, count, MPI_INT64_T, left, tag,
                            all->comm, MPI_STATUS_IGNORE);
    }
    *result = in[0] == in[count - 1] ? in[0] : -1;
    return code;
}

/* With both neighbours, in the order in which they answer. */
static int both_ways(const struct members *all, int tag, int64_t own, int64_t *result)
{
    int left = (all->rank + all->size - 1) % all->size, right = (all->rank + 1) % all->size;
    int64_t from[2] = {0, 0};
    MPI_Request requests[4];
    int code = MPI_Irecv(&from[0], 1, MPI_INT64_T, left, tag, all->comm, &requests[0]);
    if (code == MPI_SUCCESS)
        code = MPI_Irecv(&from[1], 1, MPI_INT64_T, right, tag + 1, all->comm, &requests[1]);
    if (code == MPI_SUCCESS)
        code = MPI_Isend(&own, 1, MPI_INT64_T, right, tag, all->comm, &requests[2]);
    if (code == MPI_SUCCESS)
        code = MPI_Isend(&own, 1, MPI_INT64_T, left, tag + 1, all->comm, &requests[3]);
    for (int ended = 0; ended < 4 && code == MPI_SUCCESS; ended++) {
        int which;
        code = MPI_Waitany(4, requests, &which, MPI_STATUS_IGNORE);
    }
    *result = from[0] + 2 * from[1];
    return code;
}

static int neighbours(const struct members *all, int64_t own, int64_t *result)
{
    int64_t to[2] = {own, own}, from[2] = {0, 0};
    int code = MPI_Neighbor_alltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, all->comm);
    *result = from[0] + 2 * from[1];
    return code;
}

static int prepared(int operation, struct prepared *all, int64_t own, int64_t *result)
{
    all->own = own;
    int count = operation == SUM_PERSISTENT ? 1 : 2;
    MPI_Request *requests = operation == SUM_PERSISTENT ? &all->sum : all->ring;
    int code = MPI_Startall(count, requests);
    if (code == MPI_SUCCESS)
        code = MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    *result = operation == SUM_PERSISTENT ? all->total : all->from;
    return code;
}

static int new_copy(const struct members *all, int64_t own, int64_t *result)
{
    MPI_Comm made = MPI_COMM_NULL;
    int code = MPI_Comm_dup(all->comm, &made);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&own, result, 1, MPI_INT64_T, MPI_SUM, made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return code;
}

/* One call of all members; what MPI says. */
static int make_call(struct place *place, int operation, int kind, int64_t step, int call,
                     int64_t *result)
{
    const struct members *all = &place->kinds[kind];
    int64_t own = share(all, all->rank, step, call);
    int tag = (int)(step % 1000) * 10 + 2 * call;
    switch (operation) {
    case RING:
    case RING_LARGE:
    case RING_PROBED:
    case SYNCHRONOUS:
        return ring(operation, all, tag, own, result);
    case BOTH_WAYS:
        return both_ways(all, tag, own, result);
    case NEIGHBOURS:
        return neighbours(all, own, result);
    case SUM_PERSISTENT:
    case RING_PERSISTENT:
        return prepared(operation, &place->prepared, own, result);
    case NEW_COPY:
        return new_copy(all, own, result);
    default:
        return collective(operation, all, (int)(step % all->size), own, result);
    }
}

/* Which call it is, and on which communicator. */
static void draw(uint64_t seed, int64_t step, int call, int *operation, int *kind)
{
    uint64_t word = mix(seed * 1000003 + (uint64_t)step * CALLS + (uint64_t)call);
    *operation = (int)(word % OPERATIONS);
    *kind = (int)(word / OPERATIONS % KINDS);
    if (*operation == NEIGHBOURS)
        *kind = TORUS;
    if (*operation == SUM_PERSISTENT || *operation == RING_PERSISTENT)
        *kind = COPY;
}

static int64_t add(int64_t sum, int64_t result)
{
    return (31 * sum + result) % MODULUS;
}

static int64_t expected_sum(const struct place *place, uint64_t seed, int64_t steps)
{
    int64_t sum = 0;
    for (int64_t step = 0; step < steps; step++) {
        for (int call = 0; call < CALLS; call++) {
            int operation, kind;
            draw(seed, step, call, &operation, &kind);
            sum = add(sum, expected(operation, &place->kinds[kind], step, call));
        }
    }
    return sum;
}

/* Steps until all are done or a call fails. */
static int work(struct place *place, uint64_t seed, int64_t *step, int64_t steps, int64_t *sum)
{
    const struct timespec nap = {0, 2000000};
    const struct members *job = &place->kinds[JOB];
    int code = MPI_SUCCESS;
    for (; code == MPI_SUCCESS && *step < steps; ++*step) {
        if (*step % job->size == job->rank)
            nanosleep(&nap, NULL);
        for (int call = 0; call < CALLS && code == MPI_SUCCESS; call++) {
            int operation, kind;
            int64_t result = 0;
            draw(seed, *step, call, &operation, &kind);
            code = make_call(place, operation, kind, *step, call, &result);
            if (code == MPI_SUCCESS)
                *sum = add(*sum, result);
        }
        if (code == MPI_SUCCESS && (*step + 1) % EVERY == 0)
            code = RF_Checkpoint(job->comm, *step + 1);
        if (code != MPI_SUCCESS)
            break;
    }
    return code;
}

static void look_at(struct members *all, MPI_Comm comm, int first, int stride)
{
    *all = (struct members){.comm = comm, .first = first, .stride = stride};
    MPI_Comm_rank(comm, &all->rank);
    MPI_Comm_size(comm, &all->size);
}

static int prepare(const struct members *all, struct prepared *prepared)
{
    int left = (all->rank + all->size - 1) % all->size, right = (all->rank + 1) % all->size;
    MPI_Recv_init(&prepared->from, 1, MPI_INT64_T, left, 9, all->comm, &prepared->ring[0]);
    MPI_Send_init(&prepared->own, 1, MPI_INT64_T, right, 9, all->comm, &prepared->ring[1]);
    return MPI_Allreduce_init(&prepared->own, &prepared->total, 1, MPI_INT64_T, MPI_SUM, all->comm,
                              MPI_INFO_NULL, &prepared->sum);
}

static int make_place(MPI_Comm comm, struct place *place)
{
    MPI_Comm made = MPI_COMM_NULL;
    int sides[2] = {0, 0}, periodic = 1;
    for (int kind = ROW; kind < KINDS; kind++)
        place->kinds[kind].comm = MPI_COMM_NULL;
    place->prepared =
        (struct prepared){MPI_REQUEST_NULL, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, 0, 0, 0};
    look_at(&place->kinds[JOB], comm, 0, 1);
    int rank = place->kinds[JOB].rank, size = place->kinds[JOB].size;
    MPI_Dims_create(size, 2, sides);
    int row = rank / sides[1], column = rank % sides[1];
    int code = MPI_Comm_split(comm, row, rank, &made);
    if (code != MPI_SUCCESS)
        return code;
    look_at(&place->kinds[ROW], made, row * sides[1], 1);
    code = MPI_Comm_split(comm, column, rank, &made);
    if (code != MPI_SUCCESS)
        return code;
    look_at(&place->kinds[COLUMN], made, column, sides[1]);
    code = MPI_Comm_dup(comm, &made);
    if (code != MPI_SUCCESS)
        return code;
    look_at(&place->kinds[COPY], made, 0, 1);
    code = MPI_Cart_create(comm, 1, &size, &periodic, 0, &made);
    if (code != MPI_SUCCESS)
        return code;
    look_at(&place->kinds[TORUS], made, 0, 1);
    return prepare(&place->kinds[COPY], &place->prepared);
}

static void free_place(struct place *place)
{
    MPI_Request *requests[] = {&place->prepared.sum, &place->prepared.ring[0],
                               &place->prepared.ring[1]};
    for (int at = 0; at < 3; at++)
        if (*requests[at] != MPI_REQUEST_NULL)
            MPI_Request_free(requests[at]);
    for (int kind = ROW; kind < KINDS; kind++)
        if (place->kinds[kind].comm != MPI_COMM_NULL)
            MPI_Comm_free(&place->kinds[kind].comm);
}

static void set_mode(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int64_t steps = argc > 1 ? atol(argv[1]) : 220, step = 0, sum = 0, wrong, worst;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *mode = argc > 3 ? argv[3] : "";
    struct place place;
    MPI_Comm comm;
    int level;
    MPI_Init_thread(&argc, &argv,
                    strcmp(mode, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (comm != MPI_COMM_NULL) {
        RF_Protect(0, &sum, sizeof sum);
        if (strcmp(mode, "uniform") == 0)
            set_mode(comm, "mpix_error_uniform", "coll");
        if (strcmp(mode, "group") == 0)
            set_mode(comm, "mpix_error_range", "group");
        int code = make_place(comm, &place);
        if (code == MPI_SUCCESS)
            code = RF_Restore(comm, &step);
        if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST)
            code = RF_Checkpoint(comm, step = sum = 0);
        if (code == MPI_SUCCESS)
            code = work(&place, seed, &step, steps, &sum);
        if (code == MPI_SUCCESS) {
            wrong = llabs(sum - expected_sum(&place, seed, steps));
            code = MPI_Allreduce(&wrong, &worst, 1, MPI_INT64_T, MPI_MAX, comm);
        }
        int rank = place.kinds[JOB].rank, size = place.kinds[JOB].size;
        if (code == MPI_SUCCESS && (code = RF_End(&comm)) == MPI_SUCCESS) {
            if (rank == 0)
                printf("%d ranks, %lld steps, largest error %lld\n", size, (long long)steps,
                       (long long)worst);
            break;
        }
        bool is_failure = RF_Is_failure(comm, code);
        if (!is_failure)
            fprintf(stderr, "rank %d, step %lld: error %d is no failure\n", rank, (long long)step,
                    code);
        free_place(&place);
        if (!is_failure || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Finalize();
    return 0;
}
