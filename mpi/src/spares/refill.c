#include "spares/refill.h"

#include "guards/bounded.h"
#include "guards/fence.h"
#include "guards/young.h"
#include "modes/uniform.h"
#include "spares/roster.h"
#include "state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* At the first process of the pool: one that it has spawned and that has not joined yet, and their communicator, it first. */
static struct {
    MPI_Comm bridge;
    struct place place;
} waiting = {.bridge = MPI_COMM_NULL};

/* What a newcomer is told first; the history of the roster, the places of the pool's processes and who is where follow. */
struct greeting {
    /* Where it stands: the lowest dead one, which may be another than when it was spawned. */
    int place;
    int size;    /* of the world */
    int history; /* entries */
    int members; /* of the pool before it came */
    int votes;   /* of the repair that it comes in the midst of */
};

enum { TAG = 1, WORDS_MAX = 4096, TEXT_MAX = 1 << 17 };

bool may_refill(void)
{
    const char *given = getenv("RUNFLAT_REFILL");
    return given && *given == '1';
}

int place_of_newcomer(void)
{
    const char *given = getenv("RUNFLAT_PLACE");
    return given && *given ? atoi(given) : -1;
}

/* The words of this process's command line, one after the other; returns how many bytes. */
static size_t own_command(char text[TEXT_MAX])
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(text, 1, TEXT_MAX - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    return length;
}

/* What does not go on to newcomers: failures on request have happened, and copies are in memory. */
static bool is_handed_on(const char *variable)
{
    static const char *const left[] = {"RUNFLAT_KILL=",    "RUNFLAT_STOP=",  "RUNFLAT_CORRUPT=",
                                       "RUNFLAT_RESTART=", "RUNFLAT_PLACE=", "RUNFLAT_SPAWNER="};
    for (size_t at = 0; at < sizeof left / sizeof *left; at++)
        if (strncmp(variable, left[at], strlen(left[at])) == 0)
            return false;
    return strncmp(variable, "RUNFLAT_", 8) == 0 || strncmp(variable, "LD_PRELOAD=", 11) == 0;
}

/* Spawns one process: this program with the same words, by way of `env`. The others of the pool take no part: one that died
 * meanwhile would hang all in there. */
static int spawn_one(int place, MPI_Comm *between)
{
    static char text[TEXT_MAX], folder[4096], own_place[32], spawner[SPAWNER_MAX];
    char *words[WORDS_MAX + 1];
    int count = 0;
    MPI_Info info;
    size_t length = own_command(text);
    snprintf(own_place, sizeof own_place, "RUNFLAT_PLACE=%d", place);
    words[count++] = own_place;
    write_spawner(spawner);
    words[count++] = spawner;
    for (char **one = environ; *one && count < WORDS_MAX / 2; one++)
        if (is_handed_on(*one))
            words[count++] = *one;
    for (size_t at = 0; at < length && count < WORDS_MAX; at += strlen(text + at) + 1)
        words[count++] = text + at;
    words[count] = NULL;
    PMPI_Info_create(&info);
    if (getcwd(folder, sizeof folder) && strlen(folder) < MPI_MAX_INFO_VAL)
        PMPI_Info_set(info, "wdir", folder);
    begin_making();
    int code =
        PMPI_Comm_spawn("env", words, 1, info, 0, MPI_COMM_SELF, between, MPI_ERRCODES_IGNORE);
    PMPI_Info_free(&info);
    return end_making(code, between);
}

