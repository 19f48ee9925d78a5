/* Malleable: after a failure the survivors go on with fewer processes.
 *
 *     runflat mpi run -n 6 --kill 1@0.1 --kill 4@0.2 -- ./01_shrink 100
 *
 * Each step adds up the squares of a range of numbers that is divided among the processes there are. Two things are new: a
 * failure reaches all (whoever sees it revokes the communicator), and the communicator is shrunk. A step that was cut off is
 * done again: the sum of a step counts where all agree that it is there, which is one info key here.
 * Source: Bouteiller and Bosilca 2022, Figure 1, second case, and Section III-B. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NUMBERS = 1000 };

static long share_of(long step, int rank, int size)
{
    const struct timespec nap = {0, 3000000};
    long sum = 0;
    nanosleep(&nap, NULL); /* the work that a real program would do */
    for (long number = step * NUMBERS + rank; number < (step + 1) * NUMBERS; number += size)
        sum += number * number;
    return sum;
}

/* A communicator of the processes that live, whose collective calls tell all the same. */
static MPI_Comm of_the_living(MPI_Comm comm)
{
    MPI_Comm living;
    MPI_Info info;
    if (comm == MPI_COMM_WORLD)
        MPI_Comm_dup(comm, &living);
    else
        MPIX_Comm_shrink(comm, &living);
    MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(living, info);
    MPI_Info_free(&info);
    return living;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 100, total = 0;
    int rank, size, first_size;
    MPI_Init(&argc, &argv);
    MPI_Comm comm = of_the_living(MPI_COMM_WORLD);
    MPI_Comm_size(comm, &first_size);
    for (long step = 0; step < steps;) {
        long own, sum;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        own = share_of(step, rank, size);
        if (MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comm) == MPI_SUCCESS) {
            total += sum;
            step++;
            continue;
        }
        /* All are told alike, so all come here, at the same step. */
        MPI_Comm broken = comm;
        comm = of_the_living(broken);
        MPI_Comm_free(&broken);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    long last = steps * NUMBERS - 1, wanted = last * (last + 1) * (2 * last + 1) / 6;
    if (rank == 0)
        printf("%d of %d processes, sum %ld, which is %s\n", size, first_size, total,
               total == wanted ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
