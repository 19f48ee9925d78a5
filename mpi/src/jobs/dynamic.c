#include "jobs/dynamic.h"

#include "guards/bounded.h"
#include "guards/fence.h"
#include "guards/inject.h"
#include "guards/young.h"
#include "jobs/fiber.h"
#include "jobs/parting.h"
#include "modes/agree.h"
#include "modes/completion.h"
#include "modes/modes.h"
#include "modes/range.h"
#include "modes/uniform.h"
#include "requests/build.h"
#include "requests/requests.h"
#include "requests/shrink.h"
#include "runflat.h"
#include "state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define UNWRAP(...) __VA_ARGS__

/* What is asked for; the caller's arrays, which MPI lets it change when the request has ended, are its own. */
struct wish {
    int (*make)(const struct wish *wish, MPI_Comm comm, MPI_Comm *made);
    int refusal; /* the class that all get where it cannot be had although nobody has died */
    int root;
    const char *port;
    MPI_Info info;
    /* Of a spawn; `kinds` programs with an item each, or one. */
    const char *command;
    char **words;
    int kinds, count;
    char **commands, ***all_words;
    const int *counts;
    const MPI_Info *infos;
    int *codes;
    /* Of an intercommunicator; the bridge is NULL where this process does not lead. */
    MPI_Comm bridge;
    int other, tag;
};

struct joining {
    struct work work;
    struct wish wish;
    MPI_Comm *made;
    struct shrink shrink;
    MPI_Comm copy, between;
    struct fiber *fiber;
    MPI_Request agreement;
    double interrupted_at; /* 0: not */
    int interrupted_by;    /* class */
    int code, votes;
    enum { WAITING, COPYING, CALLING, AGREEING } stage;
};

/* How long a call that is interrupted may go on, in s, before it is left as it is. */
#define LEAVE_S 5

/* Adds a variable to an environment, MPI_MAX_INFO_VAL long, or says that there is no room. */
static void add_variable(char *environment, const char *name, const char *value)
{
    size_t length = strlen(environment);
    int more = snprintf(environment + length, MPI_MAX_INFO_VAL - length, "%s%s%s%s",
                        length ? "\n" : "", name, *name ? "=" : "", value);
    if (more < (int)(MPI_MAX_INFO_VAL - length))
        return;
    environment[length] = '\0';
    say("MPI_Comm_spawn: MPI has no room for %s=%s in what new processes get (%d characters); it "
        "is left out",
        name, value, MPI_MAX_INFO_VAL);
}

/* An info object that also has what processes need in their environment to come under this library as those that spawn them, the most
 * needed first; events of theirs would go by the same names as of these. */
static MPI_Info with_library(MPI_Info info)
{
    static const char *const names[] = {"LD_PRELOAD", "RUNFLAT_STEP_LIMIT_S", "RUNFLAT_STOPPED_S",
                                        "RUNFLAT_POLICY_LIBRARY"};
    char environment[MPI_MAX_INFO_VAL] = "";
    char spawner[SPAWNER_MAX];
    int there = 0;
    MPI_Info made;
    if (info == MPI_INFO_NULL)
        PMPI_Info_create(&made);
    else
        PMPI_Info_dup(info, &made);
    PMPI_Info_get(made, "PMIX_ENVAR", MPI_MAX_INFO_VAL - 1, environment, &there);
    write_spawner(spawner);
    add_variable(environment, "", spawner);
    for (size_t at = 0; at < sizeof names / sizeof *names; at++)
        if (getenv(names[at]))
            add_variable(environment, names[at], getenv(names[at]));
    PMPI_Info_set(made, "PMIX_ENVAR", environment);
    return made;
}

static int make_spawn(const struct wish *wish, MPI_Comm comm, MPI_Comm *made)
{
    MPI_Info info = with_library(wish->info);
    int code = PMPI_Comm_spawn(wish->command, wish->words, wish->count, info, wish->root, comm,
                               made, wish->codes);
    PMPI_Info_free(&info);
    return code;
}

