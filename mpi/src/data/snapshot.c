#include "data/snapshot.h"

#include "runflat.h"
#include "spares/spares.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

/* Memory that the program has named. */
struct region {
    int id;
    void *memory;
    size_t bytes;
};

static struct region *regions;
static int region_count;

RF_API int RF_Protect(int id, void *memory, size_t bytes)
{
    if (!memory && bytes > 0)
        return refuse("RF_Protect", "there is no memory at this address");
    for (int at = 0; at < region_count; at++) {
        if (regions[at].id == id) {
            regions[at] = (struct region){id, memory, bytes};
            return MPI_SUCCESS;
        }
    }
    struct region *more = realloc(regions, sizeof *regions * ((size_t)region_count + 1));
    if (!more)
        return MPI_ERR_NO_MEM;
    regions = more;
    regions[region_count++] = (struct region){id, memory, bytes};
    return MPI_SUCCESS;
}

static size_t snapshot_bytes(void)
{
    size_t bytes = 0;
    for (int at = 0; at < region_count; at++)
        bytes += sizeof(int64_t[2]) + regions[at].bytes;
    return bytes;
}

bool take_snapshot(int number, int64_t version)
{
    struct copy *copy = new_copy(number, version, snapshot_bytes());
    if (!copy)
        return false;
    unsigned char *to = copy->data;
    for (int at = 0; at < region_count; at++) {
        int64_t head[2] = {regions[at].id, (int64_t)regions[at].bytes};
        memcpy(to, head, sizeof head);
        if (regions[at].bytes > 0)
            memcpy(to + sizeof head, regions[at].memory, regions[at].bytes);
        to += sizeof head + regions[at].bytes;
    }
    seal_copy(copy);
    return true;
}

bool load_snapshot(const struct copy *copy)
{
    const unsigned char *from = copy->data, *end = from + copy->bytes;
    for (int at = 0; at < region_count; at++) {
        int64_t head[2];
        if (end - from < (ptrdiff_t)sizeof head)
            return false;
        memcpy(head, from, sizeof head);
        if (head[0] != regions[at].id || head[1] != (int64_t)regions[at].bytes) {
            say("memory %d of %zu bytes is protected now, memory %ld of %ld bytes was at the "
                "checkpoint; name the same",
                regions[at].id, regions[at].bytes, (long)head[0], (long)head[1]);
            return false;
        }
        if (regions[at].bytes > 0)
            memcpy(regions[at].memory, from + sizeof head, regions[at].bytes);
        from += sizeof head + regions[at].bytes;
    }
    return from == end;
}
