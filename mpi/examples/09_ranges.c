/* Ranges: a library hears of a death that it has nothing to do with, and the application beside it goes on undisturbed.
 *
 *     runflat mpi build -o rf
 *     mpicc 09_ranges.c -Irf -Lrf -lrunflat_mpi -Wl,-rpath,$PWD/rf -o 09_ranges
 *     runflat mpi run -n 6 --kill 5@0.5 ./09_ranges universe
 *
 * The first half of the processes is in a library, which has a communicator of its own: all wait there for the last one, which computes.
 * The others wait on the application's communicator for what comes of it. The death of one of these is no business of
 * the library, unless its range is `universe`: then its waits are interrupted, though they are for a process that lives.
 * With the range `group` a death among its own (`--kill 1@0.5`) does that, with `local` no death but that of the process waited for. The
 * application's communicator is `local`: who waits there for a process that lives gets its message. In the end both are
 * shrunk at once, and the library is asked again.
 * Source: Bouteiller and Bosilca 2022, Figure 3 and Listing 1, and Section III-C. */
#include <mpi.h>
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ANSWER = 42, NONE = -1 };

/* A copy of a communicator with a range of its own: calls on it say errors, and which errors is its own business. */
static MPI_Comm copy_with_range(MPI_Comm comm, const char *range)
{
    MPI_Comm copy;
    MPI_Info info;
    if (MPI_Comm_dup(comm, &copy) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2); /* somebody has died before it began */
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_range", range);
    if (MPI_Comm_set_info(copy, info) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2); /* no such range, as the library has said */
    MPI_Info_free(&info);
    return copy;
}

/* By the first process, which is in both. */
static void print_ranges(MPI_Comm library, MPI_Comm application)
{
    MPI_Comm comms[] = {library, application};
    char range[2][MPI_MAX_INFO_VAL + 1];
    int sizes[2], there;
    for (int one = 0; one < 2; one++) {
        MPI_Info info;
        MPI_Comm_get_info(comms[one], &info);
        MPI_Info_get(info, "mpix_error_range", MPI_MAX_INFO_VAL, range[one], &there);
        MPI_Info_free(&info);
        MPI_Comm_size(comms[one], &sizes[one]);
    }
    printf("library: %d processes, range %s; application: %d processes, range %s\n", sizes[0],
           range[0], sizes[1], range[1]);
}

/* The library: its last process works for so long, the others wait for it. What MPI says. */
static int ask_library(MPI_Comm comm, double seconds, int *answer)
{
    int rank, size, code = MPI_SUCCESS;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *answer = NONE;
    if (rank < size - 1)
        return MPI_Recv(answer, 1, MPI_INT, size - 1, 0, comm, MPI_STATUS_IGNORE);
    const struct timespec work = {(time_t)seconds, (long)(1e9 * (seconds - (long)seconds))};
    nanosleep(&work, NULL); /* the work that a real library would do */
    *answer = ANSWER;
    for (int other = 0; other < size - 1 && code == MPI_SUCCESS; other++)
        code = MPI_Send(answer, 1, MPI_INT, other, 0, comm);
    return code;
}

/* The application: its first process, which is in the library too, tells those that are not what has come of it. Who is dead does not matter. */
static int tell_others(MPI_Comm comm, MPI_Comm library, int *answer)
{
    int rank, size, first_other;
    if (library == MPI_COMM_NULL)
        return MPI_Recv(answer, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_size(library, &first_other);
    for (int other = first_other; rank == 0 && other < size; other++)
        MPI_Send(answer, 1, MPI_INT, other, 0, comm);
    return MPI_SUCCESS;
}

static const char *word_for(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class == MPI_SUCCESS        ? "not interrupted"
           : class == MPIX_ERR_REVOKED ? "interrupted"
                                       : "told of the death";
}

/* Both communicators without the dead, at once; the library's is MPI_COMM_NULL at the other processes. */
static void shrink_both(MPI_Comm *library, MPI_Comm *application)
{
    MPI_Comm broken[] = {*library, *application}, *made[] = {library, application};
    MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (int one = 0; one < 2; one++)
        if (broken[one] != MPI_COMM_NULL &&
            MPIX_Comm_ishrink(broken[one], made[one], &requests[one]) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    if (MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 4);
    for (int one = 0; one < 2; one++)
        if (broken[one] != MPI_COMM_NULL)
            MPI_Comm_free(&broken[one]);
}

/* One turn of the program: ask, tell, and agree whether all have an answer and nobody has died. */
static int take_turn(MPI_Comm library, MPI_Comm application, double seconds)
{
    int rank, size, is_revoked, answer = NONE;
    MPI_Comm_rank(application, &rank);
    if (rank == 0 && library == MPI_COMM_NULL)
        MPI_Abort(MPI_COMM_WORLD, 5); /* nobody of the library is left */
    if (rank == 0)
        print_ranges(library, application);
    if (library != MPI_COMM_NULL) {
        MPI_Comm_size(library, &size);
        int code = ask_library(library, seconds, &answer);
        if (rank < size - 1)
            printf("rank %d waits in the library: %s, answer %d\n", rank, word_for(code), answer);
    }
    int code = tell_others(application, library, &answer);
    MPIX_Comm_is_revoked(application, &is_revoked);
    printf("rank %d in the application: %s, answer %d, revoked %d\n", rank, word_for(code), answer,
           is_revoked);
    int well = answer == ANSWER;
    return MPIX_Comm_agree(application, &well) == MPI_SUCCESS && well;
}

int main(int argc, char **argv)
{
    const char *range = argc > 1 ? argv[1] : "universe";
    double seconds = argc > 2 ? atof(argv[2]) : 1.5;
    int rank, size;
    MPI_Comm half, library = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm application = copy_with_range(MPI_COMM_WORLD, "local");
    if (MPI_Comm_split(application, rank < size / 2 ? 0 : MPI_UNDEFINED, rank, &half) !=
        MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (half != MPI_COMM_NULL) {
        library = copy_with_range(half, range);
        MPI_Comm_free(&half);
    }
    /* More than once if a death is told of late, or another one comes. */
    while (!take_turn(library, application, seconds)) {
        shrink_both(&library, &application);
        seconds = 0;
    }
    MPI_Comm_size(application, &size);
    MPI_Comm_rank(application, &rank);
    if (rank == 0)
        printf("%d processes have the answer\n", size);
    MPI_Finalize();
    return 0;
}
