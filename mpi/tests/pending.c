/* Large messages that have begun when their sender dies, before MPI knows.
 *
 * Rank 0 sends some to rank 1, which sees them, and dies; rank 1 receives them then, and goes on with rank 2. Prints how many turns
 * with rank 2 went well. For Open MPI's TCP transport, where the receiver asks for the data. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MESSAGES = 8, LARGE = 1 << 20, TURNS = 200 };

static int rank;
static char *buffers[MESSAGES];
static MPI_Request requests[2 * MESSAGES];

static void nap(double seconds)
{
    const struct timespec time = {0, (long)(1e9 * seconds)};
    nanosleep(&time, NULL);
}

static void begin_and_die(void)
{
    for (int at = 0; at < MESSAGES; at++)
        MPI_Isend(buffers[at], LARGE, MPI_BYTE, 1, at, MPI_COMM_WORLD, &requests[at]);
    nap(0.4);
    raise(SIGKILL);
}

/* How many of the messages have failed. */
static int receive(void)
{
    int failed = 0;
    MPI_Probe(0, MESSAGES - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nap(0.8);
    for (int at = 0; at < MESSAGES; at++)
        MPI_Irecv(buffers[at], LARGE, MPI_BYTE, 0, at, MPI_COMM_WORLD, &requests[at]);
    for (int at = 0; at < MESSAGES; at++)
        failed += MPI_Wait(&requests[at], MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return failed;
}

/* How many turns of messages to and from `other` went well. */
static int go_on(int other)
{
    int right = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        int good = 1;
        for (int at = 0; at < MESSAGES; at++) {
            int bytes = at % 2 ? 8 : LARGE / 4;
            buffers[at][bytes - 1] = (char)turn;
            MPI_Irecv(buffers[at] + LARGE, bytes, MPI_BYTE, other, at, MPI_COMM_WORLD,
                      &requests[2 * at]);
            MPI_Isend(buffers[at], bytes, MPI_BYTE, other, at, MPI_COMM_WORLD,
                      &requests[2 * at + 1]);
        }
        MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
        for (int at = 0; at < MESSAGES; at++) {
            int bytes = at % 2 ? 8 : LARGE / 4;
            good = good && buffers[at][LARGE + bytes - 1] == (char)turn;
        }
        right += good;
    }
    return right;
}

int main(int argc, char **argv)
{
    int failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int at = 0; at < MESSAGES; at++)
        buffers[at] = calloc(2 * LARGE, 1);
    if (rank == 0)
        begin_and_die();
    else if (rank == 1)
        failed = receive();
    int right = go_on(3 - rank);
    printf("rank %d: %d failed, %d of %d right\n", rank, failed, right, TURNS);
    MPI_Finalize();
    return 0;
}
