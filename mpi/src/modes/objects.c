/* Windows and files.
 *
 * Each stands on communicators that MPI makes inside the call. They are taken note of as they come: a failure that is told
 * while one is half made is held back, one that was known before ends its collective calls, and they have the error range of the
 * window or file. What reads and writes data is not protected. */
#include "guards/deaths.h"
#include "guards/lasting.h"
#include "guards/young.h"
#include "modes/agree.h"
#include "modes/modes.h"
#include "modes/range.h"
#include "modes/uniform.h"
#include "spares/spares.h"
#include "state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

enum { INNER_MAX = 16 };

/* Communicators made inside a call; those beyond the last place are not watched. */
struct inner {
    MPI_Comm parent, comm[INNER_MAX];
    int count;
};

/* A window or a file that is there. */
struct object {
    const void *handle;
    struct inner inner;
    struct modes modes;
    struct object *next;
};

static __thread struct inner *being_made __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;

/* Whether this process is in a communicator: those left out by MPI_Comm_split make one too, which has nothing to send with, and free it
 * soon. They have a rank there, but not in its group. */
static bool is_member(MPI_Comm made)
{
    MPI_Group group;
    int rank = MPI_UNDEFINED;
    PMPI_Comm_group(made, &group);
    PMPI_Group_rank(group, &rank);
    PMPI_Group_free(&group);
    return rank != MPI_UNDEFINED;
}

/* Stands before Open MPI's own function of the name: after it, collective calls on the new communicator can be told of failures. */
EXPORTED int ompi_comm_activate(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge, const void *first,
                                const void *second, bool sends, int mode)
{
    static int (*next)(MPI_Comm *, MPI_Comm, MPI_Comm, const void *, const void *, bool, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_activate");
    int code = next(made, parent, bridge, first, second, sends, mode);
    if (code == MPI_SUCCESS && being_made && being_made->count < INNER_MAX && is_member(*made)) {
        being_made->comm[being_made->count++] = *made;
        note_made(*made);
    }
    return code;
}

/* The same: some are only needed inside the call. */
EXPORTED int ompi_comm_free(MPI_Comm *gone)
{
    static int (*next)(MPI_Comm *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_free");
    for (int at = 0; being_made && at < being_made->count; at++) {
        if (being_made->comm[at] == *gone) {
            being_made->comm[at--] = being_made->comm[--being_made->count];
            forget_made(*gone);
            make_last_if_broken(*gone);
        }
    }
    return next(gone);
}

/* Whether what is made now may be left in part by a failure. */
static bool may_be_half_made(void)
{
    bool half = being_made && (has_failures(rf.world) || is_revoked(being_made->parent));
    for (int at = 0; being_made && at < being_made->count && !half; at++)
        half = is_revoked(being_made->comm[at]);
    return half;
}

/* When a call fails, MPI frees what is half made, and crashes where a part is not there yet: it stays as it is. */
#define KEEPS_HALF_MADE(NAME, TYPE, IS_HALF_MADE)           \
    EXPORTED int NAME(TYPE *object)                         \
    {                                                       \
        static int (*next)(TYPE *);                         \
        if (!next)                                          \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);      \
        return (IS_HALF_MADE) ? MPI_SUCCESS : next(object); \
    }

KEEPS_HALF_MADE(ompi_osc_rdma_free, struct ompi_win_t, being_made)
/* A file that does not open is whole as far as it goes. */
KEEPS_HALF_MADE(mca_common_ompio_file_close, void, may_be_half_made())

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

static void keep(const void *handle, const struct inner *inner, struct modes modes)
{
    struct object *made = malloc(sizeof *made);
    if (!made)
        return;
    pthread_mutex_lock(&lock);
    *made = (struct object){handle, *inner, modes, objects};
    objects = made;
    pthread_mutex_unlock(&lock);
    change_inner(inner, modes);
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
            pthread_mutex_unlock(&lock);
            return false;
        }
    }
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&lock);
    for (int at_inner = 0; at_inner < inner.count; at_inner++) {
        drop_modes(inner.comm[at_inner]);
        forget_made(inner.comm[at_inner]);
        make_last_if_broken(inner.comm[at_inner]);
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
}

/* Begins a call that makes a window or a file. */
static MPI_Errhandler begin_object(MPI_Comm comm, struct inner *inner)
{
    inner->parent = comm;
    inner->count = 0;
    being_made = inner;
    begin_making();
    return hold_errors(comm);
}

/* What a call that went `code` is to be taken for: MPI says MPI_ERR_WIN and its kind of failures too. */
static int blamed(MPI_Comm comm, int code)
{
    if (code == MPI_SUCCESS || is_failure(code))
        return code;
    if (is_revoked(comm))
        return MPIX_ERR_REVOKED;
    return has_failures(comm) ? MPIX_ERR_PROC_FAILED : code;
}

/* All have it or none. One that others could not make is dropped, not freed: freeing takes all of them. */
static int end_object(MPI_Comm comm, struct inner *inner, int code)
{
    being_made = NULL;
    end_making(code, NULL);
    for (int at = 0; at < inner->count && code != MPI_SUCCESS; at++)
        forget_made(inner->comm[at]);
    return settle_all(comm, blamed(comm, code));
}

/* What it has from the communicator. */
static struct modes modes_of_object_on(MPI_Comm comm)
{
    struct modes modes = modes_of(comm);
    modes.uniform = UNIFORM_CREATE;
    return modes;
}

/* A call by all processes of `comm` that makes a window. */
#define WINDOW(NAME, PARAMETERS, ...)                        \
    EXPORTED int MPI_##NAME PARAMETERS                       \
    {                                                        \
        struct inner inner;                                  \
        struct modes modes = modes_of_object_on(comm);       \
        if (!rf.ready)                                       \
            return PMPI_##NAME(__VA_ARGS__);                 \
        MPI_Errhandler handler = begin_object(comm, &inner); \
        int code = read_modes(info, &modes);                 \
        if (code == MPI_SUCCESS)                             \
            code = PMPI_##NAME(__VA_ARGS__);                 \
        code = end_object(comm, &inner, code);               \
        if (code == MPI_SUCCESS)                             \
            keep(*window, &inner, modes);                    \
        else                                                 \
            *window = MPI_WIN_NULL;                          \
        return release_errors(comm, handler, code);          \
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
    if (forget(*window))
        return PMPI_Win_free(window);
    *window = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

EXPORTED int MPI_File_open(MPI_Comm comm, const char *name, int how, MPI_Info info, MPI_File *file)
{
    struct inner inner;
    struct modes modes = modes_of_object_on(comm);
    if (!rf.ready)
        return PMPI_File_open(comm, name, how, info, file);
    MPI_Errhandler handler = begin_object(comm, &inner);
    int code = read_modes(info, &modes);
    if (code == MPI_SUCCESS)
        code = PMPI_File_open(comm, name, how, info, file);
    code = end_object(comm, &inner, code);
    if (code == MPI_SUCCESS)
        keep(*file, &inner, modes);
    else
        *file = MPI_FILE_NULL;
    release_errors(comm, handler, MPI_SUCCESS);
    return code;
}

EXPORTED int MPI_File_close(MPI_File *file)
{
    if (forget(*file))
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
        if (code == MPI_SUCCESS && rf.ready)                              \
            write_modes(*info, modes_of_object(object));                  \
        return code;                                                      \
    }

KEYS(Win)
KEYS(File)