static int make_spawns(const struct wish *wish, MPI_Comm comm, MPI_Comm *made)
{
    int rank, kinds = 0;
    MPI_Info *infos = NULL;
    PMPI_Comm_rank(comm, &rank);
    /* The arrays matter at the root alone. */
    if (rank == wish->root) {
        kinds = wish->kinds;
        infos = malloc(sizeof *infos * (size_t)kinds);
        if (!infos)
            return MPI_ERR_NO_MEM;
    }
    for (int at = 0; at < kinds; at++)
        infos[at] = with_library(wish->infos[at]);
    int code = PMPI_Comm_spawn_multiple(wish->kinds, wish->commands, wish->all_words, wish->counts,
                                        infos, wish->root, comm, made, wish->codes);
    for (int at = 0; at < kinds; at++)
        PMPI_Info_free(&infos[at]);
    free(infos);
    return code;
}

static int make_connection(const struct wish *wish, MPI_Comm comm, MPI_Comm *made)
{
    return PMPI_Comm_connect(wish->port, wish->info, wish->root, comm, made);
}

static int make_acceptance(const struct wish *wish, MPI_Comm comm, MPI_Comm *made)
{
    return PMPI_Comm_accept(wish->port, wish->info, wish->root, comm, made);
}

/* Both sides have it, as far as their leaders know. */
static int exchange_words(const struct wish *wish)
{
    int word = 0, heard = 0;
    MPI_Errhandler handler = hold_errors(wish->bridge);
    int code = PMPI_Sendrecv(&word, 1, MPI_INT, wish->other, wish->tag, &heard, 1, MPI_INT,
                             wish->other, wish->tag, wish->bridge, MPI_STATUS_IGNORE);
    put_back_errors(wish->bridge, handler);
    return code;
}

static int make_over_bridge(const struct wish *wish, MPI_Comm comm, MPI_Comm *made)
{
    MPI_Comm bridge = wish->bridge ? wish->bridge : MPI_COMM_NULL;
    set_deadline(fiber_here(), step_limit_s());
    int code = PMPI_Intercomm_create(comm, wish->root, bridge, wish->other, wish->tag, made);
    /* Open MPI's words for a process of the other side that has died. */
    int class = error_class(code);
    if (class == MPI_ERR_INTERN || class == MPI_ERR_UNKNOWN)
        code = MPIX_ERR_PROC_FAILED;
    return code == MPI_SUCCESS && wish->bridge ? exchange_words(wish) : code;
}

/* Open MPI looks for a context identifier by these two, and does so again and again, with a line on stderr each time, when they fail
 * after they have begun: they do not begin any more. */
#define BEGINS_UNLESS_REVOKED(NAME, COMM, PARAMETERS, ...) \
    EXPORTED int NAME PARAMETERS                           \
    {                                                      \
        static int(*next) PARAMETERS;                      \
        if (!next)                                         \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);     \
        if (is_any_interrupted() && is_revoked(COMM))      \
            return MPIX_ERR_REVOKED;                       \
        return next(__VA_ARGS__);                          \
    }

BEGINS_UNLESS_REVOKED(ompi_coll_libnbc_ibcast, comm,
                      (void *data, size_t count, MPI_Datatype type, int root, MPI_Comm comm,
                       MPI_Request *request, void *module),
                      data, count, type, root, comm, request, module)

BEGINS_UNLESS_REVOKED(ompi_coll_libnbc_ireduce, comm,
                      (const void *data, void *result, size_t count, MPI_Datatype type,
                       MPI_Op operation, int root, MPI_Comm comm, MPI_Request *request,
                       void *module),
                      data, result, count, type, operation, root, comm, request, module)

/* In the fiber. */
static void call(void *state)
{
    struct joining *own = state;
    own->code = own->wish.make(&own->wish, own->copy, &own->between);
}

static void agree(struct joining *own)
{
    own->votes = vote_on(own->code);
    iagree(own->copy, &own->votes, &own->agreement);
    own->stage = AGREEING;
}

/* The copy is there, the same at all. */
static void begin_call(struct joining *own)
{
    const struct modes interrupted = {RANGE_GROUP, UNIFORM_LOCAL, false};
    int before, now;
    own->copy = own->shrink.made;
    PMPI_Comm_size(own->work.owner, &before);
    PMPI_Comm_size(own->copy, &now);
    PMPI_Comm_set_errhandler(own->copy, MPI_ERRORS_RETURN);
    own->work.early = false;
    own->stage = CALLING;
    if (now < before)
        own->code = MPIX_ERR_PROC_FAILED;
    else if (!(own->fiber = start_fiber(call, own)))
        own->code = MPI_ERR_NO_MEM;
    if (!own->fiber) {
        agree(own);
        return;
    }
    begin_making();
    change_modes(own->copy, interrupted);
    interrupt_if_hit(own->copy, RANGE_GROUP);
}

