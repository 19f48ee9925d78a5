#include "data/snapshot.h"

#include "runflat.h"
#include "spares/spares.h"
#include "state.h"

#include <stdio.h>
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
    if (!memory && bytes > 0) {
        say("RF_Protect: memory %d is to have %zu bytes, and has no address (NULL)", id, bytes);
        return RF_ERR_ARGUMENT;
    }
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

int protected_count(void)
{
    return region_count;
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

/* Where the memory with an id is protected; NULL: nowhere. */
static struct region *find(int64_t id)
{
    for (int at = 0; at < region_count; at++)
        if (regions[at].id == id)
            return &regions[at];
    return NULL;
}

/* What is protected now instead of what was then; NULL: the same. */
static const char *why_not_the_same(const struct region *now, int64_t then)
{
    static char text[48];
    if (!now)
        return "none of that id is protected";
    snprintf(text, sizeof text, "%zu bytes are protected", now->bytes);
    return (int64_t)now->bytes != then ? text : NULL;
}

/* Goes through a copy: looks whether what is protected now is what was, or puts it back. */
static bool go_through(const struct copy *copy, bool puts_back)
{
    const unsigned char *from = copy->data, *end = from + copy->bytes;
    int count = 0;
    for (int64_t head[2]; end - from >= (ptrdiff_t)sizeof head; from += head[1], count++) {
        memcpy(head, from, sizeof head);
        from += sizeof head;
        const struct region *now = find(head[0]);
        const char *why_not = why_not_the_same(now, head[1]);
        if (why_not) {
            say("memory %ld had %ld bytes at the checkpoint; now %s: name the same ids and sizes",
                (long)head[0], (long)head[1], why_not);
            return false;
        }
        if (puts_back && head[1] > 0)
            memcpy(now->memory, from, (size_t)head[1]);
    }
    if (from == end && count < region_count)
        say("%d memories are protected now, %d were at the checkpoint: name the same ids and sizes",
            region_count, count);
    return from == end && count == region_count;
}

bool load_snapshot(const struct copy *copy)
{
    return go_through(copy, false) && go_through(copy, true);
}
