/* Windows and files.
 *
 * Each stands on communicators that MPI makes inside the call. They are taken note of as they come: a failure that is told
 * while one is half made is held back, one that was known before ends its collective calls, and they have the error range of the
 * window or file. Some are of one host, where nobody may have failed: a process whose call fails revokes them, or those that are still
 * inside would wait for it there (3 of some 85 jobs of 8 ranks on a busy machine that lost a host's ranks while they made windows; 3 more
 * waited in MPI_Finalize, to free windows that they alone had). On several hosts a window reads from the memory of its first process at the
 * end, and waits for ever if that has just died (4 of 549 such jobs). What reads and writes data of the program is not protected. */
#include "guards/activation.h"
#include "guards/deaths.h"
#include "guards/lasting.h"
#include "guards/turns.h"
#include "guards/young.h"
#include "jobs/fiber.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "modes/objects.h"
#include "modes/range.h"
#include "modes/uniform.h"
#include "requests/build.h"
#include "requests/steps.h"
#include "spares/spares.h"
#include "state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

enum { INNER_MAX = 16 };

/* Communicators; those beyond the last place are not watched. */
struct inner {
    MPI_Comm comm[INNER_MAX];
    int count;
};

/* A window or a file that is there. */
struct object {
    const void *handle;
    struct inner inner;
    struct modes modes;
    struct object *next;
};

/* A call that makes one: communicators made inside, and those of them that are not wanted any more. They are there until the call has ended,
 * since others may wait in them if it fails. */
struct making {
    MPI_Comm parent;
    struct inner inner, gone;
    bool is_useless;  /* what is made lacks a part, though MPI takes it for whole */
    bool is_given_up; /* its communicators are revoked */
};

static __thread struct making *being_made __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;

static bool add(struct inner *to, MPI_Comm comm)
{
    if (to->count == INNER_MAX)
        return false;
    to->comm[to->count++] = comm;
    return true;
}

static bool take_out(struct inner *from, MPI_Comm comm)
{
    for (int at = 0; at < from->count; at++) {
        if (from->comm[at] == comm) {
            from->comm[at] = from->comm[--from->count];
            return true;
        }
    }
    return false;
}

static bool is_in(const struct inner *inner, MPI_Comm comm)
{
    for (int at = 0; at < inner->count; at++)
        if (inner->comm[at] == comm)
            return true;
    return false;
}

