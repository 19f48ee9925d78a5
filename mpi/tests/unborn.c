/* A parent dies while those that it spawns make the communicator with their parents, which end without them: they end, too.
 *
 *     unborn FILE [spawned]      with three ranks
 *
 * Those that are spawned rest for a while before the last step; FILE says that they do. Rank 2 then dies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { KIDS = 2 };

static const struct timespec AWHILE = {1, 0};
static const char *file;
static bool is_spawned;

/* Stands before Open MPI's own function of the name, and before the library's. */
int ompi_comm_activate(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                       const void *second, bool sends, int mode)
{
    int (*next)(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, bool, int);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_activate");
    if (is_spawned) {
        fclose(fopen(file, "w"));
        nanosleep(&AWHILE, NULL);
        printf("a spawned process goes on\n");
        fflush(stdout);
        is_spawned = false;
    }
    return next(made, parent, bridge, first, second, sends, mode);
}

static void die_if_there(int signal)
{
    (void)signal;
    if (access(file, F_OK) == 0)
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    MPI_Comm between;
    int rank;
    if (argc < 2)
        return 2;
    file = argv[1];
    is_spawned = argc > 2;
    MPI_Init(&argc, &argv);
    if (argc == 2) {
        char *words[] = {argv[1], "spawned", NULL};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 2) {
            signal(SIGALRM, die_if_there);
            setitimer(ITIMER_REAL, &(struct itimerval){{0, 20000}, {0, 20000}}, NULL);
        }
        int code = MPI_Comm_spawn(argv[0], words, KIDS, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                                  MPI_ERRCODES_IGNORE);
        printf("rank %d has %s\n", rank, code == MPI_SUCCESS ? "them" : "none");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
