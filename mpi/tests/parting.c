/* Ranks in a grid of two rows and columns. One hears of a repair by its row alone, and frees what it has before it repairs: who waits
 * for it in the column is interrupted all the same. Nobody dies.
 *
 *     parting comm|window [free]      with four ranks and no spare
 *
 * Rank 1 revokes its row, as a repair does that is under way, and says no more for a while; rank 0, which waits for it there, frees the row, then
 * the column (or what was made on it), and repairs; rank 2 waits for rank 0 in the column, and rank 3 for all. With `free` nobody repairs, and what
 * rank 0 has freed goes on at rank 2, since the row was revoked for reasons of the program. */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 1 };

static void nap(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, row, column;
    MPI_Win window = MPI_WIN_NULL;
    static int place;
    int rank, size, word = 0, code = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    if (argc < 2 || RF_Init(0, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    bool with_window = strcmp(argv[1], "window") == 0, repairs = argc < 3;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split(comm, rank / 2, rank, &row);
    MPI_Comm_split(comm, rank % 2, rank, &column);
    if (with_window) {
        MPI_Win_create(&place, sizeof place, sizeof place, MPI_INFO_NULL, column, &window);
        MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    }
    if (rank == 1) {
        nap(200);
        MPIX_Comm_revoke(row);
        nap(1000);
        code = repairs ? MPIX_ERR_REVOKED : MPI_SUCCESS;
    } else if (rank == 0) {
        if (!repairs)
            MPI_Send(&word, 1, MPI_INT, 1, TAG, column);
        code = MPI_Recv(&word, 1, MPI_INT, 1, TAG, row, MPI_STATUS_IGNORE);
        code = repairs ? code : MPI_SUCCESS;
    } else if (rank == 2) {
        /* What has been sent before the sender freed it arrives. */
        nap(repairs ? 0 : 800);
        if (with_window && repairs)
            code = MPI_Win_fence(0, window);
        else
            code = MPI_Recv(&word, 1, MPI_INT, 0, TAG, column, MPI_STATUS_IGNORE);
    } else if (repairs) {
        code = MPI_Barrier(comm);
    }
    printf("rank %d: %s\n", rank, RF_Is_failure(comm, code) ? "interrupted" : "not interrupted");
    fflush(stdout);
    MPI_Comm_free(&row);
    if (with_window)
        MPI_Win_free(&window);
    MPI_Comm_free(&column);
    if (repairs && RF_Repair(&comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (MPI_Barrier(comm) == MPI_SUCCESS && RF_End(&comm) == MPI_SUCCESS)
        printf("rank %d of %d at the end\n", rank, size);
    MPI_Finalize();
    return 0;
}
