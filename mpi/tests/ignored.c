/* A request has failed before a call that ends it: does the call say so, and is the request gone?
 *
 * For 2 processes. Each line says the call, what it looks at, the class of the error, and whether the request is there still, as persistent
 * ones are. Some tests see it only when they look again. */
#include <mpi.h>

#include <mpi-ext.h>
#include <stdbool.h>
#include <stdio.h>

enum { REQUESTS = 3, FAILED = 1, TEST = 4, CALLS = 8 };

static MPI_Request requests[REQUESTS];
static int rank, number, numbers[2];

static int end(int call, MPI_Status *statuses, int *done, int *index)
{
    int indices[REQUESTS];
    MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses;
    switch (call) {
    case 0:
        return MPI_Wait(&requests[FAILED], status);
    case 1:
        return MPI_Waitall(REQUESTS, requests, statuses);
    case 2:
        return MPI_Waitany(REQUESTS, requests, index, status);
    case 3:
        return MPI_Waitsome(REQUESTS, requests, done, indices, statuses);
    case TEST:
        return MPI_Test(&requests[FAILED], done, status);
    case 5:
        return MPI_Testall(REQUESTS, requests, done, statuses);
    case 6:
        return MPI_Testany(REQUESTS, requests, index, done, status);
    default:
        return MPI_Testsome(REQUESTS, requests, done, indices, statuses);
    }
}

/* A receive on a communicator that was revoked has failed; beside it there is one that has ended well, if `others`. */
static void prepare(bool persistent, bool others)
{
    int done = 0;
    MPI_Comm self = MPI_COMM_SELF, revoked;
    MPI_Comm_dup(MPI_COMM_WORLD, &revoked);
    for (int at = 0; at < REQUESTS; at++)
        requests[at] = MPI_REQUEST_NULL;
    if (persistent) {
        MPI_Recv_init(&number, 1, MPI_INT, 1 - rank, 1, revoked, &requests[FAILED]);
        MPI_Start(&requests[FAILED]);
    } else {
        MPI_Irecv(&number, 1, MPI_INT, 1 - rank, 1, revoked, &requests[FAILED]);
    }
    if (rank == 1)
        MPIX_Comm_revoke(revoked);
    while (!done) {
        int waits;
        MPI_Iprobe(0, 0, self, &waits, MPI_STATUS_IGNORE);
        MPIX_Comm_is_revoked(revoked, &done);
    }
    MPI_Comm_free(&revoked);
    if (others) {
        MPI_Irecv(&numbers[1], 1, MPI_INT, 0, 2, self, &requests[REQUESTS - 1]);
        MPI_Send(numbers, 1, MPI_INT, 0, 2, self);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[CALLS] = {"Wait", "Waitall", "Waitany", "Waitsome",
                                             "Test", "Testall", "Testany", "Testsome"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; way < 8 * CALLS; way++) {
        int call = way / 8, done = 0, index = 0;
        bool persistent = way & 1, others = way & 2, ignored = way & 4;
        MPI_Status statuses[REQUESTS] = {0};
        prepare(persistent, others);
        int code = MPI_SUCCESS, class = MPI_SUCCESS;
        for (int turn = 0; turn < (call < TEST ? 1 : 2) && code == MPI_SUCCESS; turn++)
            code = end(call, ignored ? MPI_STATUSES_IGNORE : statuses, &done, &index);
        if (code != MPI_SUCCESS)
            MPI_Error_class(code, &class);
        printf("rank %d: %s%s%s%s: %s, %s\n", rank, names[call], persistent ? " persistent" : "",
               others ? " others" : "", ignored ? " ignored" : "",
               class == MPI_SUCCESS         ? "no error"
               : class == MPI_ERR_IN_STATUS ? "in status"
               : class == MPIX_ERR_REVOKED  ? "revoked"
                                            : "other error",
               requests[FAILED] == MPI_REQUEST_NULL ? "gone" : "kept");
        fflush(stdout);
        for (int at = 0; at < REQUESTS; at++)
            if (requests[at] != MPI_REQUEST_NULL)
                MPI_Request_free(&requests[at]);
    }
    return MPI_Finalize();
}
