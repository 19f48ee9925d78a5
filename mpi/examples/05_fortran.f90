! The heat cells of 02_spares.c in Fortran: the same few lines make them survive.
!
!     runflat mpi build -o rf
!     mpifort rf/runflat.f90 05_fortran.f90 -Lrf -lrunflat_mpi -Wl,-rpath,$PWD/rf
!     runflat mpi run -n 4 --spares 1 --kill 2@0.3 ./a.out 400
program heat
  use runflat
  implicit none
  include 'mpif.h'

  integer, parameter :: CELLS = 100, EVERY = 10
  double precision, target :: cell(CELLS)
  double precision, allocatable :: all(:), old(:)
  double precision :: largest, error
  character(len=16) :: word
  integer(c_int) :: comm, code
  integer(c_int64_t) :: step, steps
  integer :: rank, size, at, ierr

  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import
      integer(c_int), value :: microseconds
    end function
  end interface

  steps = 200
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) steps
  end if
  call MPI_Init(ierr)
  if (RF_Init(RF_SPARES_FROM_LAUNCH, comm) /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  if (comm /= MPI_COMM_NULL) then
    code = RF_Protect(0, c_loc(cell), c_sizeof(cell))
    step = 0
    do
      if (RF_Shape() == RF_SMALLER) call MPI_Abort(MPI_COMM_WORLD, 4, ierr) ! a rod that lacks a part is of no use
      code = RF_Restore(comm, step)
      if (code == RF_ERR_NO_CHECKPOINT .or. code == RF_ERR_DATA_LOST) then
        call MPI_Comm_rank(comm, rank, ierr)
        do at = 1, CELLS
          cell(at) = first_value(rank * CELLS + at - 1)
        end do
        step = 0
        code = RF_Checkpoint(comm, step)
      end if
      do while (code == MPI_SUCCESS .and. step < steps)
        call compute(comm, cell, code)
        step = step + 1
        if (code == MPI_SUCCESS .and. mod(step, int(EVERY, c_int64_t)) == 0) code = RF_Checkpoint(comm, step)
      end do
      if (code == MPI_SUCCESS) then
        call MPI_Comm_rank(comm, rank, ierr)
        call MPI_Comm_size(comm, size, ierr)
        error = error_of(rank, size)
        call MPI_Allreduce(error, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, code)
      end if
      if (code == MPI_SUCCESS) code = RF_End(comm)
      if (code == MPI_SUCCESS) exit
      if (.not. RF_Is_failure(comm, code)) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      if (RF_Repair(comm) /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      rank = -1
      if (comm == MPI_COMM_NULL) exit ! its rank had moved on, and it was a spare to the end
    end do
    if (rank == 0) print '(i0,a,i0,a,es8.1)', size, ' ranks, ', steps, ' steps, largest error ', largest
  end if
  call MPI_Finalize(ierr)

contains

  double precision function first_value(number)
    integer, intent(in) :: number
    first_value = mod(number * 37, 101)
  end function

  ! One step of all ranks; what MPI says.
  subroutine compute(comm, cell, code)
    integer(c_int), intent(in) :: comm
    double precision, intent(inout) :: cell(CELLS)
    integer(c_int), intent(out) :: code
    double precision :: wide(0:CELLS + 1)
    integer :: rank, size, left, right, ierr
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, size, ierr)
    left = mod(rank + size - 1, size)
    right = mod(rank + 1, size)
    wide(1:CELLS) = cell
    call MPI_Sendrecv(cell(CELLS), 1, MPI_DOUBLE_PRECISION, right, 0, wide(0), 1, MPI_DOUBLE_PRECISION, left, 0, comm, &
                      MPI_STATUS_IGNORE, code)
    if (code == MPI_SUCCESS) &
      call MPI_Sendrecv(cell(1), 1, MPI_DOUBLE_PRECISION, left, 1, wide(CELLS + 1), 1, MPI_DOUBLE_PRECISION, right, 1, comm, &
                        MPI_STATUS_IGNORE, code)
    if (code == MPI_SUCCESS) cell = 0.25d0 * wide(0:CELLS - 1) + 0.5d0 * wide(1:CELLS) + 0.25d0 * wide(2:CELLS + 1)
    ierr = usleep(2000)
  end subroutine

  ! The largest difference to the same steps without MPI.
  double precision function error_of(rank, size)
    integer, intent(in) :: rank, size
    integer(c_int64_t) :: done
    integer :: at
    allocate (all(size * CELLS), old(0:size * CELLS + 1))
    all = [(first_value(at), at=0, size * CELLS - 1)]
    do done = 1, steps
      old(1:size * CELLS) = all
      old(0) = all(size * CELLS)
      old(size * CELLS + 1) = all(1)
      all = 0.25d0 * old(0:size * CELLS - 1) + 0.5d0 * old(1:size * CELLS) + 0.25d0 * old(2:)
    end do
    error_of = maxval(abs(cell - all(rank * CELLS + 1:(rank + 1) * CELLS)))
    deallocate (all, old)
  end function
end program
