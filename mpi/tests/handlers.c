/* Which error handler has what is made from a communicator, whose own is each of three kinds?
 *
 *     handlers       with two processes; without the library it says the same
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>

static int rank;

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static const char *kind_of(MPI_Errhandler handler)
{
    if (handler == MPI_ERRORS_ARE_FATAL)
        return "fatal";
    return handler == MPI_ERRORS_RETURN ? "returned" : "the program's own";
}

/* Also frees it. */
static void tell(const char *call, MPI_Comm *made)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(*made, &handler);
    if (rank == 0)
        printf("%s: %s\n", call, kind_of(handler));
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(made);
}

static void tell_of_topologies(MPI_Comm comm)
{
    int size = 2, no = 0, index[] = {1, 2}, edges[] = {1, 0}, other = 1 - rank, one = 1;
    MPI_Comm made, part;
    MPI_Cart_create(comm, 1, &size, &no, 0, &made);
    MPI_Cart_sub(made, &no, &part);
    tell("MPI_Cart_sub", &part);
    tell("MPI_Cart_create", &made);
    MPI_Graph_create(comm, 2, index, edges, 0, &made);
    tell("MPI_Graph_create", &made);
    MPI_Dist_graph_create(comm, 1, &rank, &one, &other, &one, MPI_INFO_NULL, 0, &made);
    tell("MPI_Dist_graph_create", &made);
    MPI_Dist_graph_create_adjacent(comm, 1, &other, &one, 1, &other, &one, MPI_INFO_NULL, 0, &made);
    tell("MPI_Dist_graph_create_adjacent", &made);
}

static void tell_of_copies(MPI_Comm comm)
{
    MPI_Comm made;
    MPI_Request request;
    MPI_Comm_dup(comm, &made);
    tell("MPI_Comm_dup", &made);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
    tell("MPI_Comm_dup_with_info", &made);
    MPI_Comm_idup(comm, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell("MPI_Comm_idup", &made);
    MPI_Comm_split(comm, 0, rank, &made);
    tell("MPI_Comm_split", &made);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    tell("MPI_Comm_split_type", &made);
    MPIX_Comm_shrink(comm, &made);
    tell("MPIX_Comm_shrink", &made);
}

static void tell_of_groups(MPI_Comm comm)
{
    MPI_Comm made, between;
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    MPI_Comm_create(comm, group, &made);
    tell("MPI_Comm_create", &made);
    MPI_Comm_create_group(comm, group, 3, &made);
    tell("MPI_Comm_create_group", &made);
    MPI_Group_free(&group);
    /* Its own part has the handler that the call looks at. */
    MPI_Comm_split(comm, rank, 0, &made);
    MPI_Intercomm_create(made, 0, comm, 1 - rank, 4, &between);
    MPI_Comm_free(&made);
    MPI_Comm_dup(between, &made);
    tell("MPI_Comm_dup of both sides", &made);
    MPI_Intercomm_merge(between, rank, &made);
    tell("MPI_Intercomm_merge", &made);
    tell("MPI_Intercomm_create", &between);
}

static void tell_of_objects(MPI_Comm comm)
{
    MPI_Win window;
    MPI_File file;
    MPI_Errhandler handler;
    MPI_Win_create(&rank, sizeof rank, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_get_errhandler(window, &handler);
    if (rank == 0)
        printf("MPI_Win_create: %s\n", kind_of(handler));
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&window);
    MPI_File_open(comm, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_get_errhandler(file, &handler);
    if (rank == 0)
        printf("MPI_File_open: %s\n", kind_of(handler));
    MPI_Errhandler_free(&handler);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Errhandler own, kinds[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(ignore, &own);
    kinds[0] = MPI_ERRORS_ARE_FATAL;
    kinds[1] = MPI_ERRORS_RETURN;
    kinds[2] = own;
    for (int kind = 0; kind < 3; kind++) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, kinds[kind]);
        tell_of_copies(MPI_COMM_WORLD);
        tell_of_topologies(MPI_COMM_WORLD);
        tell_of_groups(MPI_COMM_WORLD);
        tell_of_objects(MPI_COMM_WORLD);
    }
    MPI_Errhandler_free(&own);
    MPI_Finalize();
    return 0;
}
