/* Jobs that come together without waiting.
 *
 *     dynamic spawn COUNT    COUNT spawns of two processes each under way at once, every other by ispawn_multiple, posted in opposite orders by odd and even ranks
 *     dynamic meet COUNT     ranks in COUNT + 1 groups: the first accepts the others at a port each, in opposite orders too
 *
 * A further word: what has been joined is not used, which would wait for those who have given up.
 *
 * Each process prints how many communicators it has got, how many of them have the right sum of all processes, and the longest call
 * of MPI_Testall in ms; a process that was spawned prints nothing. With a failure all that live of a group get the same number. */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 2, MOST = 16 };

/* Over both sides, each process adds one. */
static int is_whole(MPI_Comm between, int high)
{
    MPI_Comm all;
    int one = 1, sum = 0, own, other;
    MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    MPI_Comm_size(between, &own);
    MPI_Comm_remote_size(between, &other);
    if (MPI_Intercomm_merge(between, high, &all) != MPI_SUCCESS)
        return 0;
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    return sum == own + other;
}

int main(int argc, char **argv)
{
    static int codes[MOST][EACH];
    MPI_Comm parent, side, copies[MOST], made[MOST];
    MPI_Request requests[MOST];
    char ports[MOST][MPI_MAX_PORT_NAME];
    int rank, size, count = argc > 2 ? atoi(argv[2]) : 1, done = 0, tests = 0, whole = 0, got = 0;
    double longest = 0;
    char *commands[EACH] = {argv[0], argv[0]};
    const int ones[EACH] = {1, 1};
    const MPI_Info infos[EACH] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        is_whole(parent, 1);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int group = strcmp(argv[1], "meet") == 0 ? rank % (count + 1) : -1;
    MPI_Comm_split(MPI_COMM_WORLD, group + 1, rank, &side);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int at = 0; at < count; at++) {
        MPI_Comm_dup(side, &copies[at]);
        MPI_Comm_set_errhandler(copies[at], MPI_ERRORS_RETURN);
        made[at] = MPI_COMM_NULL;
        requests[at] = MPI_REQUEST_NULL;
        if (rank == 0 && group == 0)
            MPI_Open_port(MPI_INFO_NULL, ports[at]);
    }
    MPI_Bcast(ports, sizeof ports, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int turn = 0; turn < count; turn++) {
        int at = rank % 2 ? count - 1 - turn : turn;
        if (group < 0 && at % 2)
            MPIX_Comm_ispawn_multiple(EACH, commands, MPI_ARGVS_NULL, ones, infos, 0, copies[at],
                                      &made[at], codes[at], &requests[at]);
        else if (group < 0)
            MPIX_Comm_ispawn(argv[0], MPI_ARGV_NULL, EACH, MPI_INFO_NULL, 0, copies[at], &made[at],
                             codes[at], &requests[at]);
        else if (group == 0)
            MPIX_Comm_iaccept(ports[at], MPI_INFO_NULL, 0, copies[at], &made[at], &requests[at]);
        else if (group == at + 1)
            MPIX_Comm_iconnect(ports[at], MPI_INFO_NULL, 0, copies[at], &made[at], &requests[at]);
    }
    for (; !done; tests++) {
        double begin = MPI_Wtime();
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (MPI_Wtime() - begin > longest)
            longest = MPI_Wtime() - begin;
    }
    for (int at = 0; at < count; at++) {
        got += made[at] != MPI_COMM_NULL;
        whole += made[at] != MPI_COMM_NULL && argc < 4 && is_whole(made[at], group > 0);
    }
    printf("rank %d of group %d: %d joined, %d whole, %d tests, the longest took %.1f ms\n", rank,
           group, got, whole, tests, 1e3 * longest);
    MPI_Finalize();
    return 0;
}
