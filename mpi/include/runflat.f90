! Recovery for MPI programs in Fortran: the calls of runflat.h. Compile it with the program, link with -lrunflat_mpi.
!
! Communicators are the integers of mpif.h and the module mpi (of mpi_f08: comm%MPI_VAL). Functions return MPI_SUCCESS, an MPI
! error class, or one of the codes here.
module runflat
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: RF_ERR_NO_SPARE = -101, RF_ERR_DATA_LOST = -102, RF_ERR_NO_CHECKPOINT = -103, &
                               RF_ERR_UNPROTECTED = -104, RF_ERR_ARGUMENT = -105
  integer(c_int), parameter :: RF_SPARES_FROM_LAUNCH = -1, RF_SAME_SIZE = 0, RF_SMALLER = 1

  interface
    integer(c_int) function RF_Init(spares, comm) bind(c, name='RF_Init_f')
      import
      integer(c_int), value :: spares
      integer(c_int), intent(out) :: comm
    end function

    integer(c_int) function RF_Repair(comm) bind(c, name='RF_Repair_f')
      import
      integer(c_int), intent(inout) :: comm
    end function

    integer(c_int) function RF_Refill(comm) bind(c, name='RF_Refill_f')
      import
      integer(c_int), intent(inout) :: comm
    end function

    integer(c_int) function RF_Spares() bind(c, name='RF_Spares')
      import
    end function

    integer(c_int) function RF_End(comm) bind(c, name='RF_End_f')
      import
      integer(c_int), intent(inout) :: comm
    end function

    integer(c_int) function RF_Shape() bind(c, name='RF_Shape')
      import
    end function

    ! memory: c_loc of a variable with the target attribute; bytes: c_sizeof of it.
    integer(c_int) function RF_Protect(id, memory, bytes) bind(c, name='RF_Protect')
      import
      integer(c_int), value :: id
      type(c_ptr), value :: memory
      integer(c_size_t), value :: bytes
    end function

    integer(c_int) function RF_Checkpoint(comm, version) bind(c, name='RF_Checkpoint_f')
      import
      integer(c_int), value :: comm
      integer(c_int64_t), value :: version
    end function

    integer(c_int) function RF_Icheckpoint(comm, version, request) bind(c, name='RF_Icheckpoint_f')
      import
      integer(c_int), value :: comm
      integer(c_int64_t), value :: version
      integer(c_int), intent(out) :: request
    end function

    integer(c_int) function RF_Restore(comm, version) bind(c, name='RF_Restore_f')
      import
      integer(c_int), value :: comm
      integer(c_int64_t), intent(inout) :: version
    end function
  end interface
end module
