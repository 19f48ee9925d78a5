! The last rank dies before the third of some calls; who else sees it without help depends on the call: its neighbors, or nobody.
program uniform
  use, intrinsic :: iso_c_binding
  implicit none
  include 'mpif.h'
  integer, parameter :: KILL = 9
  character(len=16) :: what
  integer :: rank, size, info, grid, comm, request, value, got(2), lengths(1), step, code, class, ierr
  logical :: periodic(1)

  interface
    integer(c_int) function raise(signal) bind(c)
      import
      integer(c_int), value :: signal
    end function
  end interface

  call get_command_argument(1, what)
  call MPI_Init(ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'mpix_error_uniform', 'coll', ierr)
  lengths = size
  periodic = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, lengths, periodic, .false., grid, ierr)
  call MPI_Comm_dup_with_info(grid, info, comm, ierr)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  value = 7
  if (what == 'persistent') call MPI_Bcast_init(value, 1, MPI_INTEGER, 0, comm, MPI_INFO_NULL, request, ierr)
  do step = 1, 4
    if (step == 3 .and. rank == size - 1) ierr = raise(KILL)
    if (what == 'persistent') then
      call MPI_Start(request, code)
      if (code == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    else
      call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm, code)
    end if
    if (code /= MPI_SUCCESS) exit
  end do
  call MPI_Error_class(code, class, ierr)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' stops at ', step, ' with ', class
  call MPI_Finalize(ierr)
end program
