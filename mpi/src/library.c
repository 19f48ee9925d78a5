/* Begin and end: what must be set before MPI starts, whether that MPI can recover at all, and an end that cannot hang.
 *
 * Open MPI 5.0 waits in MPI_Finalize for processes that are dead (a fence that counts them), its collective component `han`
 * crashes after failures on several nodes, and agreements in whose midst several processes die do not always end, over its
 * binary tree (2 of 14 jobs) or a string: the first is made asynchronous, the second left out, the third a star.
 * Who sends to a process for the first time asks the launcher where it is, and waits for ever if all of that host have died: in
 * worlds of at most PLACED processes all are asked for at the start.
 * Between hosts, a process that sends to one that has died gets SIGPIPE, which is made harmless. */
#include "guards/bounded.h"
#include "guards/epochs.h"
#include "guards/fence.h"
#include "guards/inject.h"
#include "guards/leaving.h"
#include "guards/young.h"
#include "jobs/parting.h"
#include "modes/objects.h"
#include "modes/range.h"
#include "modes/uniform.h"
#include "modes/watcher.h"
#include "requests/build.h"
#include "settings.h"
#include "spares/refill.h"
#include "spares/sites.h"
#include "spares/spares.h"
#include "state.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct state rf = {.world = MPI_COMM_NULL};
atomic_int attention;
MPI_Comm asleep_in = NOWHERE;

static void *kept_or_end(void *table, size_t count, size_t size)
{
    if (!table) {
        say("there is no memory for a table of %zu entries of %zu bytes; this process ends", count,
            size);
        end_as_failure();
    }
    return table;
}

void *new_table(size_t count, size_t size)
{
    return kept_or_end(calloc(count ? count : 1, size), count, size);
}

void *longer_table(void *table, size_t count, size_t size)
{
    return kept_or_end(reallocarray(table, count, size), count, size);
}

#define PLACED "4096"

/* Messages of one size that this process has under way to others of its host. Where Open MPI has no room for one more it loses news of a
 * revoke, and crashes in an agreement; its own 512 are those of some 100 communicators that are revoked at once. */
#define ON_THEIR_WAY "4096"

/* Of Open MPI, with fault tolerance. */
enum { LEAST_MAJOR = 5 };

/* Open MPI's shared memory on this host lies where the launch says, which deletes it there when a host's daemon has died. */
static void place_segments(void)
{
    const char *folder = getenv("RUNFLAT_SEGMENTS");
    if (folder && *folder && (mkdir(folder, 0700) == 0 || errno == EEXIST))
        setenv("OMPI_MCA_btl_sm_backing_directory", folder, 0);
}

/* What the user has set stays. */
__attribute__((constructor)) static void before_mpi(void)
{
    setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
    setenv("OMPI_MCA_coll", "^han,hcoll,portals4", 0);
    setenv("OMPI_MCA_coll_ftagree_era_topology", "3", 0);
    setenv("OMPI_MCA_mpi_add_procs_cutoff", PLACED, 0);
    setenv("OMPI_MCA_btl_sm_free_list_max", ON_THEIR_WAY, 0);
    place_segments();
}

/* Why recovery is not possible here; NULL: it is. */
static const char *what_is_missing(void)
{
    static const char name[] = "Open MPI v";
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, found = 0, *on = NULL;
    PMPI_Get_library_version(version, &length);
    /* Earlier ones do not know MPI_FT, and end a program that asks for it. */
    const char *number = strstr(version, name);
    if (!number || atoi(number + strlen(name)) < LEAST_MAJOR)
        return "this MPI is not Open MPI 5 or later, and has no fault tolerance that works";
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_FT, &on, &found);
    if (!found || !*on)
        return "fault tolerance is off: start with `mpirun --with-ft ulfm` (or `runflat mpi run`)";
    return NULL;
}

static bool exchange_places(void)
{
    struct place own = place_here();
    site_here(&own, own.site);
    /* Who is started for one that has died is alone in its world, and has that one's rank already. */
    int last = rf.rank < rf.size ? rf.size - 1 : rf.rank;
    rf.place = new_table((size_t)last + 1, sizeof own);
    rf.place[last] = own;
    return PMPI_Allgather(&own, sizeof own, MPI_BYTE, rf.place, sizeof own, MPI_BYTE, rf.world) ==
           MPI_SUCCESS;
}

/* Our copy of the world, with who is where; false: somebody has failed already. */
static bool open_world(void)
{
    MPI_Errhandler handler = hold_errors(MPI_COMM_WORLD);
    begin_making();
    bool made = end_making(PMPI_Comm_dup(MPI_COMM_WORLD, &rf.world), &rf.world) == MPI_SUCCESS;
    put_back_errors(MPI_COMM_WORLD, handler);
    if (!made)
        return false;
    PMPI_Comm_set_errhandler(rf.world, MPI_ERRORS_RETURN);
    return exchange_places();
}

static void nothing(int signal)
{
    (void)signal;
}

/* Open MPI's TCP transport writes to peers that have died, and the signal for that would end this process too. Programs that it
 * starts get the default again; what the program has set stays. */
static void outlive_broken_pipes(void)
{
    struct sigaction own = {.sa_handler = nothing, .sa_flags = SA_RESTART}, before;
    if (sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &own, NULL);
}

