! What the examples need of Open MPI's mpif.h, for an Open MPI that was built with Fortran and packaged without it.
      integer MPI_COMM_WORLD, MPI_COMM_NULL, MPI_SUCCESS, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_STATUS_SIZE
      parameter (MPI_COMM_WORLD=0, MPI_COMM_NULL=2, MPI_SUCCESS=0, MPI_DOUBLE_PRECISION=17, MPI_MAX=1)
      parameter (MPI_STATUS_SIZE=6)
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      common/mpi_fortran_status_ignore/MPI_STATUS_IGNORE
