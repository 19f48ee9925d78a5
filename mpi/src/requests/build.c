#include "requests/build.h"

#include "guards/lasting.h"
#include "guards/turns.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "modes/uniform.h"
#include "requests/steps.h"
#include "state.h"

#include <string.h>

/* A flag of the first step: the topology too. */
enum { WITH_TOPOLOGY = 2 };

bool can_build(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    PMPI_Get_library_version(version, &length);
    return strstr(version, "Open MPI v5.0.") && ompi_comm_set_nb && ompi_comm_nextcid_nb &&
           ompi_comm_activate_nb;
}

static int begin(struct build *build, MPI_Comm parent, MPI_Group group, uint32_t flags)
{
    MPI_Errhandler handler = handler_of(parent);
    *build = (struct build){parent, MPI_COMM_NULL, NULL, GROUPING};
    begin_making();
    int code = ompi_comm_set_nb(&build->made, parent, 0, NULL, 0, NULL, NULL, handler, group, NULL,
                                flags, &build->step);
    PMPI_Errhandler_free(&handler);
    /* Nothing to wait for. */
    if (!build->step)
        build->step = MPI_REQUEST_NULL;
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    end_making(MPI_ERR_OTHER, NULL);
    return MPI_ERR_OTHER;
}

int begin_build(struct build *build, MPI_Comm parent, MPI_Group group)
{
    return begin(build, parent, group, 0);
}

int begin_copy(struct build *build, MPI_Comm parent)
{
    MPI_Group group;
    PMPI_Comm_group(parent, &group);
    int code = begin(build, parent, group, WITH_TOPOLOGY);
    PMPI_Group_free(&group);
    return code;
}

/* Begins what comes after a step that went well. */
static int begin_step_of(struct build *build)
{
    bool agrees = !is_alone(build->parent) || is_revoked(build->parent);
    int mode = agrees ? BY_AGREEMENTS : BY_ALL;
    if (build->stage == GROUPING) {
        build->stage = NUMBERING;
        return ompi_comm_nextcid_nb(build->made, build->parent, NULL, NULL, NULL, false, mode,
                                    &build->step);
    }
    if (build->stage == NUMBERING) {
        build->stage = ACTIVATING;
        return ompi_comm_activate_nb(&build->made, build->parent, NULL, NULL, NULL, true, mode,
                                     &build->step);
    }
    build->stage = BUILT;
    return MPI_SUCCESS;
}

static int begin_next(struct build *build)
{
    begin_turn();
    int code = begin_step_of(build);
    end_turn();
    return code;
}

bool advance_build(struct build *build, int *code)
{
    int done = 0;
    *code = PMPI_Test(&build->step, &done, MPI_STATUS_IGNORE);
    if (*code == MPI_SUCCESS && !done)
        return false;
    if (*code == MPI_SUCCESS && begin_next(build) != MPI_SUCCESS)
        *code = MPI_ERR_OTHER;
    if (*code == MPI_SUCCESS && build->stage != BUILT)
        return false;
    *code = end_making(error_class(*code), &build->made);
    return true;
}

void leave_build(struct build *build)
{
    end_making(MPI_ERR_OTHER, NULL);
    make_last(build->parent);
}
