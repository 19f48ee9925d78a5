/* A receive fails before a call looks at it: does the call say so, and is the request gone?
 *
 *     told revoked      its communicator is revoked
 *     told dead         its sender dies
 *
 * For 2 processes. Each line says the call, what it looks at, the class of the error, and whether the request is there still, as persistent
 * ones are. Some calls see it only when they look again. */
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { REQUESTS = 3, FAILED = 1, CALLS = 13, TURNS = 100 };

enum call {
    WAIT,
    WAITALL,
    WAITANY,
    WAITSOME,
    TEST,
    TESTALL,
    TESTANY,
    TESTSOME,
    STATUS,
    PROBE,
    MPROBE,
    IPROBE,
    IMPROBE
};

/* What a call looks at: the receive, which is persistent or not, with another one beside it that has ended or alone. */
struct way {
    enum call call;
    bool persistent, others, ignored;
    MPI_Request requests[REQUESTS];
    int numbers[2];
};

static MPI_Comm comm;
static struct way ways[CALLS * 8];

static bool waits(enum call call)
{
    return call < TEST || call == PROBE || call == MPROBE;
}

static int look(struct way *way, int *done)
{
    int index, indices[REQUESTS];
    MPI_Message message;
    MPI_Status own[REQUESTS], *statuses = way->ignored ? MPI_STATUSES_IGNORE : own;
    MPI_Status *status = way->ignored ? MPI_STATUS_IGNORE : own;
    MPI_Request *all = way->requests, *failed = &all[FAILED];
    switch (way->call) {
    case WAIT:
        return MPI_Wait(failed, status);
    case WAITALL:
        return MPI_Waitall(REQUESTS, all, statuses);
    case WAITANY:
        return MPI_Waitany(REQUESTS, all, &index, status);
    case WAITSOME:
        return MPI_Waitsome(REQUESTS, all, done, indices, statuses);
    case TEST:
        return MPI_Test(failed, done, status);
    case TESTALL:
        return MPI_Testall(REQUESTS, all, done, statuses);
    case TESTANY:
        return MPI_Testany(REQUESTS, all, &index, done, status);
    case TESTSOME:
        return MPI_Testsome(REQUESTS, all, done, indices, statuses);
    case STATUS:
        return MPI_Request_get_status(*failed, done, status);
    case PROBE:
        return MPI_Probe(1, 1, comm, status);
    case MPROBE:
        return MPI_Mprobe(1, 1, comm, &message, status);
    case IPROBE:
        return MPI_Iprobe(1, 1, comm, done, status);
    case IMPROBE:
        return MPI_Improbe(1, 1, comm, done, &message, status);
    }
    return MPI_SUCCESS;
}

static void begin(struct way *way)
{
    for (int at = 0; at < REQUESTS; at++)
        way->requests[at] = MPI_REQUEST_NULL;
    if (way->persistent) {
        MPI_Recv_init(&way->numbers[0], 1, MPI_INT, 1, 0, comm, &way->requests[FAILED]);
        MPI_Start(&way->requests[FAILED]);
    } else {
        MPI_Irecv(&way->numbers[0], 1, MPI_INT, 1, 0, comm, &way->requests[FAILED]);
    }
    if (way->others)
        MPI_Irecv(&way->numbers[1], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &way->requests[REQUESTS - 1]);
}

/* It is known here when this ends. */
static void fail(bool dies, int rank)
{
    int known = 0, waits;
    MPI_Group dead;
    MPI_Barrier(comm);
    if (rank == 1 && dies)
        raise(SIGKILL);
    if (rank == 1)
        MPIX_Comm_revoke(comm);
    while (!known) {
        MPI_Iprobe(0, 0, MPI_COMM_SELF, &waits, MPI_STATUS_IGNORE);
        MPIX_Comm_is_revoked(comm, &known);
        if (dies) {
            MPIX_Comm_get_failed(comm, &dead);
            MPI_Group_size(dead, &known);
        }
    }
}

static void tell(struct way *way)
{
    static const char *const names[CALLS] = {"Wait",    "Waitall", "Waitany",  "Waitsome", "Test",
                                             "Testall", "Testany", "Testsome", "Status",   "Probe",
                                             "Mprobe",  "Iprobe",  "Improbe"};
    int code = MPI_SUCCESS, class = MPI_SUCCESS, done = 0;
    if (way->others)
        MPI_Send(&done, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    for (int turn = 0; turn < (waits(way->call) ? 1 : TURNS) && code == MPI_SUCCESS && !done;
         turn++)
        code = look(way, &done);
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    printf("%s%s%s%s: %s, %s\n", names[way->call], way->persistent ? " persistent" : "",
           way->others ? " others" : "", way->ignored ? " ignored" : "",
           class == MPI_ERR_IN_STATUS      ? "in status"
           : class == MPIX_ERR_REVOKED     ? "revoked"
           : class == MPIX_ERR_PROC_FAILED ? "dead"
           : class != MPI_SUCCESS          ? "another error"
           : done                          ? "done"
                                           : "no error",
           way->requests[FAILED] == MPI_REQUEST_NULL ? "gone" : "kept");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int at = 0; at < CALLS * 8 && rank == 0; at++) {
        ways[at] =
            (struct way){.call = at / 8, .persistent = at & 1, .others = at & 2, .ignored = at & 4};
        begin(&ways[at]);
    }
    fail(strcmp(argv[argc - 1], "dead") == 0, rank);
    for (int at = 0; at < CALLS * 8 && rank == 0; at++)
        tell(&ways[at]);
    return MPI_Finalize();
}
