#include "guards/numbers.h"

#include "guards/young.h"
#include "requests/build.h"
#include "requests/steps.h"
#include "state.h"

/* Waits for a step that went `code` so far. */
static int finish(int code, MPI_Request *step)
{
    int done = code != MPI_SUCCESS || !*step;
    while (!done && code == MPI_SUCCESS)
        code = PMPI_Test(step, &done, MPI_STATUS_IGNORE);
    return code;
}

/* The search from MPI_COMM_WORLD with the tag 0 is the lowest of all: it may always begin, and when it ends none is under way. */
int make_single(MPI_Comm *made)
{
    MPI_Request step = NULL;
    MPI_Group self;
    int tag = 0;
    PMPI_Comm_group(MPI_COMM_SELF, &self);
    int code = ompi_comm_set_nb(made, MPI_COMM_WORLD, 0, NULL, 0, NULL, NULL, MPI_ERRORS_RETURN,
                                self, NULL, 0, &step);
    code = finish(code, &step);
    if (code == MPI_SUCCESS)
        code = finish(ompi_comm_nextcid_nb(*made, MPI_COMM_WORLD, NULL, &tag, NULL, false,
                                           BY_MESSAGES, &step),
                      &step);
    PMPI_Group_free(&self);
    return code;
}

void free_single(MPI_Comm *made)
{
    forget_made(*made);
    PMPI_Comm_free(made);
}

void free_numbers(void)
{
    MPI_Comm made;
    if (rf.ready && can_build() && make_single(&made) == MPI_SUCCESS)
        free_single(&made);
}
