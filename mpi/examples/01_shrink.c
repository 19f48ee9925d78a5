/* Malleable: after a failure the survivors go on with fewer processes.
 *
 *     mpicc 01_shrink.c -o 01_shrink
 *     runflat mpi run -n 6 --kill 1@0.1 --kill 4@0.2 ./01_shrink 100
 *
 * Each step adds up the squares of a range of numbers that is divided among the processes there are. Two things are new: an info key
 * (mpix_error_uniform) lets a collective call fail at all processes or at none, so that all know which step was cut off; and
 * the communicator is then shrunk to those that live, who do that step again.
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

/* A communicator of the processes that live, whose collective calls tell all the same. At first it is a copy of the world, which all have
 * or, if somebody dies meanwhile, none. */
static MPI_Comm of_the_living(MPI_Comm comm)
{
    MPI_Comm living;
    MPI_Info info;
    if ((comm != MPI_COMM_WORLD || MPI_Comm_dup(comm, &living) != MPI_SUCCESS) &&
        MPIX_Comm_shrink(comm, &living) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(living, info);
    MPI_Info_free(&info);
    return living;
}

static int is_failure(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 100, total = 0;
    int rank, size, first_size;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_size(MPI_COMM_WORLD, &first_size);
    MPI_Comm comm = of_the_living(MPI_COMM_WORLD);
    for (long step = 0; step < steps;) {
        long own, sum;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        own = share_of(step, rank, size);
        int code = MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comm);
        if (code == MPI_SUCCESS) {
            total += sum;
            step++;
            continue;
        }
        if (!is_failure(code))
            MPI_Abort(MPI_COMM_WORLD, 3);
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
