#include "modes/completion.h"

#include "guards/pending.h"
#include "modes/persistent.h"
#include "modes/uniform.h"
#include "state.h"

#define EXPORTED __attribute__((visibility("default")))

/* What a wait does between two looks at its requests. */
static void do_others(void)
{
    if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
        advance_works();
}

/* Requests that a call looks at: those of the program, or others where requests of ours stand in. */
struct looked_at {
    int count;
    MPI_Request *own, *others;
    /* Errors of requests that are ours belong to the communicator of the collective call; MPI would give them to the handler of
     * MPI_COMM_WORLD. */
    MPI_Comm owner;
    MPI_Errhandler world;
};

static struct looked_at begin_look(int count, MPI_Request own[])
{
    struct looked_at look = {count, own, stand_in(count, own), MPI_COMM_NULL, MPI_ERRHANDLER_NULL};
    look.owner = owner_of(count, look.others ? look.others : own);
    if (look.owner != MPI_COMM_NULL)
        look.world = hold_errors(MPI_COMM_WORLD);
    return look;
}

static int end_look(struct looked_at look, int code, const char *call)
{
    if (look.others)
        stand_back(look.count, look.own, look.others);
    if (look.owner == MPI_COMM_NULL)
        return code;
    put_back_errors(MPI_COMM_WORLD, look.world);
    if (code != MPI_SUCCESS)
        raise_error(look.owner, code, call);
    return code;
}

/* Repeats CALL, which looks at `list` and sets DONE, until that is true or an error comes. */
#define UNTIL(DONE, CALL, COUNT, REQUESTS, NAME)              \
    struct looked_at look = begin_look(COUNT, REQUESTS);      \
    MPI_Request *list = look.others ? look.others : look.own; \
    int code = MPI_SUCCESS;                                   \
    (void)list;                                               \
    while (code == MPI_SUCCESS && !(DONE)) {                  \
        do_others();                                          \
        code = CALL;                                          \
    }                                                         \
    return end_look(look, code, NAME)

/* Makes CALL, which looks at `list`, once. */
#define ONCE(CALL, COUNT, REQUESTS)                           \
    struct looked_at look = begin_look(COUNT, REQUESTS);      \
    MPI_Request *list = look.others ? look.others : look.own; \
    do_others();                                              \
    return end_look(look, CALL, __func__)

int wait_watching(MPI_Request *request, MPI_Status *status, const char *call)
{
    int done = 0;
    UNTIL(done, PMPI_Test(list, &done, status), 1, request, call);
}

EXPORTED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return goes_straight() ? PMPI_Wait(request, status) : wait_watching(request, status, __func__);
}

EXPORTED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    if (goes_straight())
        return PMPI_Waitall(count, requests, statuses);
    int done = 0;
    UNTIL(done, PMPI_Testall(count, list, &done, statuses), count, requests, __func__);
}

EXPORTED int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (goes_straight())
        return PMPI_Waitany(count, requests, index, status);
    int done = 0;
    UNTIL(done, PMPI_Testany(count, list, index, &done, status), count, requests, __func__);
}

EXPORTED int MPI_Waitsome(int count, MPI_Request requests[], int *ended, int indices[],
                          MPI_Status statuses[])
{
    if (goes_straight())
        return PMPI_Waitsome(count, requests, ended, indices, statuses);
    *ended = 0;
    UNTIL(*ended, PMPI_Testsome(count, list, ended, indices, statuses), count, requests, __func__);
}

EXPORTED int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    if (goes_straight())
        return PMPI_Test(request, done, status);
    ONCE(PMPI_Test(list, done, status), 1, request);
}

EXPORTED int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[])
{
    if (goes_straight())
        return PMPI_Testall(count, requests, done, statuses);
    ONCE(PMPI_Testall(count, list, done, statuses), count, requests);
}

EXPORTED int MPI_Testany(int count, MPI_Request requests[], int *index, int *done,
                         MPI_Status *status)
{
    if (goes_straight())
        return PMPI_Testany(count, requests, index, done, status);
    ONCE(PMPI_Testany(count, list, index, done, status), count, requests);
}

EXPORTED int MPI_Testsome(int count, MPI_Request requests[], int *ended, int indices[],
                          MPI_Status statuses[])
{
    if (goes_straight())
        return PMPI_Testsome(count, requests, ended, indices, statuses);
    ONCE(PMPI_Testsome(count, list, ended, indices, statuses), count, requests);
}

/* Open MPI 5.0 does not look whether it has failed. */
static int get_status(MPI_Request request, int *done, MPI_Status *status)
{
    int code = PMPI_Request_get_status(request, done, status);
    if (code == MPI_SUCCESS && rf.ready && !*done && has_failed(request))
        code = PMPI_Request_get_status(request, done, status);
    return code;
}

EXPORTED int MPI_Request_get_status(MPI_Request request, int *done, MPI_Status *status)
{
    if (goes_straight())
        return get_status(request, done, status);
    ONCE(get_status(*list, done, status), 1, &request);
}
