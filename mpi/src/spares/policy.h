/* Who takes over from whom: asked of librunflat_policy, the code that simulations use. */
#ifndef RUNFLAT_POLICY_H
#define RUNFLAT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* The places of ranks are those of roster.h. */
struct policy {
    void *handle;
    uint32_t ranks;
};

/* Opens the policy that the launch names for `places` processes of which `spares` (-1: as the launch says) are spares.
 * Returns whether that worked; if not, has said why at rank 0 of the world. */
bool open_policy(struct policy *policy, int places, int spares);

/* A process is dead. Returns false if a rank has no place any more because no spare is left. */
bool policy_fail(struct policy *policy, int place);

/* A new process stands at the place of a dead one: a spare. */
void policy_revive(struct policy *policy, int place);

/* Spares that are left. */
int policy_spares(const struct policy *policy);

/* The place of each rank, -1: none. `place` has room for `policy->ranks`. */
void policy_places(const struct policy *policy, int *place);

void close_policy(struct policy *policy);

#endif
