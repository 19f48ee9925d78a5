#include "agree.h"

#include "state.h"

#include <stdlib.h>

bool is_revoked(MPI_Comm comm)
{
    int revoked = 0;
    PMPIX_Comm_is_revoked(comm, &revoked);
    return revoked;
}

int agree_unless_revoked(MPI_Comm comm, int *flag)
{
    /* An agreement that is given up may still write. */
    int *agreed = malloc(sizeof *agreed), done = 0;
    MPI_Request request;
    *agreed = *flag;
    int code = PMPIX_Comm_iagree(comm, agreed, &request);
    for (unsigned tests = 1; code == MPI_SUCCESS && !done; tests++) {
        code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !done && tests % 64 == 0 && is_revoked(comm))
            return MPIX_ERR_REVOKED;
    }
    *flag = *agreed;
    free(agreed);
    return error_class(code);
}