/* How often an object of Open MPI is referred to: it begins with its class and this count. */
static atomic_int *references_of(const void *object)
{
    return (atomic_int *)((char *)object + sizeof(void *));
}

/* Each call that fails takes a reference from MPI_COMM_NULL that it has not given, and MPI crashes in the end when none is left: it
 * gets many more, if they are counted where they are looked for. */
static void keep_null(void)
{
    static bool kept;
    MPI_Errhandler handler;
    if (kept)
        return;
    int before = atomic_load(references_of(MPI_ERRORS_RETURN));
    PMPI_Comm_get_errhandler(rf.world, &handler);
    if (handler == MPI_ERRORS_RETURN && atomic_load(references_of(handler)) == before + 1)
        atomic_fetch_add(references_of(MPI_COMM_NULL), 1 << 20);
    PMPI_Errhandler_free(&handler);
    kept = true;
}

static void end_call(struct joining *own)
{
    own->code = error_class(own->code);
    /* What MPI says then is not why. */
    if (own->code != MPI_SUCCESS && own->interrupted_at > 0)
        own->code = own->interrupted_by;
    /* The copy has been revoked by one for whom the call has gone wrong. */
    else if (own->code == MPIX_ERR_REVOKED)
        own->code = MPIX_ERR_PROC_FAILED;
    if (own->code != MPI_SUCCESS)
        keep_null();
    end_making(own->code, &own->between);
    if (own->code != MPI_SUCCESS)
        PMPIX_Comm_revoke(own->copy);
    agree(own);
}

/* Somebody has died, or for somebody the call has gone wrong, or the partner does not come: what waits in the call is interrupted, by
 * the revoke of the copy and here. */
static void interrupt_call(struct joining *own, int class)
{
    if (own->interrupted_at == 0) {
        keep_null();
        own->interrupted_at = wall_s();
        own->interrupted_by = class;
        PMPIX_Comm_revoke(own->copy);
        interrupt_fiber(own->fiber);
    }
    if (wall_s() < own->interrupted_at + LEAVE_S)
        return;
    leave_fiber(own->fiber);
    own->work.kept = true;
    own->code = own->interrupted_by;
    end_call(own);
}

static void take(struct joining *own, int agreed)
{
    own->work.code =
        agreed == MPI_SUCCESS ? outcome_of(own->code, agreed, own->votes) : MPIX_ERR_PROC_FAILED;
    if (own->work.code != MPI_SUCCESS && !is_failure(own->work.code))
        own->work.code = own->wish.refusal;
    /* The other side may have it, and must not wait for this one. */
    if (own->work.code != MPI_SUCCESS && own->between != MPI_COMM_NULL)
        PMPIX_Comm_revoke(own->between);
    /* After a failure MPI may still look at the copy. */
    if (own->work.code != MPI_SUCCESS)
        return;
    *own->made = own->between;
    inherit_handler(own->work.owner, own->between);
    inherit_modes(own->work.owner, own->between);
    note_joined(own->between);
    free_made(&own->copy);
}

static bool is_bridge_gone(const struct joining *own)
{
    return own->wish.bridge && is_revoked(own->wish.bridge);
}

