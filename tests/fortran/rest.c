/* Fortran's names of calls that the library does not watch, for an Open MPI that is packaged without its Fortran library. */
#include <mpi.h>

void mpi_comm_rank_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *code)
{
    *code = MPI_Comm_rank(MPI_Comm_f2c(*comm), rank);
}

void mpi_comm_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *code)
{
    *code = MPI_Comm_size(MPI_Comm_f2c(*comm), size);
}
