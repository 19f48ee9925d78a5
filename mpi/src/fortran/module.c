/* What the module runflat calls; see runflat.h. */
#include "runflat.h"

#include "fortran/names.h"

EXPORTED int RF_Is_failure_f(MPI_Fint comm, int code)
{
    return RF_Is_failure(PMPI_Comm_f2c(comm), code);
}

EXPORTED int RF_Init_f(int spares, fint comm)
{
    MPI_Comm own = MPI_COMM_NULL;
    int code = RF_Init(spares, &own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_Repair_f(fint comm)
{
    MPI_Comm own = COMM;
    int code = RF_Repair(&own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_Refill_f(fint comm)
{
    MPI_Comm own = COMM;
    int code = RF_Refill(&own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_End_f(fint comm)
{
    MPI_Comm own = COMM;
    int code = RF_End(&own);
    *comm = PMPI_Comm_c2f(own);
    return code;
}

EXPORTED int RF_Checkpoint_f(MPI_Fint comm, int64_t version)
{
    return RF_Checkpoint(PMPI_Comm_f2c(comm), version);
}

EXPORTED int RF_Icheckpoint_f(MPI_Fint comm, int64_t version, MPI_Fint *request)
{
    MPI_Request own = MPI_REQUEST_NULL;
    int code = RF_Icheckpoint(PMPI_Comm_f2c(comm), version, &own);
    *request = PMPI_Request_c2f(own);
    return code;
}

EXPORTED int RF_Restore_f(MPI_Fint comm, int64_t *version)
{
    return RF_Restore(PMPI_Comm_f2c(comm), version);
}
