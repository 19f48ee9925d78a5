/* What cannot be had although nobody has died: the class that each process gets, and whether the communicator can be used afterwards.
 *
 *     refused spawn|spawns|connect|accept     no such program; nobody at the port */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <stdio.h>
#include <string.h>

static int ask(const char *what, MPI_Comm comm, MPI_Comm *made)
{
    char *none = "./no-such-program", *commands[] = {none, none}, port[MPI_MAX_PORT_NAME] = "";
    int rank, codes[2], ones[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_rank(comm, &rank);
    if (strcmp(what, "spawn") == 0)
        return MPI_Comm_spawn(none, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 1, comm, made, codes);
    if (strcmp(what, "spawns") == 0)
        return MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, ones, infos, 0, comm, made,
                                       codes);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    return strcmp(what, "connect") == 0 ? MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, made)
                                        : MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, made);
}

int main(int argc, char **argv)
{
    int rank, class, one = 1, sum = 0;
    MPI_Comm comm, made = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    int code = ask(argv[1], comm, &made);
    MPI_Error_class(code, &class);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    printf("rank %d: %s, a failure: %d, made: %d, %d go on\n", rank,
           class == MPI_ERR_SPAWN  ? "SPAWN"
           : class == MPI_ERR_PORT ? "PORT"
                                   : "OTHER",
           RF_Is_failure(comm, code), made != MPI_COMM_NULL, sum);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
