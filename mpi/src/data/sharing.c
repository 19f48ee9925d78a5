#include "data/sharing.h"

#include "requests/requests.h"

#include <mpi-ext.h>
#include <mpi.h>

void begin_sharing(struct sharing *sharing, const struct ring *ring, int64_t version)
{
    sharing->in_blocks = parity_size() > 0;
    if (sharing->in_blocks)
        begin_blocks(&sharing->blocks, ring, version);
    else
        begin_buddies(&sharing->buddies, ring, version);
}

bool advance_sharing(struct sharing *sharing, bool *good)
{
    bool ended =
        sharing->in_blocks ? advance_blocks(&sharing->blocks) : advance_buddies(&sharing->buddies);
    *good = sharing->in_blocks ? sharing->blocks.good : sharing->buddies.flight.good;
    return ended;
}

bool share(struct sharing *sharing)
{
    bool good;
    while (!advance_sharing(sharing, &good))
        if (atomic_load_explicit(&works, memory_order_relaxed) > 0)
            advance_works();
    return good;
}

int class_of_failure(void)
{
    return lacks_memory() ? MPI_ERR_NO_MEM : MPIX_ERR_REVOKED;
}
