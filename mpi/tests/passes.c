/* What a job begins again from: prints the version and the value that each rank has from files (RUNFLAT_STORE, RUNFLAT_RESTART).
 *
 *     RUNFLAT_STORE=/tmp/store RUNFLAT_RESTART=1 runflat mpi run -n 3 ./passes [VERSION VALUE]
 *
 * With more words it writes one version more, whose value is the second word, and dies. */
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long value = 0;
    int64_t version = -1;
    int rank;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(comm, &rank);
    RF_Protect(7, &value, sizeof value);
    RF_Restore(comm, &version);
    printf("rank %d: version %ld, value %ld\n", rank, (long)version, value);
    fflush(stdout);
    if (argc > 2) {
        value = atol(argv[2]);
        RF_Checkpoint(comm, atol(argv[1]));
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    RF_End(&comm);
    MPI_Finalize();
    return 0;
}
