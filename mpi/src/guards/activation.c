#include "guards/activation.h"

#include "guards/lasting.h"
#include "guards/young.h"
#include "modes/uniform.h"
#include "requests/steps.h"
#include "state.h"

#include <dlfcn.h>

/* A flag of a step: the request before it is not freed when it has ended. */
enum { KEEPS_REQUEST = 1 };

typedef int step_function(void *request);

/* That which has not come to its barrier yet. From there on it may give way to other calls. */
static __thread struct activation *current __attribute__((tls_model("initial-exec")));

/* Stands before Open MPI's own function of the name. In an activation the step that it appends waits for the barrier. */
__attribute__((visibility("default"))) int ompi_comm_request_schedule_append(void *request,
                                                                             step_function *take,
                                                                             MPI_Request parts[],
                                                                             int count)
{
    static int (*next)(void *, step_function *, MPI_Request[], int);
    if (current && count == 1) {
        current->barrier = parts[0];
        current = NULL;
        return ompi_comm_request_schedule_append_w_flags(request, take, parts, count,
                                                         KEEPS_REQUEST);
    }
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_request_schedule_append");
    return next(request, take, parts, count);
}

void begin_activation(struct activation *activation, MPI_Comm parent)
{
    *activation = (struct activation){parent, hold_errors(parent), MPI_REQUEST_NULL};
    current = activation;
}

bool is_member(MPI_Comm made)
{
    MPI_Group group;
    int rank = MPI_UNDEFINED;
    PMPI_Comm_group(made, &group);
    PMPI_Group_rank(group, &rank);
    PMPI_Group_free(&group);
    return rank != MPI_UNDEFINED;
}

int end_activation(struct activation *activation, int code, MPI_Comm made, bool *is_whole)
{
    int ended = 1, barrier = MPI_SUCCESS;
    current = NULL;
    if (activation->barrier != MPI_REQUEST_NULL)
        barrier = PMPI_Test(&activation->barrier, &ended, MPI_STATUS_IGNORE);
    put_back_errors(activation->parent, activation->handler);
    if (code != MPI_SUCCESS || barrier == MPI_SUCCESS)
        return code;
    /* Others for which the barrier has ended well may send here in it. */
    *is_whole = is_member(made);
    if (*is_whole) {
        note_made(made);
        make_last(made);
    }
    return error_class(barrier);
}
