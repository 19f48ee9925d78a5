! Calls that go through the library by their Fortran names; each value is compared with what it is to be. Four ranks.
program calls
  use, intrinsic :: iso_c_binding
  implicit none
  include 'mpif.h'
  integer, parameter :: RANKS = 4
  character(len=64) :: words(2)
  integer :: rank, ierr, wrong = 0

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (command_argument_count() > 1) then
    call get_command_argument(1, words(1))
    call get_command_argument(2, words(2))
    print '(4a)', 'child ', trim(words(1)), ' ', trim(words(2))
    call join_parents()
  else
    call gather_neighbors()
    call exchange_types()
    call reduce_again()
    call make_communicators()
    call meet_the_other_half()
    call use_a_window()
    call use_a_file()
    call spawn()
    print '(a,i0,a,i0,a)', 'rank ', rank, ' has ', wrong, ' wrong'
  end if
  call MPI_Finalize(ierr)

contains

  subroutine expect(what, value, wanted)
    character(len=*), intent(in) :: what
    integer, intent(in) :: value, wanted
    if (value == wanted) return
    wrong = wrong + 1
    print '(a,i0,3a,i0,a,i0)', 'wrong: rank ', rank, ', ', what, ': ', value, ', not ', wanted
  end subroutine

  integer function left()
    left = mod(rank + RANKS - 1, RANKS)
  end function

  integer function right()
    right = mod(rank + 1, RANKS)
  end function

  ! A ring of a grid, and the same as two kinds of graphs.
  subroutine gather_neighbors()
    integer :: ring, graph, lengths(1), ends(RANKS), edges(2 * RANKS), got(2), counts(2), places(2), types(2), request, at
    integer(MPI_ADDRESS_KIND) :: far(2)
    logical :: periodic(1)
    lengths = RANKS
    periodic = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, lengths, periodic, .false., ring, ierr)
    got = -1
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, ierr)
    call expect('grid, left', got(1), left())
    call expect('grid, right', got(2), right())
    counts = 1
    places = [0, 1]
    got = -1
    call MPI_Neighbor_allgatherv(rank, 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, ierr)
    call expect('gatherv, right', got(2), right())
    got = -1
    call MPI_Neighbor_alltoall([10 * rank, 10 * rank + 1], 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, ierr)
    call expect('alltoall, from the left', got(1), 10 * left() + 1)
    got = -1
    call MPI_Neighbor_alltoallv([10 * rank, 10 * rank + 1], counts, places, MPI_INTEGER, got, counts, places, MPI_INTEGER, &
                                ring, ierr)
    call expect('alltoallv, from the right', got(2), 10 * right())
    far = [0, 4]
    types = MPI_INTEGER
    got = -1
    call MPI_Neighbor_alltoallw([10 * rank, 10 * rank + 1], counts, far, types, got, counts, far, types, ring, ierr)
    call expect('alltoallw, from the left', got(1), 10 * left() + 1)
    got = -1
    call MPI_Ineighbor_alltoallw([rank, rank], counts, far, types, got, counts, far, types, ring, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect('ialltoallw, from the right', got(2), right())
    got = -1
    call MPI_Ineighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect('iallgather, from the left', got(1), left())
    call MPI_Comm_free(ring, ierr)
    call expect('a freed communicator', ring, MPI_COMM_NULL)

    ends = [(2 * at, at=1, RANKS)]
    edges = [(mod(at + RANKS - 1, RANKS), mod(at + 1, RANKS), at=0, RANKS - 1)]
    call MPI_Graph_create(MPI_COMM_WORLD, RANKS, ends, edges, .false., graph, ierr)
    got = -1
    call MPI_Neighbor_alltoallw([rank, rank], counts, far, types, got, counts, far, types, graph, ierr)
    call expect('graph, sum', sum(got), left() + right())
    call MPI_Comm_free(graph, ierr)

    ! One way round: from the left, to the right.
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left()], MPI_UNWEIGHTED, 1, [right()], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., graph, ierr)
    got = -1
    call MPI_Neighbor_alltoallw([rank, -1], counts, far, types, got, counts, far, types, graph, ierr)
    call expect('one way, from the left', got(1), left())
    call expect('one way, nothing more', got(2), -1)
    call MPI_Comm_free(graph, ierr)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [right()], [5], MPI_INFO_NULL, .false., graph, ierr)
    got = -1
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph, ierr)
    call expect('with weights, from the left', got(1), left())
    call MPI_Comm_free(graph, ierr)
  end subroutine

  ! Each pair has its own type: one number of eight bytes, or two of four.
  subroutine exchange_types()
    double precision :: out(RANKS), in(RANKS)
    integer :: counts(RANKS), places(RANKS), types(RANKS), at, form, request
    do at = 1, RANKS
      out(at) = 10 * rank + at - 1
      places(at) = 8 * (at - 1)
      types(at) = merge(MPI_DOUBLE_PRECISION, MPI_INTEGER, mod(rank + at - 1, 2) == 0)
      counts(at) = merge(1, 2, mod(rank + at - 1, 2) == 0)
    end do
    do form = 1, 3
      in = -1
      if (form == 1) then
        call MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, ierr)
      else if (form == 2) then
        call MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      else
        call MPI_Alltoallw_init(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, MPI_INFO_NULL, &
                                request, ierr)
        types = -1
        call MPI_Start(request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Request_free(request, ierr)
        call expect('a freed request', request, MPI_REQUEST_NULL)
      end if
      do at = 1, RANKS
        call expect('types', int(in(at)), 10 * (at - 1) + rank)
      end do
    end do
    call MPI_Alltoallw(MPI_IN_PLACE, counts, places, counts, in, counts, places, &
                       [(merge(MPI_DOUBLE_PRECISION, MPI_INTEGER, mod(rank + at - 1, 2) == 0), at=1, RANKS)], &
                       MPI_COMM_WORLD, ierr)
    call expect('types in place', int(sum(in)), int(sum(out)))
  end subroutine

  subroutine reduce_again()
    integer :: requests(2), out(2), in(2), turn
    logical :: done
    call MPI_Allreduce_init(out(1), in(1), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierr)
    call MPI_Bcast_init(out(2), 1, MPI_INTEGER, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierr)
    do turn = 1, 3
      out = turn * rank
      call MPI_Startall(2, requests, ierr)
      done = .false.
      do while (.not. done)
        call MPI_Request_get_status(requests(1), done, MPI_STATUS_IGNORE, ierr)
      end do
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
      call expect('sum', in(1), turn * RANKS * (RANKS - 1) / 2)
      call expect('of rank 1', out(2), turn)
    end do
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
  end subroutine

  subroutine make_communicators()
    integer :: made, info, all, some, half, between, request, size
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'mpix_error_uniform', 'create', ierr)
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, made, ierr)
    call MPI_Comm_size(made, size, ierr)
    call expect('dup_with_info', size, RANKS)
    call MPI_Comm_free(made, ierr)
    call MPI_Comm_idup(MPI_COMM_WORLD, made, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Comm_size(made, size, ierr)
    call expect('idup', size, RANKS)
    call MPI_Comm_disconnect(made, ierr)
    call expect('disconnect', made, MPI_COMM_NULL)
    call MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, made, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Comm_size(made, size, ierr)
    call expect('idup_with_info', size, RANKS)
    call MPI_Comm_free(made, ierr)

    call MPI_Comm_group(MPI_COMM_WORLD, all, ierr)
    call MPI_Group_incl(all, 2, [0, 3], some, ierr)
    if (rank == 0 .or. rank == 3) then
      call MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, made, ierr)
      call MPI_Comm_size(made, size, ierr)
      call expect('create_group', size, 2)
      call MPI_Comm_free(made, ierr)
    end if

    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 7, between, ierr)
    call MPI_Comm_remote_size(between, size, ierr)
    call expect('intercomm_create', size, RANKS / 2)
    call MPI_Intercomm_merge(between, mod(rank, 2) == 0, made, ierr)
    call MPI_Comm_rank(made, size, ierr)
    call expect('merge, the even ones are last', size, rank / 2 + merge(2, 0, mod(rank, 2) == 0))
    call MPI_Comm_free(made, ierr)
    call MPI_Comm_free(between, ierr)
    call MPI_Comm_free(half, ierr)
    call MPIX_Comm_shrink(MPI_COMM_WORLD, made, ierr)
    size = ior(8, 2 ** mod(rank, 2))
    call MPIX_Comm_agree(made, size, ierr)
    call expect('agree', size, 8)
    call MPI_Comm_free(made, ierr)
  end subroutine

  subroutine meet_the_other_half()
    character(len=MPI_MAX_PORT_NAME) :: port
    integer :: half, other, size
    call MPI_Comm_split(MPI_COMM_WORLD, min(rank, 1), rank, half, ierr)
    if (rank == 0) call MPI_Open_port(MPI_INFO_NULL, port, ierr)
    call MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) then
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, other, ierr)
    else
      call MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, other, ierr)
    end if
    call expect('meeting', ierr, MPI_SUCCESS)
    call MPI_Comm_remote_size(other, size, ierr)
    call expect('the others', size, merge(RANKS - 1, 1, rank == 0))
    call MPI_Comm_disconnect(other, ierr)
    call MPI_Comm_free(half, ierr)
  end subroutine

  subroutine use_a_window()
    integer, pointer :: cell(:)
    integer, target, asynchronous :: own(2)
    integer :: window, form, info
    integer(MPI_ADDRESS_KIND) :: base
    type(c_ptr) :: place
    do form = 1, 4
      if (form == 1) then
        call MPI_Win_create(own, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierr)
        cell => own
      else if (form == 2) then
        call MPI_Win_allocate(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, ierr)
        call c_f_pointer(transfer(base, place), cell, [2])
      else if (form == 3) then
        call MPI_Win_allocate_cptr(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, window, ierr)
        call c_f_pointer(place, cell, [2])
      else
        call MPI_Win_allocate_shared(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, ierr)
        call c_f_pointer(transfer(base, place), cell, [2])
      end if
      cell = -1
      call MPI_Win_fence(0, window, ierr)
      call MPI_Put(rank, 1, MPI_INTEGER, right(), 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window, ierr)
      call MPI_Win_fence(0, window, ierr)
      call expect('put', cell(2), left())
      call MPI_Win_get_info(window, info, ierr)
      call MPI_Win_set_info(window, info, ierr)
      call expect('info of a window', ierr, MPI_SUCCESS)
      call MPI_Win_free(window, ierr)
      call expect('a freed window', window, MPI_WIN_NULL)
    end do
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, window, ierr)
    call MPI_Win_free(window, ierr)
    call expect('a dynamic window', window, MPI_WIN_NULL)
  end subroutine

  subroutine use_a_file()
    character(len=256) :: name
    integer :: file, info
    call get_command_argument(1, name)
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
    call expect('open', ierr, MPI_SUCCESS)
    call MPI_File_get_info(file, info, ierr)
    call MPI_File_set_info(file, info, ierr)
    call expect('info of a file', ierr, MPI_SUCCESS)
    call MPI_File_close(file, ierr)
    call expect('a closed file', file, MPI_FILE_NULL)
  end subroutine

  ! Of each argument only what the root names matters.
  subroutine spawn()
    character(len=256) :: command, commands(2)
    character(len=8) :: words(3), many(2, 3)
    integer :: made, codes(2), root
    root = 1
    command = ''
    words = '?'
    commands = '?'
    many = '?'
    if (rank == root) then
      call get_command_argument(0, command)
      words = [character(len=8) :: 'with', 'words', '']
      commands = command
      many(1, :) = [character(len=8) :: 'first', 'kind', '']
      many(2, :) = [character(len=8) :: 'second', 'kind', '']
    end if
    codes = -1
    call MPI_Comm_spawn(command, words, 2, MPI_INFO_NULL, root, MPI_COMM_WORLD, made, codes, ierr)
    call expect('spawn', ierr, MPI_SUCCESS)
    call expect('codes', sum(codes), 0)
    call join_children(made)
    call MPI_Comm_spawn_multiple(2, commands, many, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], root, MPI_COMM_WORLD, made, &
                                 MPI_ERRCODES_IGNORE, ierr)
    call expect('spawn_multiple', ierr, MPI_SUCCESS)
    call join_children(made)
  end subroutine

  subroutine join_children(between)
    integer, intent(inout) :: between
    integer :: all, size
    call MPI_Comm_remote_size(between, size, ierr)
    call expect('children', size, 2)
    call MPI_Intercomm_merge(between, .false., all, ierr)
    call MPI_Allreduce(1, size, 1, MPI_INTEGER, MPI_SUM, all, ierr)
    call expect('all', size, RANKS + 2)
    call MPI_Comm_free(all, ierr)
    call MPI_Comm_disconnect(between, ierr)
  end subroutine

  subroutine join_parents()
    integer :: between, all, size
    call MPI_Comm_get_parent(between, ierr)
    call MPI_Intercomm_merge(between, .true., all, ierr)
    call MPI_Allreduce(1, size, 1, MPI_INTEGER, MPI_SUM, all, ierr)
    call expect('all, a child', size, RANKS + 2)
    call MPI_Comm_free(all, ierr)
    call MPI_Comm_disconnect(between, ierr)
  end subroutine
end program
