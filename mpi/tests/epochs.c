/* Agreements of two communicators are not taken for one.
 *
 *     epochs      with three ranks or more
 *
 * Open MPI knows agreements by the number of the communicator and by an epoch, the highest of counts that its processes keep. Rank 0 is far
 * ahead of the others in communicators that it has made, and leaves: those that the others make have the numbers and epochs of the one that
 * they shared with it. Rank 1 comes late to each agreement: it finds what the others send, and has heard of such an agreement already. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <unistd.h>

enum { AHEAD = 40, TURNS = 60, TAG = 5 };

/* Makes a communicator of the ranks from `first` to `last` of the world, agrees in it and frees it; what they have agreed on. */
static int agree_among(int first, int last, int own, int flag)
{
    MPI_Group all, some;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, &(int[][3]){{first, last, 1}}[0], &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, TAG, &made);
    for (int turn = 0, unused; own == 1 && turn < 10; turn++, usleep(300))
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, made, &unused, MPI_STATUS_IGNORE);
    MPIX_Comm_agree(made, &flag);
    MPI_Comm_free(&made);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return flag;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int at = 0; rank == 0 && at < AHEAD; at++) {
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Comm_free(&copy);
    }
    if (rank < 2)
        agree_among(0, 1, rank, ~0);
    for (int turn = 0; rank > 0 && turn < TURNS; turn++)
        wrong += agree_among(1, size - 1, rank, turn) != turn;
    printf("rank %d: %d agreements wrong\n", rank, wrong);
    MPI_Finalize();
    return 0;
}
