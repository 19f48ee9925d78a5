/* A job of spares whose ranks are nearly always in a collective call: one of them works for 2 ms, in turn, the others wait for it.
 *
 *     runflat mpi run -n 8 --spares 2 --kill 3@0.2 -- ./collective 150 [uniform|creation]
 *
 * What each call gives is known in advance, and goes into a sum that is kept every tenth step. `creation`: instead of data going round, each
 * step makes a communicator (or window) in another way, uses it and frees it; its failures are told by the error range `group`. */
#include <mpi.h>
#include <runflat.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVERY = 10, RANKS_MAX = 64, MODULUS = 1000003, TAG = 7 };

/* Ways to make a communicator. */
enum { COPY, SPLIT, GROUP, MERGED, TORUS, WINDOW, BY_REQUEST, KINDS };

/* Ranks: every second one, from 0 or from 1, or these. */
enum { ALL = -1, BUT_ONE = -2 };

/* What a rank gives in a step. */
static int64_t share_of(int rank, int64_t step)
{
    return (rank + 1) * (step % 97 + 1);
}

/* The sum after one more step. */
static int64_t add(int64_t sum, int64_t given, int64_t step)
{
    return (31 * sum + given + step) % MODULUS;
}

/* The four calls of a step, each with a result that all of them can tell. */
static int call(MPI_Comm comm, int64_t step, int64_t *given)
{
    int64_t own, all = 0, word = 0, to[RANKS_MAX], from[RANKS_MAX], most = 0;
    int rank, size, code;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int root = (int)(step % size);
    own = share_of(rank, step);
    for (int other = 0; other < size; other++)
        to[other] = own + other;
    code = MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, comm);
    word = rank == root ? all : 0;
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(&word, 1, MPI_INT64_T, root, comm);
    if (code == MPI_SUCCESS)
        code = MPI_Alltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, comm);
    if (code == MPI_SUCCESS)
        code = MPI_Reduce(&own, &most, 1, MPI_INT64_T, MPI_MAX, root, comm);
    if (code != MPI_SUCCESS)
        return code;
    bool right = all == word && (rank != root || most == share_of(size - 1, step));
    for (int other = 0; other < size; other++)
        right = right && from[other] == share_of(other, step) + rank;
    *given = right ? all : -1;
    return MPI_SUCCESS;
}

/* What some ranks give in a step. */
static int64_t total(int size, int64_t step, int which)
{
    int64_t all = 0;
    for (int rank = 0; rank < size; rank++)
        if (which == ALL || (which >= 0 ? rank % 2 == which : rank != step % size))
            all += share_of(rank, step);
    return all;
}

static int64_t expected(int size, int64_t steps)
{
    int64_t sum = 0;
    for (int64_t step = 0; step < steps; step++)
        sum = add(sum, total(size, step, ALL), step);
    return sum;
}

/* Adds up what the processes of a communicator give, and frees it. */
static int use(MPI_Comm *made, int64_t own, int64_t *sum)
{
    int code = MPI_Allreduce(&own, sum, 1, MPI_INT64_T, MPI_SUM, *made);
    return code == MPI_SUCCESS ? MPI_Comm_free(made) : code;
}

/* Of all but one in turn, who does not call. */
static int make_group(MPI_Comm comm, int without, MPI_Comm *made)
{
    MPI_Group all, some;
    MPI_Comm_group(comm, &all);
    MPI_Group_excl(all, 1, &without, &some);
    int code = MPI_Comm_create_group(comm, some, TAG, made);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return code;
}

/* Out of two halves. */
static int make_merged(MPI_Comm comm, int rank, int size, MPI_Comm *made)
{
    MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
    int low = rank < size / 2, code = MPI_Comm_split(comm, low, rank, &half);
    if (code == MPI_SUCCESS)
        code = MPI_Intercomm_create(half, 0, comm, low ? size / 2 : 0, TAG, &between);
    if (code == MPI_SUCCESS)
        code = MPI_Intercomm_merge(between, !low, made);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_free(&between);
    return code == MPI_SUCCESS ? MPI_Comm_free(&half) : code;
}

