/* A job of spares whose ranks are nearly always in a collective call: one of them works for 2 ms, in turn, the others wait for it.
 *
 *     runflat mpi run -n 8 --spares 2 --kill 3@0.2 -- ./collective 150 [uniform]
 *
 * What each call gives is known in advance, and goes into a sum that is kept every tenth step. */
#include <mpi.h>
#include <runflat.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVERY = 10, RANKS_MAX = 64, MODULUS = 1000003 };

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

static int64_t expected(int size, int64_t steps)
{
    int64_t sum = 0;
    for (int64_t step = 0; step < steps; step++) {
        int64_t all = 0;
        for (int rank = 0; rank < size; rank++)
            all += share_of(rank, step);
        sum = add(sum, all, step);
    }
    return sum;
}

/* Steps until all are done or a call fails. */
static int work(MPI_Comm comm, int64_t *step, int64_t steps, int64_t *sum)
{
    struct timespec nap = {0, 2000000};
    int rank, size, code = MPI_SUCCESS;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (; code == MPI_SUCCESS && *step < steps; ++*step) {
        int64_t given = 0;
        if (*step % size == rank)
            nanosleep(&nap, NULL);
        code = call(comm, *step, &given);
        if (code != MPI_SUCCESS)
            break;
        *sum = add(*sum, given, *step);
        if ((*step + 1) % EVERY == 0)
            code = RF_Checkpoint(comm, *step + 1);
    }
    return code;
}

/* Has calls that fail fail alike everywhere. */
static void make_uniform(MPI_Comm comm)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int64_t steps = argc > 1 ? atol(argv[1]) : 150, step = 0, sum = 0, wrong, worst;
    bool uniform = argc > 2 && strcmp(argv[2], "uniform") == 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (comm != MPI_COMM_NULL) {
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        RF_Protect(0, &sum, sizeof sum);
        if (uniform)
            make_uniform(comm);
        int code = RF_Restore(comm, &step);
        if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST)
            code = RF_Checkpoint(comm, step = sum = 0);
        if (code == MPI_SUCCESS)
            code = work(comm, &step, steps, &sum);
        wrong = llabs(sum - expected(size, steps));
        if (code == MPI_SUCCESS)
            code = MPI_Allreduce(&wrong, &worst, 1, MPI_INT64_T, MPI_MAX, comm);
        if (code == MPI_SUCCESS && (code = RF_End(&comm)) == MPI_SUCCESS) {
            if (rank == 0)
                printf("%d ranks, %lld steps, largest error %lld\n", size, (long long)steps,
                       (long long)worst);
            break;
        }
        if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Finalize();
    return 0;
}
