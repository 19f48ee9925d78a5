/* Calls that MPI refuses, as it would alone: each says the class, and how often the error handler was called.
 *
 *     wrong calls    on no communicator, and with no place for what is made
 *     wrong files    a file that is not there, and one that is and must not be: the class at each process
 *     wrong fatal    more processes in a grid than there are, with the handler that ends the job */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <string.h>

static int times;

static void count_call(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    times++;
}

#define TELL(CALL)                                                                          \
    do {                                                                                    \
        int code_, class_;                                                                  \
        times = 0;                                                                          \
        code_ = CALL;                                                                       \
        MPI_Error_class(code_, &class_);                                                    \
        if (rank == 0)                                                                      \
            printf("%.*s: class %d, handler %d\n", (int)strcspn(#CALL, "("), #CALL, class_, \
                   times);                                                                  \
    } while (0)

static void make_calls(int rank)
{
    int one = 1, zero = 0, flag = 1, code;
    void *memory;
    MPI_Comm none = MPI_COMM_NULL, made;
    MPI_Group group;
    MPI_Win window;
    MPI_File file;
    MPI_Info info;
    MPI_Request request;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    TELL(MPI_Comm_dup(none, &made));
    TELL(MPI_Comm_dup_with_info(none, MPI_INFO_NULL, &made));
    TELL(MPI_Comm_idup(none, &made, &request));
    TELL(MPI_Comm_split(none, 0, 0, &made));
    TELL(MPI_Comm_split_type(none, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
    TELL(MPI_Comm_create(none, group, &made));
    TELL(MPI_Comm_create_group(none, group, 0, &made));
    TELL(MPI_Cart_create(none, 1, &one, &zero, 0, &made));
    TELL(MPI_Cart_sub(none, &one, &made));
    TELL(MPI_Graph_create(none, 1, &zero, &zero, 0, &made));
    TELL(MPI_Dist_graph_create(none, 0, &zero, &zero, &zero, &zero, MPI_INFO_NULL, 0, &made));
    TELL(MPI_Dist_graph_create_adjacent(none, 0, &zero, &zero, 0, &zero, &zero, MPI_INFO_NULL, 0,
                                        &made));
    TELL(MPI_Intercomm_create(none, 0, MPI_COMM_WORLD, 0, 0, &made));
    TELL(MPI_Intercomm_merge(none, 0, &made));
    TELL(MPI_Comm_spawn("./none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, none, &made, &code));
    TELL(MPI_Comm_accept("none", MPI_INFO_NULL, 0, none, &made));
    TELL(MPI_Comm_connect("none", MPI_INFO_NULL, 0, none, &made));
    TELL(MPIX_Comm_shrink(none, &made));
    TELL(MPIX_Comm_iagree(none, &flag, &request));
    TELL(MPIX_Comm_agree(none, &flag));
    TELL(MPI_Comm_set_info(none, MPI_INFO_NULL));
    TELL(MPI_Comm_get_info(none, &info));
    TELL(MPI_Barrier(none));
    TELL(MPI_Ibarrier(none, &request));
    TELL(MPI_Barrier_init(none, MPI_INFO_NULL, &request));
    TELL(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, none, &window));
    TELL(MPI_Win_allocate(8, 1, MPI_INFO_NULL, none, &memory, &window));
    TELL(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, none, &memory, &window));
    TELL(MPI_Win_create_dynamic(MPI_INFO_NULL, none, &window));
    TELL(MPI_File_open(none, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    puts(rank == 0 ? "no place:" : "");
    TELL(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    TELL(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
    TELL(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL));
    TELL(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &request));
    TELL(MPI_File_close(NULL));
}

enum { OPENS = 40 };

static void open_files(int rank, const char *name)
{
    int same = 0, class, first = -1;
    for (int at = 0; at < OPENS; at++) {
        MPI_File file;
        int how = at % 2 ? MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
        int code =
            MPI_File_open(MPI_COMM_WORLD, at % 2 ? name : "./none", how, MPI_INFO_NULL, &file);
        MPI_Error_class(code, &class);
        same += class == (at % 2 ? MPI_ERR_FILE_EXISTS : MPI_ERR_NO_SUCH_FILE);
        first = first < 0 ? class : first;
    }
    printf("rank %d: %d of %d as they are, the first %d\n", rank, same, OPENS, first);
}

int main(int argc, char **argv)
{
    int rank, many = 99, zero = 0;
    MPI_Comm made;
    MPI_Errhandler handler;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "fatal") == 0)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &many, &zero, 0, &made);
    MPI_Comm_create_errhandler(count_call, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (strcmp(argv[1], "calls") == 0)
        make_calls(rank);
    else
        open_files(rank, argv[0]);
    MPI_Finalize();
    return 0;
}
