/* Ranks with much data, so that a copy travels for a while when a spare takes over: deaths in its midst.
 *
 *     homing MEGABYTES STEPS
 *
 * All that a rank protects is made from its rank and the version. Each rank prints "data good" or the first word that is wrong, and how
 * often the job began with first values. */
#include <mpi.h>
#include <runflat.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EVERY = 10 };

static struct {
    int64_t version, beginnings;
    size_t count;
    uint64_t *words;
} data;

static uint64_t word_at(int rank, size_t at)
{
    return ((uint64_t)rank << 48) + ((uint64_t)data.version << 32) + at;
}

static void write_words(int rank)
{
    for (size_t at = 0; at < data.count; at++)
        data.words[at] = word_at(rank, at);
}

static size_t count_wrong(int rank)
{
    size_t wrong = 0;
    for (size_t at = 0; at < data.count; at++)
        wrong += data.words[at] != word_at(rank, at);
    return wrong;
}

static int keep(MPI_Comm comm, int rank, int64_t version)
{
    data.version = version;
    write_words(rank);
    return RF_Checkpoint(comm, version);
}

/* What a job does between two failures; the steps wait for each other. */
static int work(MPI_Comm comm, int64_t steps)
{
    const struct timespec nap = {0, 5000000};
    int64_t version;
    int rank, code;
    MPI_Comm_rank(comm, &rank);
    RF_Protect(0, &data.version, sizeof data.version);
    RF_Protect(1, data.words, sizeof *data.words * data.count);
    code = RF_Restore(comm, &version);
    if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST) {
        data.beginnings++;
        code = keep(comm, rank, version = 0);
    }
    if (code == MPI_SUCCESS && (data.version != version || count_wrong(rank) > 0)) {
        printf("rank %d: %zu words are wrong\n", rank, count_wrong(rank));
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int64_t step = version + 1; code == MPI_SUCCESS && step <= steps; step++) {
        nanosleep(&nap, NULL);
        code = MPI_Barrier(comm);
        if (code == MPI_SUCCESS && step % EVERY == 0)
            code = keep(comm, rank, step);
    }
    return code;
}

int main(int argc, char **argv)
{
    int64_t steps = argc > 2 ? atol(argv[2]) : 100;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    data.count = (size_t)(argc > 1 ? atol(argv[1]) : 1) << 17;
    data.words = calloc(data.count, sizeof *data.words);
    if (!data.words || RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (comm != MPI_COMM_NULL) {
        int code = work(comm, steps), rank;
        MPI_Comm_rank(comm, &rank);
        if (code == MPI_SUCCESS)
            code = RF_End(&comm);
        if (code == MPI_SUCCESS) {
            printf("rank %d: data good at %ld, began %ld times\n", rank, (long)data.version,
                   (long)data.beginnings);
            break;
        }
        if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    MPI_Finalize();
    free(data.words);
    return 0;
}
