/* Communicators made by a group, between two groups, and merged from both, in rounds until a process dies: do all live ones get as many,
 * all usable, and then the same class?
 *
 *     groups KIND [ROUNDS]     KIND: "group" (all but rank 0), "between" or "merge"
 *
 * Each process prints how many it has made and what ended it, and whether what it was given had the right processes in the right order. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 100000, TAG = 5 };

static int rank, size, wrong, handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

/* What all of a communicator add up to, or -1. */
static int sum_of(MPI_Comm comm)
{
    int sum = -1;
    return MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS ? sum : -1;
}

/* A failure may interrupt the sum; an order that is not that of the round is wrong in any case. */
static void look_at_made(MPI_Comm made, int expected_rank, int expected_sum)
{
    int own, sum;
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    sum = sum_of(made);
    MPI_Comm_rank(made, &own);
    wrong += own != expected_rank || (sum >= 0 && sum != expected_sum);
    MPI_Comm_free(&made);
}

/* Of all but rank 0, which does not call; backwards in odd rounds. */
static int make_group(MPI_Comm comm, int round)
{
    MPI_Group all, some;
    MPI_Comm made;
    int there = size - 1, code = MPI_SUCCESS, ranges[1][3] = {{1, size - 1, 1}},
        backwards[1][3] = {{size - 1, 1, -1}};
    if (rank == 0)
        return MPI_SUCCESS;
    MPI_Comm_group(comm, &all);
    MPI_Group_range_incl(all, 1, round % 2 ? backwards : ranges, &some);
    code = MPI_Comm_create_group(comm, some, TAG, &made);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    if (code == MPI_SUCCESS)
        look_at_made(made, round % 2 ? there - rank : rank - 1, size * (size - 1) / 2);
    return code;
}

/* The lower half and the upper one; their leaders are the last of the lower and the first of the upper. */
static int make_between(MPI_Comm half, MPI_Comm comm, MPI_Comm *between)
{
    int low = rank < size / 2, own = low ? size / 2 - 1 : 0, other = low ? size / 2 : size / 2 - 1,
        far_size, code;
    code = MPI_Intercomm_create(half, own, comm, other, TAG, between);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Comm_remote_size(*between, &far_size);
    wrong += far_size != (low ? size - size / 2 : size / 2);
    MPI_Comm_set_errhandler(*between, MPI_ERRORS_RETURN);
    return MPI_SUCCESS;
}

/* To the same rank of the other side, and back. */
static void look_at_between(MPI_Comm between)
{
    int own, far_size, heard = -1, low = rank < size / 2;
    MPI_Comm_rank(between, &own);
    MPI_Comm_remote_size(between, &far_size);
    if (own < far_size && MPI_Sendrecv(&rank, 1, MPI_INT, own, TAG, &heard, 1, MPI_INT, own, TAG,
                                       between, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        wrong += heard != (low ? own + size / 2 : own);
}

/* The upper half first in odd rounds. */
static int make_merged(MPI_Comm between, int round)
{
    MPI_Comm made;
    int low = rank < size / 2, swapped = round % 2, high = low == swapped,
        expected = !swapped ? rank
                   : low    ? rank + size - size / 2
                            : rank - size / 2;
    int code = MPI_Intercomm_merge(between, high, &made);
    if (code == MPI_SUCCESS)
        look_at_made(made, expected, size * (size - 1) / 2);
    return code;
}

static int make(const char *kind, MPI_Comm comm, MPI_Comm half, int round)
{
    MPI_Comm between;
    if (strcmp(kind, "group") == 0)
        return make_group(comm, round);
    int code = make_between(half, comm, &between);
    if (code != MPI_SUCCESS)
        return code;
    if (strcmp(kind, "merge") == 0)
        code = make_merged(between, round);
    else
        look_at_between(between);
    MPI_Comm_free(&between);
    return code;
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS, made = 0, class = MPI_SUCCESS, left, own_sum,
        code = MPI_SUCCESS;
    MPI_Comm comm = MPI_COMM_NULL, half = MPI_COMM_NULL, rest; /* in case of a death so early */
    MPI_Errhandler handler;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split(comm, rank < size / 2, rank, &half);
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(comm, strcmp(argv[1], "group") ? MPI_ERRORS_RETURN : handler);
    MPI_Comm_set_errhandler(half, strcmp(argv[1], "between") ? MPI_ERRORS_RETURN : handler);
    for (int round = 0; round < rounds && code == MPI_SUCCESS && (rank || strcmp(argv[1], "group"));
         round++) {
        code = make(argv[1], comm, half, round);
        made += code == MPI_SUCCESS;
    }
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    int errors = handled;
    if (class != MPI_SUCCESS)
        MPIX_Comm_revoke(half);
    while ((code = MPIX_Comm_shrink(MPI_COMM_WORLD, &rest)) != MPI_SUCCESS)
        ;
    own_sum = sum_of(rest);
    MPI_Comm_size(rest, &left);
    printf("rank %d: %d made, then class %d, %d wrong, %d handled, %d left%s\n", rank, made, class,
           wrong, errors, left, own_sum < 0 ? ", not usable" : "");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
