! Recovery for MPI programs in Fortran: the calls of runflat.h. Compile it with the program, link with -lrunflat_mpi.
!
! Communicators are the integers of mpif.h and the module mpi (of mpi_f08: comm%MPI_VAL). Functions return MPI_SUCCESS, an MPI
! error class, or one of the codes here.
!
! Calls that post a request for a communicator (RF_Comm_irepair, MPIX_Comm_ishrink and their kind) make one of C: a type(c_ptr),
! valid when MPI_Wait or MPI_Test has ended the request; RF_Comm_of gives its integer. Until then it stays where it is, as do
! strings and arrays: variables with the attributes target and asynchronous (and save in a procedure). Strings end with
! c_null_char. MPIX_Comm_ispawn_multiple is C's alone.
!
!     type(c_ptr), target, asynchronous :: made
!     code = MPIX_Comm_ishrink(comm, made, request)
!     call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
!     smaller = RF_Comm_of(made)

! C's own calls, and its handles of Fortran's; for the module runflat.
module runflat_c
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int) function c_irepair(comm, repaired, request) bind(c, name='RF_Comm_irepair')
      import
      type(c_ptr), value :: comm, repaired
      type(c_ptr), intent(inout) :: request
    end function

    integer(c_int) function c_ishrink(comm, made, request) bind(c, name='MPIX_Comm_ishrink')
      import
      type(c_ptr), value :: comm, made
      type(c_ptr), intent(inout) :: request
    end function

    integer(c_int) function c_ispawn(command, words, count, info, root, comm, made, codes, request) &
      bind(c, name='MPIX_Comm_ispawn')
      import
      type(c_ptr), value :: command, words, info, comm, made, codes
      integer(c_int), value :: count, root
      type(c_ptr), intent(inout) :: request
    end function

    integer(c_int) function c_iconnect(port, info, root, comm, made, request) bind(c, name='MPIX_Comm_iconnect')
      import
      type(c_ptr), value :: port, info, comm, made
      integer(c_int), value :: root
      type(c_ptr), intent(inout) :: request
    end function

    integer(c_int) function c_iaccept(port, info, root, comm, made, request) bind(c, name='MPIX_Comm_iaccept')
      import
      type(c_ptr), value :: port, info, comm, made
      integer(c_int), value :: root
      type(c_ptr), intent(inout) :: request
    end function

    type(c_ptr) function c_comm(comm) bind(c, name='MPI_Comm_f2c')
      import
      integer(c_int), value :: comm
    end function

    type(c_ptr) function c_info(info) bind(c, name='MPI_Info_f2c')
      import
      integer(c_int), value :: info
    end function

    type(c_ptr) function c_request(request) bind(c, name='MPI_Request_f2c')
      import
      integer(c_int), value :: request
    end function

    integer(c_int) function f_request(request) bind(c, name='MPI_Request_c2f')
      import
      type(c_ptr), value :: request
    end function

    integer(c_int) function c_is_failure(comm, code) bind(c, name='RF_Is_failure_f')
      import
      integer(c_int), value :: comm, code
    end function
  end interface
end module

module runflat
  use, intrinsic :: iso_c_binding
  use runflat_c
  implicit none
  private :: c_irepair, c_ishrink, c_ispawn, c_iconnect, c_iaccept, c_comm, c_info, c_request, f_request, &
             c_is_failure, NO_REQUEST

  integer(c_int), parameter :: RF_ERR_NO_SPARE = -101, RF_ERR_DATA_LOST = -102, RF_ERR_NO_CHECKPOINT = -103, &
                               RF_ERR_UNPROTECTED = -104, RF_ERR_ARGUMENT = -105
  integer(c_int), parameter :: RF_SPARES_FROM_LAUNCH = -1, RF_SAME_SIZE = 0, RF_SMALLER = 1
  integer(c_int), parameter :: NO_REQUEST = 0 ! Open MPI's MPI_REQUEST_NULL

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

    ! The integer of a communicator of C; of a request that has ended.
    integer(c_int) function RF_Comm_of(made) bind(c, name='MPI_Comm_c2f')
      import
      type(c_ptr), value :: made
    end function
  end interface

contains

  ! Whether a code that a call on comm has returned says that processes have failed: RF_Repair is what comes next then.
  logical function RF_Is_failure(comm, code)
    integer(c_int), intent(in) :: comm, code
    RF_Is_failure = c_is_failure(comm, code) /= 0
  end function

  ! RF_Repair as a request; MPI_COMM_NULL then: give it to RF_Repair, see runflat.h.
  integer(c_int) function RF_Comm_irepair(comm, repaired, request)
    integer(c_int), intent(in) :: comm
    type(c_ptr), target, asynchronous, intent(inout) :: repaired
    integer(c_int), intent(out) :: request
    type(c_ptr) :: own
    own = c_request(NO_REQUEST)
    RF_Comm_irepair = c_irepair(c_comm(comm), c_loc(repaired), own)
    request = f_request(own)
  end function

  integer(c_int) function MPIX_Comm_ishrink(comm, made, request)
    integer(c_int), intent(in) :: comm
    type(c_ptr), target, asynchronous, intent(inout) :: made
    integer(c_int), intent(out) :: request
    type(c_ptr) :: own
    own = c_request(NO_REQUEST)
    MPIX_Comm_ishrink = c_ishrink(c_comm(comm), c_loc(made), own)
    request = f_request(own)
  end function

  ! words: c_loc of each, and c_null_ptr as the last one; codes: count of them.
  integer(c_int) function MPIX_Comm_ispawn(command, words, count, info, root, comm, made, codes, request)
    character(kind=c_char), target, asynchronous, intent(in) :: command(*)
    type(c_ptr), target, asynchronous, intent(in) :: words(*)
    integer(c_int), intent(in) :: count, info, root, comm
    type(c_ptr), target, asynchronous, intent(inout) :: made
    integer(c_int), target, asynchronous, intent(inout) :: codes(*)
    integer(c_int), intent(out) :: request
    type(c_ptr) :: own
    own = c_request(NO_REQUEST)
    MPIX_Comm_ispawn = c_ispawn(c_loc(command), c_loc(words), count, c_info(info), root, c_comm(comm), &
                                c_loc(made), c_loc(codes), own)
    request = f_request(own)
  end function

  integer(c_int) function MPIX_Comm_iconnect(port, info, root, comm, made, request)
    character(kind=c_char), target, asynchronous, intent(in) :: port(*)
    integer(c_int), intent(in) :: info, root, comm
    type(c_ptr), target, asynchronous, intent(inout) :: made
    integer(c_int), intent(out) :: request
    type(c_ptr) :: own
    own = c_request(NO_REQUEST)
    MPIX_Comm_iconnect = c_iconnect(c_loc(port), c_info(info), root, c_comm(comm), c_loc(made), own)
    request = f_request(own)
  end function

  integer(c_int) function MPIX_Comm_iaccept(port, info, root, comm, made, request)
    character(kind=c_char), target, asynchronous, intent(in) :: port(*)
    integer(c_int), intent(in) :: info, root, comm
    type(c_ptr), target, asynchronous, intent(inout) :: made
    integer(c_int), intent(out) :: request
    type(c_ptr) :: own
    own = c_request(NO_REQUEST)
    MPIX_Comm_iaccept = c_iaccept(c_loc(port), c_info(info), root, c_comm(comm), c_loc(made), own)
    request = f_request(own)
  end function
end module