/* Whether this process aborts the job. */
static bool aborts;

/* A child that this process has forked is none of the job. */
static bool is_forked(void)
{
    return rf.ready && rf.place[rf.rank].pid != getpid();
}

/* Of a process that ends with a status the launcher tells nobody, and the others would wait for it. */
static void end_program(int status, void *unused)
{
    (void)unused;
    if (is_forked())
        return;
    if (aborts)
        for (;;)
            pause(); /* `abort_soon` ends it */
    if (!rf.ready || status == 0)
        return;
    say("ended with status %d before MPI_Finalize: it counts as failed", status);
    if (status < 0)
        print_own_stack(); /* Open MPI gives up like this */
    note_event("exited", -1);
    end_as_failure();
}

/* Stand before the C library's, which end a process past `on_exit`. */
__attribute__((visibility("default"))) void _exit(int status)
{
    if (rf.ready && !aborts)
        end_program(status, NULL);
    end_at_once(status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    _exit(status);
}

static void after_init(void)
{
    MPI_Comm parent;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rf.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &rf.size);
    if (place_of_newcomer() >= 0)
        rf.rank = place_of_newcomer();
    PMPI_Query_thread(&rf.threads);
    const char *missing = what_is_missing();
    if (missing) {
        if (rf.rank == 0)
            say("%s; the program runs unprotected", missing);
        return;
    }
    if (rf.rank == 0)
        check_settings();
    outlive_broken_pipes();
    begin_step("MPI_Init");
    if (can_build())
        learn_epochs();
    if (!open_world()) {
        say("a process has failed before the program has begun; it is aborted");
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    end_step();
    rf.ready = true;
    on_exit(end_program, NULL);
    note_start();
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL && place_of_newcomer() < 0)
        note_joined(parent);
    watch_neighbour();
    start_watcher();
    if (are_injections_planned()) {
        /* Their times count from when all have begun. */
        PMPI_Barrier(rf.world);
        arm_injections();
    }
}

/* A process that is spawned makes the communicator with its parents in MPI_Init, one of which may die meanwhile. */
static void begin_program(void)
{
    rf.begins = true;
    begin_step("MPI_Init");
    begin_making();
}

static int has_begun(int code)
{
    rf.begins = false;
    end_step();
    if (code == MPI_SUCCESS) {
        end_making(code, NULL);
        after_init();
    }
    return code;
}

__attribute__((visibility("default"))) int MPI_Init(int *argc, char ***argv)
{
    int given;
    begin_program();
    return has_begun(is_watcher_wanted() ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &given)
                                         : PMPI_Init(argc, argv));
}

__attribute__((visibility("default"))) int MPI_Init_thread(int *argc, char ***argv, int required,
                                                           int *provided)
{
    begin_program();
    return has_begun(PMPI_Init_thread(
        argc, argv, is_watcher_wanted() ? MPI_THREAD_MULTIPLE : required, provided));
}

/* In MPI_Init there is no rank yet, and those of other jobs end as well. */
static int turn_of_abort(void)
{
    enum { TURNS = 16 };
    return rf.ready ? rf.rank : getpid() % TURNS;
}

/* Stands before Open MPI's own function of the name, which MPI_Abort and fatal errors come to. Its launcher does not always end when
 * several processes ask for it at the same moment: they ask one by one, and the first is enough. With fault tolerance it does not
 * always end the others either (0 of 4 jobs with 4 processes). */
__attribute__((visibility("default"))) int ompi_mpi_abort(MPI_Comm comm, int status)
{
    const struct timespec turn = {0, 40000000};
    static int (*next)(MPI_Comm, int);
    note_event("aborted", -1);
    aborts = true;
    abort_soon(status ? status : 1);
    for (int before = 0; before < turn_of_abort(); before++)
        nanosleep(&turn, NULL);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_mpi_abort");
    return next(comm, status);
}

/* The same, for what Open MPI gives up by itself: nobody prints why. */
__attribute__((visibility("default"))) void ompi_rte_abort(int status, char *why, ...)
{
    static void (*next)(int, char *, ...);
    char text[256];
    va_list values;
    va_start(values, why);
    if (why && !aborts) {
        vsnprintf(text, sizeof text, why, values);
        say("Open MPI gives up: %s", text);
    }
    va_end(values);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_rte_abort");
    next(status, NULL);
}

/* Stands before Open MPI's own function of the name, which parts from other jobs when MPI can no longer make connections, and crashes
 * where it needs one. */
__attribute__((visibility("default"))) int ompi_dpm_dyn_finalize(void)
{
    return MPI_SUCCESS;
}

__attribute__((visibility("default"))) int MPI_Finalize(void)
{
    if (!rf.ready)
        return PMPI_Finalize();
    enter_phase("finalize");
    part();
    stop_watcher();
    end_looking();
    release_spares();
    leave_together();
    leave_objects();
    rf.ready = false;
    stop_watching();
    begin_step("MPI_Finalize");
    /* Open MPI shrinks the world once more in there: news about that communicator need not be told any more. */
    begin_making();
    int code = PMPI_Finalize();
    end_step();
    note_event("finalized", -1);
    return code;
}
