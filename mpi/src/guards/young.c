#include "guards/young.h"

#include "guards/deaths.h"
#include "guards/epochs.h"
#include "guards/lasting.h"
#include "guards/numbers.h"
#include "modes/modes.h"
#include "requests/calls.h"
#include "state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* News about a communicator that was held back. */
struct news {
    MPI_Comm comm;
    bool collectives_only;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int making;
static struct news *held;
static int held_count, held_room;

static void hold_back(struct news news)
{
    if (held_count == held_room) {
        held_room = 2 * held_room + 16;
        held = longer_table(held, (size_t)held_room, sizeof *held);
    }
    held[held_count++] = news;
}

/* Communicators that are made. */
static MPI_Comm *made_list;
static int made_count, made_room;

/* In MPI_Init there is none yet. */
static bool is_made(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return !rf.begins;
    for (int at = 0; at < made_count; at++)
        if (made_list[at] == comm)
            return true;
    return false;
}

static atomic_bool has_revoked;

bool has_seen_revoke(void)
{
    return atomic_load(&has_revoked);
}

static atomic_uint told_count;

unsigned news_told(void)
{
    return atomic_load_explicit(&told_count, memory_order_acquire);
}

static bool tell(MPI_Comm comm, bool collectives_only)
{
    static bool (*next)(MPI_Comm, bool);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ompi_comm_revoke_local");
    bool is_new = next && next(comm, collectives_only);
    atomic_fetch_add_explicit(&told_count, 1, memory_order_release);
    return is_new;
}

/* Stands before Open MPI's own function of the name. */
__attribute__((visibility("default"))) bool ompi_comm_revoke_local(MPI_Comm comm,
                                                                   bool collectives_only)
{
    pthread_mutex_lock(&lock);
    if (!collectives_only)
        atomic_store(&has_revoked, true);
    bool hold = making > 0 && !is_made(comm);
    if (hold)
        hold_back((struct news){comm, collectives_only});
    pthread_mutex_unlock(&lock);
    return !hold && tell(comm, collectives_only);
}

void begin_making(void)
{
    pthread_mutex_lock(&lock);
    making++;
    pthread_mutex_unlock(&lock);
}

static void add_made(MPI_Comm comm)
{
    if (made_count == made_room) {
        made_room = 2 * made_room + 16;
        made_list = longer_table(made_list, (size_t)made_room, sizeof *made_list);
    }
    made_list[made_count++] = comm;
}

/* MPI ends collective calls of others when it learns of a failure: on the communicators that there are then. A process that has
 * learned of it earlier than it made this one would wait for ever for those that have not. */
static void tell_of_earlier_failures(MPI_Comm made)
{
    if (has_failures(made))
        tell(made, true);
}

/* News that is to be told. */
struct due {
    struct news *news;
    int count;
};

/* Takes the news about what has been made off those held back; of all, if nothing is being made any more. */
static struct due take_due(MPI_Comm made, bool good)
{
    struct due due = {new_table((size_t)held_count, sizeof *due.news), 0};
    int kept = 0;
    if (good && made != MPI_COMM_NULL) {
        /* Of another one that was there before. */
        forget_calls(made);
        if (!is_made(made))
            add_made(made);
    }
    /* What was not made is gone. News of others wait for those that make them, if there are any. */
    for (int at = 0; at < held_count; at++) {
        if (good && (held[at].comm == made || making == 0))
            due.news[due.count++] = held[at];
        else if (making > 0 && held[at].comm != made)
            held[kept++] = held[at];
    }
    held_count = kept;
    return due;
}

static void tell_due(struct due due)
{
    /* Open MPI passes a revoke on to the next processes only where it was news: what was held was not passed on. */
    for (int at = 0; at < due.count; at++) {
        if (due.news[at].collectives_only)
            tell(due.news[at].comm, true);
        else
            PMPIX_Comm_revoke(due.news[at].comm);
    }
    free(due.news);
}

static void note_epoch_if_new(MPI_Comm made)
{
    if (made != MPI_COMM_NULL && !is_made(made))
        note_epoch(made);
}

void note_made(MPI_Comm made)
{
    pthread_mutex_lock(&lock);
    note_epoch_if_new(made);
    struct due due = take_due(made, true);
    pthread_mutex_unlock(&lock);
    tell_due(due);
    tell_of_earlier_failures(made);
}

int end_making(int code, const MPI_Comm *place)
{
    MPI_Comm made = place ? *place : MPI_COMM_NULL;
    /* Both make some too, of numbers of which others may have others, and revoke those: such news is held back as well. */
    if (code != MPI_SUCCESS)
        free_numbers();
    pthread_mutex_lock(&lock);
    if (code == MPI_SUCCESS)
        note_epoch_if_new(made);
    bool is_last = making == 1;
    pthread_mutex_unlock(&lock);
    if (is_last)
        catch_up_with_epochs();
    pthread_mutex_lock(&lock);
    making--;
    struct due due = take_due(made, code == MPI_SUCCESS);
    pthread_mutex_unlock(&lock);
    tell_due(due);
    if (code == MPI_SUCCESS && made != MPI_COMM_NULL && rf.ready)
        tell_of_earlier_failures(made);
    return code;
}

static void forget_news(MPI_Comm comm)
{
    int kept = 0;
    for (int at = 0; at < held_count; at++)
        if (held[at].comm != comm)
            held[kept++] = held[at];
    held_count = kept;
}

void forget_made(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    forget_news(comm);
    for (int at = 0; at < made_count; at++) {
        if (made_list[at] == comm) {
            made_list[at] = made_list[--made_count];
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

void free_made(MPI_Comm *comm)
{
    drop_modes(*comm);
    forget_made(*comm);
    make_last_if_broken(*comm);
    PMPI_Comm_free(comm);
}
