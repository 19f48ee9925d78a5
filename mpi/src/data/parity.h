/* Parity groups: instead of a whole second copy each rank keeps a block that, with the data of the others of its group, gives back
 * the data of any one of them. In a group of k ranks a block is 1/(k-1) of the largest data.
 *
 * The data of rank i is cut into k-1 chunks, one for each other rank j, whose block is the exclusive or of all chunks for it
 * (as RAID 5 has it). */
#ifndef RUNFLAT_PARITY_H
#define RUNFLAT_PARITY_H

#include "data/copies.h"
#include "data/ring.h"
#include "data/transfer.h"

#include <stdbool.h>

/* Ranks of a group, as the launch says (RUNFLAT_PARITY); 0: ranks keep whole second copies. */
int parity_size(void);

/* The group of a rank by its first number: those that leave the same remainder, so that neighbours are in different ones. */
int group_of(int number);

/* The number under which the block of a rank is kept. */
int block_number(int number);

/* The ranks whose data a block was made of; 0: it is none. */
int members_of(const struct copy *block);

enum { PARITY_GROUP_MOST = 32, PARITY_MEMBERS_MAX = 2 * PARITY_GROUP_MOST };

/* The ranks of a group, in the communicator of a ring. */
struct parity_group {
    int count, own; /* among `rank` */
    int rank[PARITY_MEMBERS_MAX];
};

/* What a block begins with: the members' data when it was made, in their order. */
struct block_head {
    int64_t members;
    int64_t bytes[PARITY_MEMBERS_MAX];
    uint64_t checksum[PARITY_MEMBERS_MAX];
};

/* Chunks that members send each other, one partner after the other, and add up. */
struct chunks {
    const struct parity_group *group;
    int without; /* a member that takes no part; -1: none */
    const struct copy *copy;
    size_t bytes; /* of a chunk */
    unsigned char *sum, *out, *in;
    int step;
    struct flight flight;
};

/* Blocks in the making. */
struct blocks {
    const struct ring *ring;
    int64_t version;
    struct parity_group group;
    uint64_t own[2], all[PARITY_MEMBERS_MAX][2]; /* bytes and checksum */
    bool known;                                  /* what all members' copies are like */
    struct flight flight;
    struct chunks chunks;
    bool good;
};

/* Begins to make this rank's block of its group's copies of a version, which are there. By all ranks of the group. */
void begin_blocks(struct blocks *blocks, const struct ring *ring, int64_t version);

/* Goes on as far as is possible without waiting; true: ended, well if `good`. */
bool advance_blocks(struct blocks *blocks);

/* Makes the copy of the rank `lost` of this rank's group anew; all others have their own and their blocks, of `block_bytes` each.
 * MPI_SUCCESS; else, here alone: the class of a failure, MPI_ERR_NO_MEM, or RF_ERR_DATA_LOST: what came of it is not what it was. */
int rebuild(const struct ring *ring, int64_t version, int lost, size_t block_bytes);

#endif
