! What the programs need of Open MPI's mpif.h, for an Open MPI that was built with Fortran and packaged without it.
      integer MPI_COMM_WORLD, MPI_COMM_NULL, MPI_SUCCESS, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_STATUS_SIZE
      parameter (MPI_COMM_WORLD=0, MPI_COMM_NULL=2, MPI_SUCCESS=0, MPI_DOUBLE_PRECISION=17, MPI_MAX=1)
      parameter (MPI_STATUS_SIZE=6)
      integer MPI_COMM_SELF, MPI_REQUEST_NULL, MPI_INFO_NULL, MPI_WIN_NULL, MPI_FILE_NULL, MPI_ERRORS_RETURN
      parameter (MPI_COMM_SELF=1, MPI_REQUEST_NULL=0, MPI_INFO_NULL=0, MPI_WIN_NULL=0, MPI_FILE_NULL=0)
      parameter (MPI_ERRORS_RETURN=2)
      integer MPI_INTEGER, MPI_CHARACTER, MPI_SUM, MPI_MODE_CREATE, MPI_MODE_RDWR, MPI_MAX_PORT_NAME
      parameter (MPI_INTEGER=7, MPI_CHARACTER=5, MPI_SUM=3, MPI_MODE_CREATE=1, MPI_MODE_RDWR=8)
      parameter (MPI_MAX_PORT_NAME=1023)
      integer MPI_ADDRESS_KIND
      parameter (MPI_ADDRESS_KIND=8)
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE), MPI_IN_PLACE, MPI_UNWEIGHTED(1), MPI_ERRCODES_IGNORE(1)
      character*1 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1, 1)
      common/mpi_fortran_status_ignore/MPI_STATUS_IGNORE
      common/mpi_fortran_in_place/MPI_IN_PLACE
      common/mpi_fortran_unweighted/MPI_UNWEIGHTED
      common/mpi_fortran_errcodes_ignore/MPI_ERRCODES_IGNORE
      common/mpi_fortran_argv_null/MPI_ARGV_NULL
      common/mpi_fortran_argvs_null/MPI_ARGVS_NULL
