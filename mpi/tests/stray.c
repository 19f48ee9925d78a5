/* A rank becomes a spare while a word to it waits that it never receives, and must wake all the same at the end of the job.
 *
 *     stray        with four ranks and spares on two sides of a grid of 3 x 3, and the policy `optimal`
 *
 * Rank 2 begins to make a communicator with rank 0, which never does: it waits for all. Rank 1 dies; the search moves all ranks. */
#include <mpi.h>
#include <runflat.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { TAG = 1 };

static int make_pair(MPI_Comm comm)
{
    static const int pair[] = {0, 2};
    MPI_Group all, both;
    MPI_Comm made;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 2, pair, &both);
    int code = MPI_Comm_create_group(comm, both, TAG, &made);
    MPI_Group_free(&all);
    MPI_Group_free(&both);
    return code;
}

int main(int argc, char **argv)
{
    const struct timespec nap = {0, 300000000};
    MPI_Comm comm;
    int rank, code;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int begins = comm != MPI_COMM_NULL && RF_Spares() == 5;
    if (begins) {
        MPI_Comm_rank(comm, &rank);
        if (rank == 1) {
            nanosleep(&nap, NULL);
            raise(SIGKILL);
        }
        code = rank == 2 ? make_pair(comm) : MPI_Barrier(comm);
        if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (comm != MPI_COMM_NULL) {
        nanosleep(&nap, NULL);
        MPI_Comm_rank(comm, &rank);
        if (MPI_Barrier(comm) == MPI_SUCCESS && RF_End(&comm) == MPI_SUCCESS)
            printf("rank %d at the end\n", rank);
    } else if (begins) {
        printf("a rank slept to the end\n");
    }
    MPI_Finalize();
    return 0;
}
