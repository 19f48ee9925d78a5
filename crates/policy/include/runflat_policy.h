/* librunflat_policy: which place takes over from a failed one.
 *
 * A job has ranks, each on a place; places without a rank are spares. What a place is, is the caller's: a process, a node.
 * Places are numbered from 0; on a grid x runs fastest, as everywhere in runflat. Whenever a place fails, a recovery policy
 * says who stands where from then on: the code, the notation and the random streams are those of `runflat spares`, so what was
 * simulated is what happens.
 *
 * No communication: every process opens the same policy and reports the same failures in the same order (two that are seen at
 * once: in any order that all agree on), and all have the same places, on any platform and whatever else they do. `runflat
 * spares substitute --seed SEED` gives them, too, as long as a spare is left.
 *
 * Threads: a handle belongs to one thread at a time; two handles have nothing in common. Signals: call nothing here from a
 * handler, memory is allocated. No function ends the process (unless there is no memory left) or lets an exception out; a fault
 * of the library itself is RUNFLAT_INTERNAL_ERROR. */
#ifndef LIBRUNFLAT_POLICY_H
#define LIBRUNFLAT_POLICY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. A library of another version is not to be called: compare with runflat_policy_abi(). */
#define RUNFLAT_POLICY_ABI 3

/* Place of a rank that has none any more. */
#define RUNFLAT_NOWHERE UINT32_MAX

/* What functions return. Negative codes are for what the caller did wrong, or the library; the others are answers. */
enum {
    RUNFLAT_SUBSTITUTED = 0,      /* the rank of the place stands elsewhere now, and maybe others: ask for the places */
    RUNFLAT_SPARE_LOST = 1,       /* the place was alive and had no rank: nobody moved, one spare less */
    RUNFLAT_NO_SPARE_LEFT = 2,    /* the policy finds no spare for the rank of the place: nobody moved, it has no place now */
    RUNFLAT_ALREADY_DEAD = 3,     /* the place had failed before: nothing changed */
    RUNFLAT_REVIVED = 0,          /* the place is alive again: one spare more */
    RUNFLAT_NOT_DEAD = 4,         /* the place was alive: nothing changed */
    RUNFLAT_WRONG_INPUT = -1,     /* what was given, what is allowed: in the message; nothing changed */
    RUNFLAT_INTERNAL_ERROR = -2   /* a fault of the library, told in the message: close the handle, its places are stale */
};

/* Ranks on places that fail one after the other. */
typedef struct runflat_policy runflat_policy;

/* The version of the interface that the library has: RUNFLAT_POLICY_ABI of its header. */
int runflat_policy_abi(void);

/* Puts ranks on places, in order, before anything fails.
 *
 * [in]  shape         places along each dimension, x first, spares included: "12" (a line), "4x3", "4x3x2"; at most 8 dimensions
 *                     and 2^24 places
 * [in]  torus         0: a mesh; else every dimension closes around
 * [in]  allocation    which places are spares, as `runflat spares --alloc` takes it:
 *                     "1D(1,S)" on a line: the last S places; ranks are on the first ones, rank r on place r
 *                     "qD(r,s)": the high ends, s places thick, of the first r of q dimensions
 *                     "10", "3x3": all beyond a job of that shape; "boundary(s)": s planes between two jobs along x
 * [in]  policy        "0D" (the nearest spare takes over), "1D", "2D", ... (ranks slide by one towards a spare),
 *                     "hybrid(2D+1D+0D)", "hybrid(all)", "hybrid(-2D)" (the first of several that can), "optimal",
 *                     "optimal(trials=20, moves=30)" (a search for the least collisions of messages between neighbours)
 * [in]  seed          for what is left to chance; runflat's default is 1
 * [out] out           the handle, to be given to runflat_policy_close; NULL if there is none
 * [out] message       why there is none, NUL-terminated UTF-8, cut to message_size bytes; empty if there is one. The caller's;
 *                     may be NULL
 * [in]  message_size  bytes of message; at 0 nothing is written
 *
 * Texts are the caller's, NUL-terminated, and not kept. Returns 0, RUNFLAT_WRONG_INPUT or RUNFLAT_INTERNAL_ERROR. */
int runflat_policy_open(const char *shape, int torus, const char *allocation, const char *policy, uint64_t seed,
                        runflat_policy **out, char *message, size_t message_size);

/* Says where places stand, before anything fails: under which switches, on which host. "0D" then takes the spare that shares the
 * most with the failed place, and of those the nearest; slides and searches go along the grid as before.
 *
 * [in,out] policy  the handle
 * [in]     levels  numbers of a path
 * [in]     path    for each place, one after the other, `levels` numbers, the outermost first: two places share a level if the
 *                  numbers of it and of all before it are equal. The caller's, not kept
 *
 * Returns 0; RUNFLAT_WRONG_INPUT without a handle or a path; RUNFLAT_INTERNAL_ERROR as runflat_policy_fail. */
int runflat_policy_stand(runflat_policy *policy, uint32_t levels, const uint64_t *path);

/* Number of ranks, those without a place included: it never changes. 0 for NULL. */
uint32_t runflat_policy_rank_count(const runflat_policy *policy);

/* Number of places, the dead included: it never changes. 0 for NULL. */
uint32_t runflat_policy_place_count(const runflat_policy *policy);

/* Number of places that are alive and have no rank: spares, also those that a slide has left. 0 for NULL. */
uint32_t runflat_policy_spare_count(const runflat_policy *policy);

/* Who stands where.
 *
 * [in]  policy         NULL: nothing is written
 * [out] place_of_rank  by rank its place, or RUNFLAT_NOWHERE; the caller's, with room for runflat_policy_rank_count entries */
void runflat_policy_places(const runflat_policy *policy, uint32_t *place_of_rank);

/* A place fails.
 *
 * [in,out] policy  the handle
 * [in]     place   which place, below runflat_policy_place_count
 *
 * After RUNFLAT_NO_SPARE_LEFT the place is as dead as any other and its rank stays without one; failures of other places are
 * answered each for itself (a slide may find a spare where the one before found none). Returns RUNFLAT_SUBSTITUTED,
 * RUNFLAT_SPARE_LOST, RUNFLAT_NO_SPARE_LEFT or RUNFLAT_ALREADY_DEAD; RUNFLAT_WRONG_INPUT if there is no such place or handle;
 * RUNFLAT_INTERNAL_ERROR, and from then on nothing else. */
int runflat_policy_fail(runflat_policy *policy, uint32_t place);

/* A place that has failed is alive again, a spare: somebody else has been started there. A rank that was lost stays lost.
 *
 * [in,out] policy  the handle; after a rank was lost, "optimal" goes on as "0D"
 * [in]     place   which place
 *
 * Returns RUNFLAT_REVIVED or RUNFLAT_NOT_DEAD; RUNFLAT_WRONG_INPUT and RUNFLAT_INTERNAL_ERROR as runflat_policy_fail. */
int runflat_policy_revive(runflat_policy *policy, uint32_t place);

/* Why the last runflat_policy_stand, runflat_policy_fail or runflat_policy_revive of this handle returned a negative code,
 * NUL-terminated UTF-8; empty if it did not. The handle's: valid until the next of these or runflat_policy_close. For NULL it says that there is no handle. */
const char *runflat_policy_message(const runflat_policy *policy);

/* Frees a handle; NULL: nothing happens. */
void runflat_policy_close(runflat_policy *policy);

#ifdef __cplusplus
}
#endif

#endif