static int merge(MPI_Comm between, bool newcomer, MPI_Comm *all)
{
    PMPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    begin_making();
    int code = end_making(PMPI_Intercomm_merge(between, newcomer, all), all);
    if (code == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(*all, MPI_ERRORS_RETURN);
    return code;
}

/* Waits until the newcomer is in RF_Init, and learns where it runs. It may end before, which Open MPI does not always tell. */
static int hear_from(MPI_Comm between)
{
    const struct timespec nap = {0, 200000};
    double until = steady_s() + step_limit_s() / 2;
    MPI_Request request;
    int done = 0;
    PMPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    int code =
        PMPI_Irecv(&waiting.place, sizeof waiting.place, MPI_BYTE, 0, TAG, between, &request);
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        /* A revoke would wait for it. If it comes yet, its own step limit ends it. */
        if (steady_s() > until)
            return MPI_ERR_SPAWN;
        nanosleep(&nap, NULL);
    }
    return code;
}

/* At the first process of the pool: somebody waits there to join. An error is not one of the pool: who was started may have ended. */
static int have_one_wait(int place)
{
    MPI_Comm between = MPI_COMM_NULL;
    if (waiting.bridge != MPI_COMM_NULL)
        return MPI_SUCCESS;
    MPI_Errhandler handler = hold_errors(MPI_COMM_SELF);
    int code = spawn_one(place, &between);
    if (code == MPI_SUCCESS)
        code = hear_from(between);
    if (code == MPI_SUCCESS)
        code = merge(between, false, &waiting.bridge);
    put_back_errors(MPI_COMM_SELF, handler);
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    waiting.bridge = MPI_COMM_NULL;
    return MPI_ERR_SPAWN;
}

/* It may be in the midst of joining, and nobody comes any more. */
static void send_away(void)
{
    if (waiting.bridge == MPI_COMM_NULL)
        return;
    PMPIX_Comm_revoke(waiting.bridge);
    if (waiting.place.host == rf.place[rf.rank].host)
        kill(waiting.place.pid, SIGKILL);
    waiting.bridge = MPI_COMM_NULL;
}

/* Makes one communicator of a pool, or of a newcomer alone (`high`), and the other side. */
static int unite(MPI_Comm own, MPI_Comm bridge, bool high, MPI_Comm *all)
{
    MPI_Comm between = MPI_COMM_NULL;
    begin_making();
    int code = PMPI_Intercomm_create(own, 0, bridge, high ? 0 : 1, TAG, &between);
    end_making(code, &between);
    if (!high)
        code = settle_all(own, code);
    if (code == MPI_SUCCESS)
        code = merge(between, high, all);
    return high ? code : settle_all(own, code);
}

/* The newcomer is the last of `all`. */
static int greet(MPI_Comm all, int newcomer, int place, int votes)
{
    struct greeting greeting = {
        .place = place, .size = rf.size, .members = newcomer, .votes = votes};
    const int *history = roster_history(&greeting.history);
    int code = PMPI_Send(&greeting, sizeof greeting, MPI_BYTE, newcomer, TAG, all);
    if (code == MPI_SUCCESS)
        code = PMPI_Send(history, greeting.history, MPI_INT, newcomer, TAG, all);
    if (code == MPI_SUCCESS)
        code = PMPI_Send(places_in_pool(), greeting.members, MPI_INT, newcomer, TAG, all);
    if (code == MPI_SUCCESS)
        code = PMPI_Send(rf.place, rf.size * (int)sizeof *rf.place, MPI_BYTE, newcomer, TAG, all);
    return code;
}

/* Somebody else runs at a place. What the policy has been told of the place stays: newcomers must come to the same answers from its
 * history. */
static void stand_at(int place, struct place own)
{
    memcpy(own.site, rf.place[place].site, sizeof own.site);
    rf.place[place] = own;
}

/* All of `all`, the newcomer too, learn where that runs, and agree that it is there. */
static int accept(MPI_Comm all, int newcomer, int place)
{
    struct place own = rf.place[place];
    int code = PMPI_Bcast(&own, sizeof own, MPI_BYTE, newcomer, all);
    code = settle_all(all, code);
    if (code == MPI_SUCCESS)
        stand_at(place, own);
    return code;
}

