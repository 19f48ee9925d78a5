#include "data/ring.h"

#include "data/parity.h"
#include "spares/roster.h"
#include "state.h"

#include <stdlib.h>

/* The shift that puts the most second copies on other hosts; the smallest of several. */
static int best_shift(const struct ring *ring)
{
    int best = ring->size > 1 ? 1 : 0, most = -1;
    for (int shift = 1; shift < ring->size; shift++) {
        int apart = 0;
        for (int rank = 0; rank < ring->size; rank++) {
            int here = place_of(ring->number[rank]),
                there = place_of(ring->number[(rank + shift) % ring->size]);
            apart += rf.place[here].host != rf.place[there].host;
        }
        if (apart > most)
            most = apart, best = shift;
        if (most == ring->size)
            break;
    }
    return best;
}

struct ring open_ring(MPI_Comm comm)
{
    struct ring ring = {.comm = comm};
    PMPI_Comm_size(comm, &ring.size);
    PMPI_Comm_rank(comm, &ring.own);
    ring.number = new_table((size_t)ring.size, sizeof(int));
    first_numbers(ring.number);
    ring.shift = best_shift(&ring);
    return ring;
}

void close_ring(struct ring *ring)
{
    free(ring->number);
}

int partner(const struct ring *ring, int rank, int direction)
{
    return (rank + direction * ring->shift + ring->size) % ring->size;
}

int second_of(const struct ring *ring)
{
    return parity_size() ? block_number(ring->number[ring->own])
                         : ring->number[partner(ring, ring->own, -1)];
}
