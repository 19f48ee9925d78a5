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

/* The status is not given back: the example does not look at it. */
void mpi_sendrecv_(void *out, MPI_Fint *out_count, MPI_Fint *out_type, MPI_Fint *to,
                   MPI_Fint *out_tag, void *in, MPI_Fint *in_count, MPI_Fint *in_type,
                   MPI_Fint *from, MPI_Fint *in_tag, MPI_Fint *comm, MPI_Fint *status,
                   MPI_Fint *code)
{
    (void)status;
    *code = MPI_Sendrecv(out, *out_count, MPI_Type_f2c(*out_type), *to, *out_tag, in, *in_count,
                         MPI_Type_f2c(*in_type), *from, *in_tag, MPI_Comm_f2c(*comm),
                         MPI_STATUS_IGNORE);
}