/* MPI_SUCCESS and a larger pool; another code: the pool is as it was. */
static int start_one(MPI_Comm *pool, int place, int votes)
{
    MPI_Comm all = MPI_COMM_NULL;
    int rank, newcomer;
    PMPI_Comm_rank(*pool, &rank);
    PMPI_Comm_size(*pool, &newcomer);
    int code = settle_all(*pool, rank == 0 ? have_one_wait(place) : MPI_SUCCESS);
    if (code != MPI_SUCCESS)
        return code;
    code = unite(*pool, waiting.bridge, false, &all);
    if (code == MPI_SUCCESS && rank == 0)
        code = greet(all, newcomer, place, votes);
    /* The others may wait for it, and it for them. */
    if (code != MPI_SUCCESS && all != MPI_COMM_NULL)
        PMPIX_Comm_revoke(all);
    else if (code == MPI_SUCCESS)
        code = accept(all, newcomer, place);
    if (code != MPI_SUCCESS) {
        send_away();
        return MPIX_ERR_PROC_FAILED;
    }
    waiting.bridge = MPI_COMM_NULL;
    /* The watcher may look at the pool. */
    MPI_Comm before = *pool;
    *pool = all;
    free_made(&before);
    welcome(place, all);
    note_event_of("refilled", -1, "of", place);
    return MPI_SUCCESS;
}

int refill(MPI_Comm *pool, int votes)
{
    int code = MPI_SUCCESS;
    for (int place = first_dead(); place >= 0 && code == MPI_SUCCESS; place = first_dead())
        code = start_one(pool, place, votes);
    if (code == MPI_SUCCESS || is_failure(code))
        return code;
    if (rf.rank == 0)
        say("a process could not be started for a dead one: there are fewer spares");
    return MPI_SUCCESS;
}

/* Takes what `greet` sends. */
static bool listen(MPI_Comm all, int spares, int *votes)
{
    struct greeting greeting = {0};
    MPI_Status *none = MPI_STATUS_IGNORE;
    if (PMPI_Recv(&greeting, sizeof greeting, MPI_BYTE, 0, TAG, all, none) != MPI_SUCCESS)
        return false;
    int *history = new_table((size_t)greeting.history, sizeof(int));
    int *places = new_table((size_t)greeting.members, sizeof(int));
    struct place own = rf.place[0], *table = new_table((size_t)greeting.size, sizeof own);
    bool good = PMPI_Recv(history, greeting.history, MPI_INT, 0, TAG, all, none) == MPI_SUCCESS &&
                PMPI_Recv(places, greeting.members, MPI_INT, 0, TAG, all, none) == MPI_SUCCESS &&
                PMPI_Recv(table, greeting.size * (int)sizeof own, MPI_BYTE, 0, TAG, all, none) ==
                    MPI_SUCCESS;
    if (good) {
        rf.rank = greeting.place;
        free(rf.place);
        rf.place = table;
        rf.size = greeting.size;
        stand_at(rf.rank, own);
        *votes = greeting.votes;
        good = open_roster_again(spares, greeting.history, history, greeting.members, places);
    }
    free(history);
    free(places);
    return good;
}

bool join_pool(int spares, MPI_Comm *pool, int *votes)
{
    MPI_Comm between, bridge, all = MPI_COMM_NULL;
    int rank;
    PMPI_Comm_get_parent(&between);
    if (between == MPI_COMM_NULL)
        return false;
    PMPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    if (PMPI_Send(&rf.place[0], sizeof *rf.place, MPI_BYTE, 0, TAG, between) != MPI_SUCCESS)
        return false;
    if (merge(between, true, &bridge) != MPI_SUCCESS)
        return false;
    if (unite(MPI_COMM_SELF, bridge, true, &all) != MPI_SUCCESS)
        return false;
    PMPI_Comm_rank(all, &rank);
    if (!listen(all, spares, votes) || accept(all, rank, rf.rank) != MPI_SUCCESS)
        return false;
    *pool = all;
    welcome(rf.rank, all);
    watch_neighbour();
    return true;
}