/* Stands before Open MPI's own function of the name: after it, collective calls on the new communicator can be told of failures. */
EXPORTED int ompi_comm_activate(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                                const void *second, bool sends, int mode)
{
    static int (*next)(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, bool, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_activate");
    bool looks = rf.ready && mode == BY_ALL && can_build(), is_whole = false;
    struct activation activation;
    if (looks)
        begin_activation(&activation, parent);
    int code = next(made, parent, bridge, first, second, sends, mode);
    if (looks)
        code = end_activation(&activation, code, *made, &is_whole);
    if (being_made && code == MPI_SUCCESS && is_member(*made) && add(&being_made->inner, *made))
        note_made(*made);
    if (being_made && is_whole)
        add(&being_made->gone, *made);
    return code;
}

static int free_now(MPI_Comm *gone)
{
    static int (*next)(MPI_Comm *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_free");
    /* It forgets the agreements on it. */
    begin_turn();
    int code = next(gone);
    end_turn();
    return code;
}

/* Before a communicator of a call is freed. */
static void let_go(MPI_Comm comm)
{
    forget_made(comm);
    make_last_if_broken(comm);
}

/* The same: some are only needed inside the call. */
EXPORTED int ompi_comm_free(MPI_Comm *gone)
{
    if (being_made && take_out(&being_made->inner, *gone) && !add(&being_made->gone, *gone))
        let_go(*gone);
    if (!being_made || !is_in(&being_made->gone, *gone))
        return free_now(gone);
    *gone = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* Whether what is made now may be left in part by a failure. */
static bool may_be_half_made(void)
{
    bool half = being_made && (has_failures(rf.world) || is_revoked(being_made->parent));
    for (int at = 0; being_made && at < being_made->inner.count && !half; at++)
        half = is_revoked(being_made->inner.comm[at]);
    return half;
}

/* Whether MPI ends and frees what the program has left: what was dropped, since others could not make it, is not theirs, and there may be
 * nobody any more to free it with. */
static bool is_left, was_dropped;

void leave_objects(void)
{
    is_left = was_dropped || has_failures(rf.world);
}

/* When a call fails, MPI frees what is half made, and crashes where a part is not there yet: it stays as it is. */
#define KEEPS_HALF_MADE(NAME, TYPE, IS_HALF_MADE)                      \
    EXPORTED int NAME(TYPE *object)                                    \
    {                                                                  \
        static int (*next)(TYPE *);                                    \
        if (!next)                                                     \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);                 \
        return is_left || (IS_HALF_MADE) ? MPI_SUCCESS : next(object); \
    }

KEEPS_HALF_MADE(ompi_osc_rdma_free, struct ompi_win_t, being_made)
KEEPS_HALF_MADE(ompi_osc_sm_free, struct ompi_win_t, being_made)
/* A file that does not open is whole as far as it goes. */
KEEPS_HALF_MADE(mca_common_ompio_file_close, void, may_be_half_made())

/* What a window asks of another process. */
struct lookup {
    void *module, *found;
    int peer;
};

static void *look_up(void *module, int peer)
{
    static void *(*next)(void *, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_osc_rdma_peer_lookup");
    return next(module, peer);
}

static void look_up_inside(void *lookup)
{
    struct lookup *own = lookup;
    own->found = look_up(own->module, own->peer);
}

/* Stands before Open MPI's own function of the name, which reads from the memory of another process and never ends if that dies meanwhile.
 * Inside of a call that makes a window it is made in a fiber, and left when a failure is known and others have had time to answer; an answer
 * that comes after all is written where nobody looks. */
EXPORTED void *ompi_osc_rdma_peer_lookup(void *module, int peer)
{
    struct making *making = being_made;
    struct lookup *lookup = making ? malloc(sizeof *lookup) : NULL;
    struct fiber *fiber = NULL;
    double troubled_at = 0;
    if (lookup) {
        *lookup = (struct lookup){module, NULL, peer};
        fiber = start_fiber(look_up_inside, lookup);
    }
    if (!fiber) {
        free(lookup);
        return look_up(module, peer);
    }
    while (!resume_fiber(fiber)) {
        if (troubled_at == 0 && (has_failures(making->parent) || is_revoked(making->parent)))
            troubled_at = wall_s();
        if (troubled_at > 0 && wall_s() > troubled_at + PATIENCE_S) {
            leave_fiber(fiber);
            making->is_useless = true;
            return NULL;
        }
    }
    void *found = lookup->found;
    free(lookup);
    return found;
}

/* The place of an object in the list. */
static struct object **find(const void *handle)
{
    struct object **at = &objects;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

/* Calls on a window or file are not made uniform. */
static void change_inner(const struct inner *inner, struct modes modes)
{
    modes.uniform = UNIFORM_LOCAL;
    for (int at = 0; at < inner->count; at++) {
        change_modes(inner->comm[at], modes);
        interrupt_if_hit(inner->comm[at], modes.range);
    }
}

/* Who asks for a range is told what has none, once a process; the first one of the communicator says it. */
static void tell_of_data(const struct inner *inner, enum range range)
{
    static bool told;
    int rank = -1;
    if (range == RANGE_LOCAL || told)
        return;
    told = true;
    if (inner->count > 0)
        PMPI_Comm_rank(inner->comm[0], &rank);
    if (rank == 0)
        say("windows and files: what moves data (MPI_Put, MPI_File_write and their kind) is not "
            "protected; after a failure it may wait for ever, crash or leave data in part");
}

static void keep(const void *handle, const struct inner *inner, struct modes modes)
{
    struct object *made = new_table(1, sizeof *made);
    pthread_mutex_lock(&lock);
    *made = (struct object){handle, *inner, modes, objects};
    objects = made;
    pthread_mutex_unlock(&lock);
    change_inner(inner, modes);
    tell_of_data(inner, modes.range);
}

/* A window or file goes away. false: this process alone is done with it, it stays. */
static bool forget(const void *handle)
{
    struct inner inner = {.count = 0};
    pthread_mutex_lock(&lock);
    struct object **at = find(handle), *gone = *at;
    if (gone)
        inner = gone->inner;
    for (int at_inner = 0; at_inner < inner.count; at_inner++) {
        if (modes_of(inner.comm[at_inner]).of_job && !may_part_from(inner.comm[at_inner])) {
            was_dropped = true;
            pthread_mutex_unlock(&lock);
            return false;
        }
    }
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&lock);
    for (int at_inner = 0; at_inner < inner.count; at_inner++) {
        drop_modes(inner.comm[at_inner]);
        let_go(inner.comm[at_inner]);
    }
    free(gone);
    return true;
}

static struct modes modes_of_object(const void *handle)
{
    pthread_mutex_lock(&lock);
    const struct object *own = *find(handle);
    struct modes modes = own ? own->modes : (struct modes){RANGE_LOCAL, UNIFORM_CREATE, 0};
    pthread_mutex_unlock(&lock);
    return modes;
}

static void change_object(const void *handle, struct modes modes)
{
    struct inner inner = {.count = 0};
    pthread_mutex_lock(&lock);
    struct object *own = *find(handle);
    if (own) {
        own->modes = modes;
        inner = own->inner;
    }
    pthread_mutex_unlock(&lock);
    change_inner(&inner, modes);
    if (own)
        tell_of_data(&inner, modes.range);
}

/* Begins a call that makes a window or a file. */
static MPI_Errhandler begin_object(MPI_Comm comm, struct making *making)
{
    *making = (struct making){.parent = comm};
    being_made = making;
    begin_making();
    return hold_errors(comm);
}

/* What a call that went `code` is to be taken for: MPI says MPI_ERR_WIN and its kind of failures too; and who is interrupted inside, since
 * the call has failed elsewhere, has no error of its own. */
static int blamed(const struct making *making, int code)
{
    bool is_interrupted = error_class(code) == MPIX_ERR_REVOKED;
    if (code == MPI_SUCCESS || (is_failure(code) && !is_interrupted))
        return code;
    if (is_revoked(making->parent))
        return MPIX_ERR_REVOKED;
    for (int at = 0; at < making->inner.count && !is_interrupted; at++)
        is_interrupted = is_revoked(making->inner.comm[at]);
    for (int at = 0; at < making->gone.count && !is_interrupted; at++)
        is_interrupted = is_revoked(making->gone.comm[at]);
    return is_interrupted || has_failures(making->parent) ? MPIX_ERR_PROC_FAILED : code;
}

static void revoke_all(const struct inner *inner)
{
    for (int at = 0; at < inner->count; at++) {
        PMPIX_Comm_revoke(inner->comm[at]);
        forget_made(inner->comm[at]);
    }
}

/* Others may wait there. */
static void give_up(void *making)
{
    struct making *own = making;
    if (own->is_given_up)
        return;
    own->is_given_up = true;
    revoke_all(&own->inner);
    revoke_all(&own->gone);
}

static void free_gone(struct inner *gone)
{
    for (int at = 0; at < gone->count; at++) {
        let_go(gone->comm[at]);
        free_now(&gone->comm[at]);
    }
}

/* All have it or none. One that others could not make, or whose info `wrong` is said of, is dropped, not freed: freeing takes all of
 * them. An error that is no failure (a file that is not there) may come to all, a moment later to some: only when they do not come they are
 * interrupted. */
static int end_object(struct making *making, int code, int wrong)
{
    being_made = NULL;
    if (code == MPI_SUCCESS && making->is_useless)
        code = MPIX_ERR_PROC_FAILED;
    end_making(code, NULL);
    int outcome = blamed(making, code);
    if (code == MPI_SUCCESS)
        free_gone(&making->gone);
    else if (is_failure(outcome))
        give_up(making);
    outcome = settle_all_or_call(making->parent, outcome == MPI_SUCCESS ? wrong : outcome,
                                 code == MPI_SUCCESS ? NULL : give_up, making);
    if (code != MPI_SUCCESS && is_failure(outcome))
        give_up(making);
    else if (code != MPI_SUCCESS && !making->is_given_up)
        free_gone(&making->gone);
    was_dropped |= outcome != MPI_SUCCESS && (making->is_given_up || making->inner.count > 0);
    return outcome;
}

/* What it has from the communicator. */
static struct modes modes_of_object_on(MPI_Comm comm)
{
    struct modes modes = modes_of(comm);
    modes.uniform = UNIFORM_CREATE;
    return modes;
}

/* A call by all processes of `comm` that makes a window. Who cannot read the info makes it, too: the others wait in there. */
#define WINDOW(NAME, PARAMETERS, ...)                         \
    EXPORTED int MPI_##NAME PARAMETERS                        \
    {                                                         \
        struct making making;                                 \
        struct modes modes = modes_of_object_on(comm);        \
        if (sleeps_in(comm))                                  \
            return refuse_in_world(__func__);                 \
        if (!is_looked_after(comm, window))                   \
            return PMPI_##NAME(__VA_ARGS__);                  \
        MPI_Errhandler handler = begin_object(comm, &making); \
        int wrong = read_modes(info, &modes);                 \
        int code = PMPI_##NAME(__VA_ARGS__);                  \
        code = end_object(&making, code, wrong);              \
        if (code == MPI_SUCCESS)                              \
            keep(*window, &making.inner, modes);              \
        else                                                  \
            *window = MPI_WIN_NULL;                           \
        return release_errors(comm, handler, code, __func__); \
    }

WINDOW(Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window), base,
       size, unit, info, comm, window)

WINDOW(Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window), size,
       unit, info, comm, base, window)

WINDOW(Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window), size,
       unit, info, comm, base, window)

WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *window), info, comm, window)

EXPORTED int MPI_Win_free(MPI_Win *window)
{
    if (!window || forget(*window))
        return PMPI_Win_free(window);
    *window = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

EXPORTED int MPI_File_open(MPI_Comm comm, const char *name, int how, MPI_Info info, MPI_File *file)
{
    struct making making;
    struct modes modes = modes_of_object_on(comm);
    if (sleeps_in(comm))
        return refuse_in_world(__func__);
    if (!is_looked_after(comm, file))
        return PMPI_File_open(comm, name, how, info, file);
    MPI_Errhandler handler = begin_object(comm, &making);
    int wrong = read_modes(info, &modes);
    int code = end_object(&making, PMPI_File_open(comm, name, how, info, file), wrong);
    if (code == MPI_SUCCESS)
        keep(*file, &making.inner, modes);
    else
        *file = MPI_FILE_NULL;
    put_back_errors(comm, handler);
    return code;
}

EXPORTED int MPI_File_close(MPI_File *file)
{
    if (!file || forget(*file))
        return PMPI_File_close(file);
    *file = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

/* MPI's calls that set and tell the keys of windows, or files. */
#define KEYS(KIND)                                                        \
    EXPORTED int MPI_##KIND##_set_info(MPI_##KIND object, MPI_Info info)  \
    {                                                                     \
        int code = PMPI_##KIND##_set_info(object, info);                  \
        struct modes modes = modes_of_object(object);                     \
        if (code != MPI_SUCCESS || !rf.ready)                             \
            return code;                                                  \
        code = read_modes(info, &modes);                                  \
        if (code == MPI_SUCCESS)                                          \
            change_object(object, modes);                                 \
        else                                                              \
            PMPI_##KIND##_call_errhandler(object, code);                  \
        return code;                                                      \
    }                                                                     \
                                                                          \
    EXPORTED int MPI_##KIND##_get_info(MPI_##KIND object, MPI_Info *info) \
    {                                                                     \
        int code = PMPI_##KIND##_get_info(object, info);                  \
        if (code == MPI_SUCCESS && rf.ready) {                            \
            write_modes(*info, modes_of_object(object));                  \
            PMPI_Info_set(*info, "runflat_data_protected", "false");      \
        }                                                                 \
        return code;                                                      \
    }

KEYS(Win)
KEYS(File)
