#include "modes/modes.h"

#include "modes/ballot.h"
#include "modes/range.h"
#include "modes/uniform.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

atomic_int marked_count, ranged_count;

struct marked {
    MPI_Comm comm;
    struct modes modes;
    struct ballot *ballot; /* NULL: calls are not uniform, or followed by agreements */
    bool returns_errors;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct marked *marked;
static int room;

/* The spellings of the paper's text, figure and listing, of its benchmarks, and of Open MPI's manual. */
static const char *const range_keys[] = {"mpix_error_range",        "mpix_error_scope",
                                         "mpix_assert_error_scope", "mpi_error_range",
                                         "mpi_error_scope",         "mpi_assert_error_scope"};
static const char *const uniform_keys[] = {"mpix_error_uniform", "mpix_assert_error_uniform",
                                           "mpi_error_uniform", "mpi_assert_error_uniform"};
static const char *const range_names[] = {"local", "group", "universe"};
static const char *const uniform_names[] = {"local", "create", "coll"};

static struct marked *find(MPI_Comm comm)
{
    for (int at = 0; at < atomic_load(&marked_count); at++)
        if (marked[at].comm == comm)
            return &marked[at];
    return NULL;
}

/* What was looked up last, until anything changes. */
static atomic_uint changes = 1;
static __thread struct {
    unsigned changes;
    struct marked marked;
} last __attribute__((tls_model("initial-exec")));

static const struct marked *look_up(MPI_Comm comm)
{
    if (last.changes == atomic_load_explicit(&changes, memory_order_acquire) &&
        last.marked.comm == comm)
        return &last.marked;
    pthread_rwlock_rdlock(&lock);
    const struct marked *own = find(comm);
    last.changes = atomic_load(&changes);
    last.marked = own ? *own : (struct marked){comm, {RANGE_LOCAL, UNIFORM_LOCAL, 0}, NULL, false};
    pthread_rwlock_unlock(&lock);
    return &last.marked;
}

struct modes modes_of_marked(MPI_Comm comm)
{
    return look_up(comm)->modes;
}

static void set_modes(MPI_Comm comm, struct modes modes)
{
    bool plain = modes.range == RANGE_LOCAL && modes.uniform == UNIFORM_LOCAL && !modes.of_job;
    pthread_rwlock_wrlock(&lock);
    struct marked *own = find(comm);
    int count = atomic_load(&marked_count);
    if (!own && !plain) {
        if (count == room) {
            room = 2 * room + 8;
            marked = longer_table(marked, (size_t)room, sizeof *marked);
        }
        own = &marked[count];
        *own = (struct marked){comm, {RANGE_LOCAL, UNIFORM_LOCAL, 0}, NULL, false};
        atomic_store(&marked_count, count + 1);
    }
    if (own) {
        atomic_fetch_add(&ranged_count,
                         (modes.range != RANGE_LOCAL) - (own->modes.range != RANGE_LOCAL));
        atomic_fetch_add(&attention,
                         (modes.uniform == UNIFORM_COLL) - (own->modes.uniform == UNIFORM_COLL));
        own->modes = modes;
        if (plain) {
            *own = marked[atomic_load(&marked_count) - 1];
            atomic_fetch_sub(&marked_count, 1);
        }
    }
    atomic_fetch_add(&changes, 1);
    pthread_rwlock_unlock(&lock);
}

/* What a communicator can have of some modes: on an intercommunicator only calls that make communicators are uniform. */
static struct modes possible(MPI_Comm comm, struct modes modes)
{
    if (modes.uniform == UNIFORM_COLL && is_between(comm))
        modes.uniform = UNIFORM_CREATE;
    return modes;
}

void adopt_modes(MPI_Comm comm, struct modes modes)
{
    if (modes.range != RANGE_LOCAL)
        begin_looking();
    set_modes(comm, possible(comm, modes));
}

void inherit_modes(MPI_Comm from, MPI_Comm to)
{
    if (to != MPI_COMM_NULL && atomic_load(&marked_count) > 0)
        adopt_modes(to, modes_of_marked(from));
}

struct ballot *ballot_of(MPI_Comm comm)
{
    return look_up(comm)->ballot;
}

bool returns_errors(MPI_Comm comm)
{
    return look_up(comm)->returns_errors;
}

/* Takes note of the error handler of a communicator, if it has a mode. */
static void note_handler(MPI_Comm comm)
{
    MPI_Errhandler handler = handler_of(comm);
    pthread_rwlock_wrlock(&lock);
    struct marked *own = find(comm);
    if (own)
        own->returns_errors = handler == MPI_ERRORS_RETURN;
    atomic_fetch_add(&changes, 1);
    pthread_rwlock_unlock(&lock);
    PMPI_Errhandler_free(&handler);
}

__attribute__((visibility("default"))) int MPI_Comm_set_errhandler(MPI_Comm comm,
                                                                   MPI_Errhandler handler)
{
    int code = set_handler(comm, handler);
    if (code == MPI_SUCCESS && atomic_load(&marked_count) > 0)
        note_handler(comm);
    return code;
}

/* Takes over another ballot; returns the one before. */
static struct ballot *change_ballot(MPI_Comm comm, struct ballot *ballot)
{
    pthread_rwlock_wrlock(&lock);
    struct marked *own = find(comm);
    struct ballot *before = own ? own->ballot : NULL;
    if (own)
        own->ballot = ballot;
    atomic_fetch_add(&changes, 1);
    pthread_rwlock_unlock(&lock);
    return before;
}

void drop_modes(MPI_Comm comm)
{
    if (atomic_load(&marked_count) == 0)
        return;
    struct ballot *ballot = change_ballot(comm, NULL);
    set_modes(comm, (struct modes){RANGE_LOCAL, UNIFORM_LOCAL, 0});
    if (ballot)
        close_ballot(ballot);
}

void change_modes(MPI_Comm comm, struct modes modes)
{
    modes = possible(comm, modes);
    bool votes = modes.uniform == UNIFORM_COLL;
    if (!votes)
        drop_modes(comm);
    set_modes(comm, modes);
    note_handler(comm);
    if (votes && !ballot_of(comm) && begin_looking())
        change_ballot(comm, open_ballot(comm));
}

void confirm_in(MPI_Comm copy, MPI_Comm comm)
{
    note_handler(comm);
    if (begin_looking())
        change_ballot(comm, open_ballot_in(copy, comm));
}

void look_at_ballots(void)
{
    pthread_rwlock_rdlock(&lock);
    for (int at = 0; at < atomic_load(&marked_count); at++)
        if (marked[at].ballot)
            look_at_ballot(marked[at].ballot);
    pthread_rwlock_unlock(&lock);
}

void each_marked(void (*tell)(MPI_Comm comm, struct modes modes, void *context), void *context)
{
    pthread_rwlock_rdlock(&lock);
    for (int at = 0; at < atomic_load(&marked_count); at++)
        tell(marked[at].comm, marked[at].modes, context);
    pthread_rwlock_unlock(&lock);
}

/* The number of the value of the first key that is there, -1 if it is none of `names`; `otherwise` without any. */
static int read_key(MPI_Info info, const char *const *keys, int key_count, const char *const *names,
                    int otherwise)
{
    for (int key = 0; key < key_count; key++) {
        char value[MPI_MAX_INFO_VAL + 1];
        int there = 0;
        PMPI_Info_get(info, keys[key], MPI_MAX_INFO_VAL, value, &there);
        if (!there)
            continue;
        for (int at = 0; at < 3; at++)
            if (strcmp(value, names[at]) == 0)
                return at;
        if (names == range_names && strcmp(value, "global") == 0)
            return RANGE_UNIVERSE;
        say("%s: `%s` is none of %s, %s, %s%s", keys[key], value, names[0], names[1], names[2],
            names == range_names ? " (or global, the same)" : "");
        return -1;
    }
    return otherwise;
}

int read_modes(MPI_Info info, struct modes *modes)
{
    if (info == MPI_INFO_NULL)
        return MPI_SUCCESS;
    int range = read_key(info, range_keys, 6, range_names, modes->range);
    int uniform = read_key(info, uniform_keys, 4, uniform_names, modes->uniform);
    if (range < 0 || uniform < 0)
        return MPI_ERR_INFO_VALUE;
    if (range != RANGE_LOCAL && !begin_looking()) {
        say("the library of this MPI does not export opal_progress_register_lp, without which "
            "failures interrupt nothing");
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    modes->range = range;
    modes->uniform = uniform;
    return MPI_SUCCESS;
}

void write_modes(MPI_Info info, struct modes modes)
{
    PMPI_Info_set(info, range_keys[0], range_names[modes.range]);
    PMPI_Info_set(info, uniform_keys[0], uniform_names[modes.uniform]);
}

__attribute__((visibility("default"))) int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    int code = PMPI_Comm_set_info(comm, info);
    if (code != MPI_SUCCESS || !rf.ready)
        return code;
    struct modes modes = modes_of(comm);
    code = read_modes(info, &modes);
    if (code == MPI_SUCCESS) {
        change_modes(comm, modes);
        interrupt_if_hit(comm, modes.range);
    } else {
        raise_error(comm, code, __func__);
    }
    return code;
}

__attribute__((visibility("default"))) int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    int code = PMPI_Comm_get_info(comm, info);
    if (code == MPI_SUCCESS && rf.ready)
        write_modes(*info, modes_of(comm));
    return code;
}
