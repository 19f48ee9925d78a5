/* Blocking calls of processes of which some have requests of the library left and others do not.
 *
 * All post the shrink of a copy of the world. Even ranks wait for it first, odd ones last; between are one call of each kind on the
 * world. Prints how many of the calls have the right result, and how many processes the new communicator has. */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <stdio.h>

enum { MOST = 64, KINDS = 6 };

static int rank, size, ones[MOST], in[MOST];

static int is_sum(int count, int each)
{
    int sum = 0;
    for (int at = 0; at < count; at++)
        sum += in[at];
    return sum == each;
}

static int count_right(void)
{
    int right = 0, next = (rank + 1) % size, before = (rank + size - 1) % size, root = size - 1,
        value = rank == root ? 7 : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    right++;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    right += value == 7;
    MPI_Allreduce(ones, in, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    right += is_sum(MOST, MOST * size);
    MPI_Alltoall(ones, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    right += is_sum(size, size);
    MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    right += is_sum(size, size * (size - 1) / 2);
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &value, 1, MPI_INT, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    right += value == before;
    return right;
}

int main(int argc, char **argv)
{
    MPI_Comm copy, made;
    MPI_Request request;
    int members = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int at = 0; at < MOST; at++)
        ones[at] = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPIX_Comm_ishrink(copy, &made, &request);
    if (rank % 2 == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    int right = count_right();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_size(made, &members);
    printf("rank %d: %d of %d right, %d shrunk\n", rank, right, KINDS, members);
    MPI_Finalize();
    return 0;
}
