/* Parity groups: instead of a whole second copy each rank keeps a block that, with the data of the others of its group, gives back
 * the data of any one of them. In a group of k ranks a block is 1/(k-1) of the largest data.
 *
 * The data of rank i is cut into k-1 chunks, one for each other rank j, whose block is the exclusive or of all chunks for it
 * (as RAID 5 has it). */
#ifndef RUNFLAT_PARITY_H
#define RUNFLAT_PARITY_H

#include "copies.h"
#include "ring.h"

#include <stdbool.h>

/* Ranks of a group, as the launch says (RUNFLAT_PARITY); 0: ranks keep whole second copies. */
int parity_size(void);

/* The group of a rank by its first number: those that leave the same remainder, so that neighbours are in different ones. */
int group_of(int number);

/* The number under which the block of a rank is kept. */
int block_number(int number);

/* The ranks whose data a block was made of; 0: it is none. */
int members_of(const struct copy *block);

/* Makes this rank's block of its group's copies of a version. By all ranks of the group. False: a failure, or no memory. */
bool share_parity(const struct ring *ring, int64_t version);

/* Makes the copy of the rank `lost` of this rank's group anew; all others have their own and their blocks, of `block_bytes` each.
 * False: a failure, no memory, or what came of it is not what it was. */
bool rebuild(const struct ring *ring, int64_t version, int lost, size_t block_bytes);

#endif
