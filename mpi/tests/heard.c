/* Does MPI make progress at the process that comes last to a uniform barrier, and so waits for nobody in it?
 *
 *     heard */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { BARRIERS = 20, LATE_MS = 20 };

static long turns;

static int note_turn(void)
{
    turns++;
    return 0;
}

int main(int argc, char **argv)
{
    const struct timespec nap = {0, LATE_MS * 1000000};
    int rank, heard = 0;
    MPI_Comm comm;
    MPI_Info info;
    int (*call_in_each_turn)(int (*)(void));
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(comm, info);
    MPI_Barrier(comm);
    *(void **)&call_in_each_turn = dlsym(RTLD_DEFAULT, "opal_progress_register");
    call_in_each_turn(note_turn);
    for (int done = 0; done < BARRIERS; done++) {
        if (rank == 1)
            nanosleep(&nap, NULL);
        long before = turns;
        MPI_Barrier(comm);
        heard += turns > before;
    }
    if (rank == 1)
        printf("heard in %d of %d barriers\n", heard, BARRIERS);
    MPI_Finalize();
    return 0;
}
