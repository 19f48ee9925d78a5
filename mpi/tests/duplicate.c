/* Copies of communicators as requests: what they have, and that all have them or none when processes die.
 *
 *     duplicate COUNT [rounds]     rounds: these alone, until a process dies
 *
 * Each process prints what its copy of a torus has, then how many of COUNT copies under way at once it got, in rounds until one fails. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, ROUNDS = 400 };

static int deleted;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *wanted)
{
    (void)comm;
    (void)key;
    (void)extra;
    *(void **)copied = (char *)value + 1;
    *wanted = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void look_at_copy(int rank)
{
    int lengths[1] = {0}, periodic[1] = {1}, key, other, there, there_too, kind, sum;
    void *value;
    MPI_Comm torus, made;
    MPI_Request request;
    MPI_Info info;
    MPI_Errhandler handler;
    char range[MPI_MAX_INFO_VAL] = "none";
    MPI_Comm_size(MPI_COMM_WORLD, lengths);
    MPI_Cart_create(MPI_COMM_WORLD, 1, lengths, periodic, 0, &torus);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_range", "group");
    MPI_Comm_set_info(torus, info);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(torus, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, drop, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
    MPI_Comm_set_attr(torus, key, &deleted);
    MPI_Comm_set_attr(torus, other, &deleted);
    MPI_Comm_idup(torus, &made, &request);
    MPI_Comm_delete_attr(torus, key);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(made, key, &value, &there);
    MPI_Comm_get_attr(made, other, &value, &there_too);
    MPI_Comm_get_attr(made, key, &value, &there);
    MPI_Topo_test(made, &kind);
    MPI_Comm_get_errhandler(made, &handler);
    MPI_Comm_get_info(made, &info);
    MPI_Info_get(info, "mpix_error_range", MPI_MAX_INFO_VAL - 1, range, &there_too);
    MPI_Info_free(&info);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    printf("rank %d: attribute %d, torus %d, returns %d, range %s, sum %d\n", rank,
           there && (char *)value == (char *)&deleted + 1, kind == MPI_CART,
           handler == MPI_ERRORS_RETURN, range, sum);
    MPI_Comm_free(&made);
    MPI_Comm_free(&torus);
}

int main(int argc, char **argv)
{
    int rank, count = argc > 1 ? atoi(argv[1]) : 1, made = 0, size, flag = 1;
    MPI_Comm copies[MOST], rest;
    MPI_Request requests[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        look_at_copy(rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0, failed = 0; (argc > 2 || round < ROUNDS) && !failed; round++) {
        for (int at = 0; at < count; at++)
            MPI_Comm_idup(MPI_COMM_WORLD, &copies[at], &requests[at]);
        for (int at = 0; at < count; at++) {
            int code = MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
            failed += code != MPI_SUCCESS;
            made += code == MPI_SUCCESS;
        }
        for (int at = 0; at < count && !failed; at++)
            MPI_Comm_free(&copies[at]);
    }
    MPIX_Comm_shrink(MPI_COMM_WORLD, &rest);
    MPI_Comm_size(rest, &size);
    MPIX_Comm_agree(rest, &flag);
    printf("rank %d: %d made, %d left\n", rank, made, size);
    MPI_Finalize();
    return 0;
}