static bool advance(struct work *work)
{
    struct joining *own = (struct joining *)work;
    int done = 0, code = MPI_SUCCESS;
    if (own->stage == WAITING && !is_behind(work)) {
        begin_shrink(&own->shrink, work->owner);
        own->stage = COPYING;
    }
    if (own->stage == COPYING && advance_shrink(&own->shrink, &code)) {
        work->code = error_class(code);
        if (code != MPI_SUCCESS)
            return true;
        begin_call(own);
    }
    if (own->stage == CALLING) {
        if (resume_fiber(own->fiber))
            end_call(own);
        else if (own->interrupted_at > 0 || is_revoked(own->copy) || is_bridge_gone(own))
            interrupt_call(own, MPIX_ERR_PROC_FAILED);
        else if (is_overdue(own->fiber))
            interrupt_call(own, own->wish.refusal);
    }
    if (own->stage != AGREEING)
        return false;
    code = PMPI_Test(&own->agreement, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
        return false;
    take(own, error_class(code));
    return true;
}

/* `call` is what the program calls, for errors. */
static int post(struct wish wish, MPI_Comm comm, MPI_Comm *made, MPI_Request *request,
                const char *call)
{
    *request = MPI_REQUEST_NULL;
    if (sleeps_in(comm))
        return refuse_in_world(call);
    if (!is_within(comm))
        return raise_error(comm, MPI_ERR_COMM, call);
    if (!rf.ready || !can_build())
        return raise_error(comm, MPI_ERR_UNSUPPORTED_OPERATION, call);
    struct joining *own = calloc(1, sizeof *own);
    if (!own)
        return raise_error(comm, MPI_ERR_NO_MEM, call);
    own->work = (struct work){.owner = comm, .advance = advance, .early = true};
    own->wish = wish;
    own->made = made;
    own->between = *made = MPI_COMM_NULL;
    enter_phase("join");
    *request = start_work(&own->work);
    advance_works();
    return MPI_SUCCESS;
}

/* Waits for what has been posted with `code`. */
static int wait_for(int code, MPI_Request *request, const char *call)
{
    return code == MPI_SUCCESS ? wait_watching(request, MPI_STATUS_IGNORE, call) : code;
}

/* Whether a call that waits is better made as a request. */
static bool is_guarded(MPI_Comm comm, const MPI_Comm *made)
{
    return is_looked_after(comm, made) && can_build();
}

/* A call that waits, and the same as a request: parameters in brackets, what is wished in brackets, the names of the parameters. */
#define JOINING(NAME, INAME, PARAMETERS, WISH, ...)                                  \
    EXPORTED int MPIX_##INAME(UNWRAP PARAMETERS, MPI_Request *request)               \
    {                                                                                \
        return post((struct wish){UNWRAP WISH}, comm, made, request, __func__);      \
    }                                                                                \
                                                                                     \
    EXPORTED int MPI_##NAME(UNWRAP PARAMETERS)                                       \
    {                                                                                \
        MPI_Request request;                                                         \
        if (!is_guarded(comm, made))                                                 \
            return PMPI_##NAME(__VA_ARGS__);                                         \
        int code = post((struct wish){UNWRAP WISH}, comm, made, &request, __func__); \
        return wait_for(code, &request, __func__);                                   \
    }

JOINING(Comm_spawn, Comm_ispawn,
        (const char *command, char *words[], int count, MPI_Info info, int root, MPI_Comm comm,
         MPI_Comm *made, int codes[]),
        (.make = make_spawn, .refusal = MPI_ERR_SPAWN, .command = command, .words = words,
         .count = count, .codes = codes, .info = info, .root = root),
        command, words, count, info, root, comm, made, codes)

JOINING(Comm_spawn_multiple, Comm_ispawn_multiple,
        (int kinds, char *commands[], char **words[], const int counts[], const MPI_Info infos[],
         int root, MPI_Comm comm, MPI_Comm *made, int codes[]),
        (.make = make_spawns, .refusal = MPI_ERR_SPAWN, .kinds = kinds, .commands = commands,
         .all_words = words, .counts = counts, .infos = infos, .codes = codes, .root = root),
        kinds, commands, words, counts, infos, root, comm, made, codes)

JOINING(Comm_connect, Comm_iconnect,
        (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
        (.make = make_connection, .refusal = MPI_ERR_PORT, .port = port, .info = info,
         .root = root),
        port, info, root, comm, made)

JOINING(Comm_accept, Comm_iaccept,
        (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
        (.make = make_acceptance, .refusal = MPI_ERR_PORT, .port = port, .info = info,
         .root = root),
        port, info, root, comm, made)

int create_between_jobs(MPI_Comm comm, int leader, MPI_Comm between, int other, int tag,
                        MPI_Comm *made)
{
    int rank;
    const char *call = "MPI_Intercomm_create";
    MPI_Request request;
    struct wish wish = {.make = make_over_bridge,
                        .refusal = MPIX_ERR_PROC_FAILED,
                        .root = leader,
                        .other = other,
                        .tag = tag};
    PMPI_Comm_rank(comm, &rank);
    if (rank == leader)
        wish.bridge = between;
    return wait_for(post(wish, comm, made, &request, call), &request, call);
}
