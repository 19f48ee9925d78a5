/* What one process knows of its job. */
#ifndef RUNFLAT_STATE_H
#define RUNFLAT_STATE_H

#include <mpi.h>
#include <mpi-ext.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SITE_LEVELS = 9 };

/* Where a process of the world runs. */
struct place {
    uint64_t host;    /* hash of its name */
    uint64_t started; /* see `start_of` */
    pid_t pid;
    /* Switches and host, see sites.h: of the process that stood here when the job began, whoever is started here later. */
    uint64_t site[SITE_LEVELS];
};

struct state {
    bool begins;         /* in MPI_Init */
    bool ready;          /* between the end of MPI_Init and MPI_Finalize, with fault tolerance */
    MPI_Comm world;      /* our own copy of MPI_COMM_WORLD: never revoked, errors are returned */
    int rank, size;      /* in `world` */
    int threads;         /* level that MPI provides */
    struct place *place; /* by rank of `world` */
};

extern struct state rf;

/* How much there is that calls must look after: communicators whose collective calls are uniform, and requests of this library that
 * have not been waited for. Where there is nothing, calls go straight on. */
extern atomic_int attention;

static inline bool all_is_quiet(void)
{
    return __builtin_expect(atomic_load_explicit(&attention, memory_order_relaxed) == 0, 1);
}

/* MPI_COMM_WORLD while spares sleep, who never come to a call of all of it; else NOWHERE, which no communicator is. */
extern MPI_Comm asleep_in;
#define NOWHERE ((MPI_Comm)(void *)&asleep_in)

/* Whether a call of all of a communicator waits for spares for ever: it is refused, and said. */
static inline bool sleeps_in(MPI_Comm comm)
{
    return __builtin_expect(comm == asleep_in, 0);
}

/* A hash of letters with one more (FNV-1a); that of none. */
#define HASH_OF_NOTHING 14695981039346656037u
static inline uint64_t hash_on(uint64_t hash, char letter)
{
    return (hash ^ (unsigned char)letter) * 1099511628211u;
}

/* Whether the process with a rank of the world runs on this host. */
static inline bool is_here(int rank)
{
    return rf.place[rank].host == rf.place[rf.rank].host;
}

/* Whether no process of this host has a lower rank. */
static inline bool is_first_here(void)
{
    int first = 0;
    while (!is_here(first))
        first++;
    return first == rf.rank;
}

/* Notes an event with its duration in ms (negative: none) in this process's file; nothing without RUNFLAT_EVENTS. */
void note_event(const char *event, double ms);

/* Notes that this process has come through MPI_Init, and its host as the launcher calls it. */
void note_start(void);

/* The same as `note_event` with one more field. */
void note_event_of(const char *event, double ms, const char *field, long value);

/* Seconds since the epoch. */
double wall_s(void);

/* A word to the user on stderr, in one piece: "runflat: [rank 3] ...". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Room for what this process notes of its job, all 0. Where there is none the process ends, which the others repair: without its notes
 * it would be of no use to them. */
void *new_table(size_t count, size_t size);

/* The same for more: what was there stays, what is new has any value. */
void *longer_table(void *table, size_t count, size_t size);

/* The class of an error code. */
static inline int error_class(int code)
{
    int class = code;
    /* Those of this library are negative, which MPI refuses. */
    if (code > 0)
        PMPI_Error_class(code, &class);
    return class;
}

/* Whether a communicator is an intercommunicator: agreements on those do not end in Open MPI 5.0. */
static inline bool is_between(MPI_Comm comm)
{
    int inter = 0;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_test_inter(comm, &inter);
    return inter;
}

/* Whether it is an intracommunicator. */
static inline bool is_within(MPI_Comm comm)
{
    return comm != MPI_COMM_NULL && !is_between(comm);
}

/* Whether a call that makes something for all of a communicator is looked after; what is wrong with others, MPI says. */
static inline bool is_looked_after(MPI_Comm comm, const void *place)
{
    return rf.ready && place && is_within(comm);
}

/* Whether an error says that processes failed or that somebody gave up a communicator. */
static inline bool is_failure(int code)
{
    int class = error_class(code);
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING ||
           class == MPIX_ERR_REVOKED;
}

#endif
