/* Overlap: while the communicator is repaired, each rank goes on with work that needs no other.
 *
 *     runflat mpi build -o rf
 *     mpicc 03_overlap.c -Irf -Lrf -lrunflat_mpi -Wl,-rpath,$PWD/rf -o 03_overlap
 *     runflat mpi run -n 6 --spares 2 --kill 3@0.3 ./03_overlap 400
 *
 * Each rank integrates its part of the circle, piece by piece; at the end all add up what they have. New against
 * 02_spares: RF_Comm_irepair gives a request. Pieces that were done during the repair count for the rank that did them. */
#include <mpi.h>
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PIECES_A_STEP = 4, EVERY = 5 };

/* What a rank owns: pieces done, and the area under them. */
struct part {
    long pieces;
    double area;
};

/* A piece of the quarter circle: the rectangle in the middle of it. */
static void do_piece(struct part *part, int rank, int size, long pieces)
{
    const struct timespec nap = {0, 200000};
    if (part->pieces == pieces)
        return;
    double width = 1.0 / ((double)size * (double)pieces);
    double x = ((double)rank * (double)pieces + (double)part->pieces + 0.5) * width;
    part->area += width * 4 / (1 + x * x);
    part->pieces++;
    nanosleep(&nap, NULL); /* a real piece takes longer */
}

/* The last checkpoint, or nothing done where there is none, at who has a rank that was another's; who kept its rank keeps its part, which
 * is ahead of the checkpoint. */
static int bring_back(MPI_Comm comm, struct part *part, int64_t *step, int *is_new)
{
    struct part own = *part;
    int code = RF_Restore(comm, step);
    int has_none = code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST;
    if (!*is_new)
        *part = own;
    else if (has_none)
        *part = (struct part){0, 0};
    if (has_none)
        code = RF_Checkpoint(comm, *step = 0);
    if (code == MPI_SUCCESS)
        *is_new = 0;
    return code;
}

/* Repairs, and works meanwhile; how many pieces that were. Who has no rank afterwards is a spare, and sleeps until it has one again. */
static long repair(MPI_Comm *comm, struct part *part, int rank, int size, long pieces, int *is_new)
{
    long before = part->pieces;
    int done = 0, now = rank;
    MPI_Comm repaired;
    MPI_Request request;
    if (RF_Comm_irepair(*comm, &repaired, &request) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    while (!done) {
        do_piece(part, rank, size, pieces);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    *comm = repaired;
    if (repaired == MPI_COMM_NULL && RF_Repair(comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 4);
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_rank(*comm, &now);
    /* A policy may give it another rank, whose data a checkpoint has. */
    *is_new = *is_new || repaired == MPI_COMM_NULL || now != rank;
    return part->pieces - before;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 100, pieces = steps * PIECES_A_STEP, meanwhile = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL) {
        struct part part = {0, 0};
        int rank, size, is_new = 1;
        int64_t step = 0;
        double area = 0;
        RF_Protect(0, &part, sizeof part);
        while (comm != MPI_COMM_NULL) {
            if (RF_Shape() == RF_SMALLER)
                MPI_Abort(MPI_COMM_WORLD, 5); /* nobody has the part of the rank that is gone */
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &size);
            int code = bring_back(comm, &part, &step, &is_new);
            for (; code == MPI_SUCCESS && step < steps; step++) {
                for (int piece = 0; piece < PIECES_A_STEP; piece++)
                    do_piece(&part, rank, size, pieces);
                code = MPI_Barrier(comm); /* a real program would exchange something */
                if (code == MPI_SUCCESS && (step + 1) % EVERY == 0)
                    code = RF_Checkpoint(comm, step + 1);
            }
            if (code == MPI_SUCCESS)
                code = MPI_Allreduce(&part.area, &area, 1, MPI_DOUBLE, MPI_SUM, comm);
            if (code == MPI_SUCCESS)
                code = RF_End(&comm);
            if (code == MPI_SUCCESS)
                printf("rank %d of %d: pi is %.7f, %ld pieces done during repairs\n", rank, size,
                       area, meanwhile);
            else if (RF_Is_failure(comm, code))
                meanwhile += repair(&comm, &part, rank, size, pieces, &is_new);
            else
                MPI_Abort(MPI_COMM_WORLD, 6); /* a repair would not mend it */
        }
    }
    MPI_Finalize();
    return 0;
}
