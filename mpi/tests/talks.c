/* Agreements, and what is made of them, while another thread of each process communicates.
 *
 *     talks agree|create|shrink|checkpoint COUNT     prints how often they went wrong */
#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <runflat.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm talk;
static atomic_int ends;
static int rank, size;

static void *sum_up(void *wrong)
{
    int mine[2], all[2] = {0, 0};
    for (int round = 0; all[1] < size; round++) {
        mine[0] = rank + round;
        mine[1] = ends;
        if (MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, talk) != MPI_SUCCESS)
            break;
        *(int *)wrong += all[0] != size * (size - 1) / 2 + size * round;
    }
    return NULL;
}

/* Each process takes a bit of its own out. */
static int agree(MPI_Comm comm, int turn)
{
    int bit = 1 << turn % 8, flag = ~(bit << rank);
    return MPIX_Comm_agree(comm, &flag) != MPI_SUCCESS || flag != ~(((1 << size) - 1) * bit);
}

static int use(MPI_Comm *made)
{
    int count = 0, one = 1;
    int code = MPI_Allreduce(&one, &count, 1, MPI_INT, MPI_SUM, *made);
    MPI_Comm_free(made);
    return code != MPI_SUCCESS || count != size;
}

static int turn_of(const char *what, MPI_Comm comm, int turn)
{
    MPI_Comm made;
    if (strcmp(what, "agree") == 0)
        return agree(comm, turn);
    if (strcmp(what, "checkpoint") == 0)
        return RF_Checkpoint(comm, turn) != MPI_SUCCESS;
    int code = strcmp(what, "shrink") == 0 ? MPIX_Comm_shrink(comm, &made)
               : turn % 2 == 0             ? MPI_Comm_dup(comm, &made)
                                           : MPI_Comm_split(comm, 0, rank, &made);
    return code != MPI_SUCCESS || use(&made);
}

int main(int argc, char **argv)
{
    int given, wrong = 0, wrong_in_thread = 0;
    MPI_Comm comm;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    if (argc < 3 || given != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(argv[1], "checkpoint") == 0)
        RF_Init(0, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    RF_Protect(0, &rank, sizeof rank);
    MPI_Comm_dup(comm, &talk);
    pthread_create(&thread, NULL, sum_up, &wrong_in_thread);
    for (int turn = 0; turn < atoi(argv[2]); turn++)
        wrong += turn_of(argv[1], comm, turn);
    ends = 1;
    pthread_join(thread, NULL);
    printf("rank %d: %d of %s wrong, %d in the thread\n", rank, wrong, argv[2], wrong_in_thread);
    if (strcmp(argv[1], "checkpoint") == 0)
        RF_End(&comm);
    MPI_Finalize();
    return 0;
}
