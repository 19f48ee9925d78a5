/* Where processes stand: under which switches, on which host. The nearest spare is the one that shares most of that. */
#ifndef RUNFLAT_SITES_H
#define RUNFLAT_SITES_H

#include "state.h"

/* Where this process stands, outermost level first; the host is the last. Two processes share a level if it and all before it are
 * equal. Switches are those that the launch names (RUNFLAT_SITES: a file with a line `HOST POD.LEAF` a host), else Slurm's
 * (SLURM_TOPOLOGY_ADDR); where neither does, all stand under one. */
void site_here(const struct place *own, uint64_t site[SITE_LEVELS]);

#endif
