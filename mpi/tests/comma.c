/* A program whose numbers have a comma: what the library reads and writes has a point all the same.
 *
 *     runflat mpi run -n 3 --kill 1@0.4 ./comma de_DE.UTF-8 */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc < 2 || !setlocale(LC_ALL, argv[1]))
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        ;
    printf("a failure, %.1f\n", 1.5);
    MPI_Finalize();
    return 0;
}
