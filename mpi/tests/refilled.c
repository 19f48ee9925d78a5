/* A rank dies while new processes are started for one that had died before, and a spare is left that takes over: what ranks have to
 * bring back is told to all.
 *
 *     refilled US       so long after the call, in us
 *     refilled ends|fails    new processes end before they join, again and again: there are fewer spares
 *     refilled stops       the new process is stopped while it sleeps */
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 40, EVERY = 5 };

/* This process gets a signal in so many us. */
static void expect(int signal, useconds_t us)
{
    if (fork() == 0) {
        usleep(us);
        kill(getppid(), signal);
        _exit(0);
    }
}

static int refill(MPI_Comm *comm, int rank, const char *how)
{
    if (rank == 2 && atol(how) > 0)
        expect(SIGKILL, (useconds_t)atol(how));
    int code = RF_Refill(comm);
    printf("rank %d: refill %s, %d spares\n", rank,
           RF_Is_failure(*comm, code) ? "interrupted"
           : code == 0                ? "good"
                                      : "bad",
           RF_Spares());
    fflush(stdout);
    return code;
}

int main(int argc, char **argv)
{
    int64_t step = 0;
    int state[2] = {0, 0}, place, rank, size; /* turns, and whether new processes were asked for */
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1 && strcmp(argv[1], "ends") == 0)
        return MPI_Finalize();
    if (size == 1 && strcmp(argv[1], "fails") == 0)
        exit(3);
    if (size == 1 && strcmp(argv[1], "stops") == 0)
        expect(SIGSTOP, 300000);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL) {
        RF_Protect(0, state, sizeof state);
        int code = RF_Restore(comm, &step);
        step /= 10;
        for (;;) {
            MPI_Comm_rank(comm, &rank);
            if (code == RF_ERR_NO_CHECKPOINT)
                code = RF_Checkpoint(comm, step = 0);
            for (; code == MPI_SUCCESS && step < STEPS; step++) {
                if (step == 10 && place == 1)
                    raise(SIGKILL);
                if (step == 20 && state[1]++ == 0) {
                    code = RF_Checkpoint(comm, 10 * step + 1);
                    code = code == MPI_SUCCESS ? refill(&comm, rank, argv[1]) : code;
                }
                if (step > 20 && strcmp(argv[1], "stops") == 0)
                    usleep(150000);
                if (code == MPI_SUCCESS)
                    code = MPI_Barrier(comm);
                if (code == MPI_SUCCESS)
                    state[0]++;
                if (code == MPI_SUCCESS && (step + 1) % EVERY == 0)
                    code = RF_Checkpoint(comm, 10 * (step + 1));
            }
            if (code == MPI_SUCCESS && (code = RF_End(&comm)) == MPI_SUCCESS) {
                printf("rank %d: %d of %d steps\n", rank, state[0], STEPS);
                break;
            }
            if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
                MPI_Abort(MPI_COMM_WORLD, 3);
            if (comm == MPI_COMM_NULL)
                break;
            code = RF_Restore(comm, &step);
            step /= 10;
        }
    }
    MPI_Finalize();
    return 0;
}
