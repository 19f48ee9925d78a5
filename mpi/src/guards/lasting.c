#include "guards/lasting.h"

#include "guards/deaths.h"
#include "modes/agree.h"
#include "modes/uniform.h"
#include "state.h"

/* A request holds its communicator; a persistent one that is never begun does so to the end. */
MPI_Request make_last(MPI_Comm comm)
{
    MPI_Request never = MPI_REQUEST_NULL;
    MPI_Errhandler handler = hold_errors(comm);
    PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, comm, &never);
    put_back_errors(comm, handler);
    return never;
}

void make_last_if_broken(MPI_Comm comm)
{
    if (rf.ready && comm != MPI_COMM_NULL && (is_revoked(comm) || has_failures(comm)))
        make_last(comm);
}
