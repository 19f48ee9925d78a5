/* Making a communicator fails at one process alone: do others use it all the same, and their words reach the next one of its number there?
 *
 *     late NUMBER
 *
 * MPI_Win_create makes several communicators inside. Of the search for the number of that one, rank 2 of four waits in the last step and
 * ends rank 1, which has told all it has to tell, but does not tell rank 3 what it hears: rank 3 has no number, ranks 0 and 2 have one.
 * Rank 3 then makes communicators of its own, with the numbers that are free there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 4, OWN = 4, LAST_STEP = 3 };

static const struct timespec nap = {1, 0};

/* Searches until then; 0: none. Steps of the one under way; whether it has found a number, and
 * the communicator may be used. */
static int left, steps, has_number, is_usable, rank, process_of[RANKS];

/* All stand before Open MPI's own functions of the name. */
int ompi_comm_nextcid_nb(MPI_Comm, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int,
                         MPI_Request *);
int ompi_comm_request_schedule_append(void *, void *, MPI_Request *, int);
int ompi_comm_activate(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int);

int ompi_comm_nextcid_nb(MPI_Comm made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                         const void *second, _Bool sends_first, int mode, MPI_Request *request)
{
    int (*next)(MPI_Comm, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int,
                MPI_Request *);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_nextcid_nb");
    left -= left > 0;
    steps = 0;
    return next(made, parent, bridge, first, second, sends_first, mode, request);
}

int ompi_comm_request_schedule_append(void *request, void *callback, MPI_Request *parts, int count)
{
    int (*next)(void *, void *, MPI_Request *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_request_schedule_append");
    if (left == 1 && ++steps == LAST_STEP && rank == 2) {
        nanosleep(&nap, NULL);
        kill(process_of[1], SIGKILL);
    }
    return next(request, callback, parts, count);
}

int ompi_comm_activate(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                       const void *second, _Bool sends_first, int mode)
{
    int (*next)(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, _Bool, int);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_activate");
    has_number |= left == 1;
    int code = next(made, parent, bridge, first, second, sends_first, mode);
    is_usable |= left == 1 && code == MPI_SUCCESS;
    return code;
}

static int make_window(void)
{
    static int memory;
    MPI_Win window;
    return MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

int main(int argc, char **argv)
{
    int number = argc > 1 ? atoi(argv[1]) : 1, size = 0, sum = 0, own = getpid();
    MPI_Comm live, alone[OWN];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Allgather(&own, 1, MPI_INT, process_of, 1, MPI_INT, MPI_COMM_WORLD);
    left = number + 1;
    int code = make_window();
    left = 0;
    nanosleep(&nap, NULL); /* words that are under way arrive */
    for (int at = 0; at < OWN; at++)
        MPI_Comm_dup(MPI_COMM_SELF, &alone[at]);
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &live) == MPI_SUCCESS) {
        MPI_Comm_size(live, &size);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, live);
    }
    printf("rank %d: %s, the window %s, then %d live, sum %d\n", rank,
           is_usable    ? "in use"
           : has_number ? "a number"
                        : "no number",
           code ? "fails" : "is made", size, sum);
    MPI_Finalize();
    return 0;
}