static int make_by_request(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Request request;
    int code = MPI_Comm_idup(comm, made, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/* A window, and a copy of the communicator to add up with. */
static int make_window(MPI_Comm comm, MPI_Comm *made)
{
    static int64_t memory;
    MPI_Win window = MPI_WIN_NULL;
    int code = MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, comm, &window);
    if (code == MPI_SUCCESS && (code = MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN)) == 0)
        code = MPI_Win_free(&window);
    return code == MPI_SUCCESS ? MPI_Comm_dup(comm, made) : code;
}

/* One communicator in a step. */
static int create(MPI_Comm comm, int64_t step, int64_t *given)
{
    MPI_Comm made = MPI_COMM_NULL;
    int64_t sum = 0;
    int rank, size, code = MPI_SUCCESS, kind = (int)(step % KINDS), which = ALL, periodic = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *given = total(size, step, ALL);
    if (kind == GROUP && rank == step % size)
        return MPI_SUCCESS;
    if (kind == COPY)
        code = MPI_Comm_dup(comm, &made);
    else if (kind == SPLIT)
        code = MPI_Comm_split(comm, which = rank % 2, -rank, &made);
    else if (kind == GROUP)
        code = make_group(comm, (int)(step % size), &made), which = BUT_ONE;
    else if (kind == MERGED)
        code = make_merged(comm, rank, size, &made);
    else if (kind == TORUS)
        code = MPI_Cart_create(comm, 1, &size, &periodic, 0, &made);
    else if (kind == WINDOW)
        code = make_window(comm, &made);
    else
        code = make_by_request(comm, &made);
    if (code == MPI_SUCCESS)
        code = use(&made, share_of(rank, step), &sum);
    if (code == MPI_SUCCESS && sum != total(size, step, which))
        *given = -1;
    return code;
}

/* Steps until all are done or a call fails. */
static int work(MPI_Comm comm, bool creates, int64_t *step, int64_t steps, int64_t *sum)
{
    struct timespec nap = {0, 2000000};
    int rank, size, code = MPI_SUCCESS;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (; code == MPI_SUCCESS && *step < steps; ++*step) {
        int64_t given = 0;
        if (*step % size == rank)
            nanosleep(&nap, NULL);
        code = creates ? create(comm, *step, &given) : call(comm, *step, &given);
        if (code != MPI_SUCCESS)
            break;
        *sum = add(*sum, given, *step);
        if ((*step + 1) % EVERY == 0)
            code = RF_Checkpoint(comm, *step + 1);
    }
    return code;
}

/* Sets a mode: calls that fail fail alike everywhere, or all that have a failure among them are told. */
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
    int64_t steps = argc > 1 ? atol(argv[1]) : 150, step = 0, sum = 0, wrong, worst;
    bool uniform = argc > 2 && strcmp(argv[2], "uniform") == 0,
         creates = argc > 2 && strcmp(argv[2], "creation") == 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    /* Spares that take over come here too, one by one, with a communicator that has the mode. */
    if (comm != MPI_COMM_NULL && uniform)
        set_mode(comm, "mpix_error_uniform", "coll");
    if (comm != MPI_COMM_NULL && creates)
        set_mode(comm, "mpix_error_range", "group");
    while (comm != MPI_COMM_NULL) {
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        RF_Protect(0, &sum, sizeof sum);
        int code = RF_Restore(comm, &step);
        if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST)
            code = RF_Checkpoint(comm, step = sum = 0);
        if (code == MPI_SUCCESS)
            code = work(comm, creates, &step, steps, &sum);
        wrong = llabs(sum - expected(size, steps));
        if (code == MPI_SUCCESS)
            code = MPI_Allreduce(&wrong, &worst, 1, MPI_INT64_T, MPI_MAX, comm);
        if (code == MPI_SUCCESS && (code = RF_End(&comm)) == MPI_SUCCESS) {
            if (rank == 0)
                printf("%d ranks, %lld steps, largest error %lld\n", size, (long long)steps,
                       (long long)worst);
            break;
        }
        if (!RF_Is_failure(comm, code)) {
            fprintf(stderr, "rank %d, step %lld: error %d is no failure\n", rank, (long long)step,
                    code);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        if (RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    MPI_Finalize();
    return 0;
}
