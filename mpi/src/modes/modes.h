/* Error range and error uniformity of communicators, set by info keys, and which are interrupted by a repair.
 *
 * Source: Bouteiller and Bosilca 2022, Sections III-A and III-B, Figure 2. */
#ifndef RUNFLAT_MODES_H
#define RUNFLAT_MODES_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Which failures interrupt operations on a communicator. */
enum range {
    RANGE_LOCAL,   /* of processes that the operation needs: what MPI does by itself */
    RANGE_GROUP,   /* of any of its processes */
    RANGE_UNIVERSE /* of any process of the job */
};

/* Which calls return the same error class at all processes. */
enum uniform { UNIFORM_LOCAL, UNIFORM_CREATE, UNIFORM_COLL };

struct modes {
    enum range range;
    enum uniform uniform;
    /* It is the communicator of the job's ranks, or was made from it: a repair interrupts it. How many there have been, this one included; 0: neither. */
    unsigned of_job;
};

/* Communicators that have a mode, and those of them whose range is not local. */
extern atomic_int marked_count, ranged_count;

/* The modes of a communicator. */
struct modes modes_of_marked(MPI_Comm comm);

static inline struct modes modes_of(MPI_Comm comm)
{
    struct modes none = {RANGE_LOCAL, UNIFORM_LOCAL, 0};
    return atomic_load_explicit(&marked_count, memory_order_relaxed) == 0 ? none
                                                                          : modes_of_marked(comm);
}

/* Sets the modes of a communicator; all its processes do, and wait for each other. */
void change_modes(MPI_Comm comm, struct modes modes);

/* Sets the modes of a new communicator. Waits for nobody, so its uniform calls are followed by agreements. */
void adopt_modes(MPI_Comm comm, struct modes modes);

/* The same with the modes of the one that it was made from. */
void inherit_modes(MPI_Comm from, MPI_Comm to);

/* Its uniform calls are confirmed in a copy of it from now on, which is the library's; all its processes do the same, and wait for nobody. */
void confirm_in(MPI_Comm copy, MPI_Comm comm);

/* What confirms the collective calls of a communicator; NULL: nothing. */
struct ballot *ballot_of(MPI_Comm comm);

/* Whether the error handler of a communicator with a mode is MPI_ERRORS_RETURN. */
bool returns_errors(MPI_Comm comm);

/* A communicator goes away: all its processes are here, unless it is revoked. */
void drop_modes(MPI_Comm comm);

/* Lets each communicator with a ballot take part in what others have begun. */
void look_at_ballots(void);

/* Tells of each communicator that has a mode. */
void each_marked(void (*tell)(MPI_Comm comm, struct modes modes, void *context), void *context);

/* Changes modes as the keys of an info object say; a value that there is not is MPI_ERR_INFO_VALUE, a range that this MPI cannot
 * have MPI_ERR_UNSUPPORTED_OPERATION. */
int read_modes(MPI_Info info, struct modes *modes);

/* Adds the keys of modes to an info object. */
void write_modes(MPI_Info info, struct modes modes);

#endif
