/* A process dies after it has spawned others: do all that live come back from MPI_Comm_disconnect?
 *
 *     disconnect WHO     WHO: "spawned" alone disconnect, or "all" do
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { SPAWNED = 2, VICTIM = 1 };

int main(int argc, char **argv)
{
    MPI_Comm others, all;
    char *words[] = {"spawned", NULL};
    int rank, class;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&others);
    int is_spawned = others != MPI_COMM_NULL;
    if (!is_spawned && MPI_Comm_spawn(argv[0], words, SPAWNED, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                      &others, MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        return 2;
    if (!is_spawned && rank == VICTIM)
        raise(SIGKILL);
    MPI_Comm_set_errhandler(others, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Intercomm_merge(others, is_spawned, &all), &class);
    if (is_spawned || strcmp(argv[1], "all") == 0)
        MPI_Comm_disconnect(&others);
    else
        MPI_Comm_free(&others);
    printf("%s %d: class %d, done\n", is_spawned ? "spawned" : "rank", rank, class);
    fflush(stdout);
    return MPI_Finalize();
}
