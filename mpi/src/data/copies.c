#include "data/copies.h"

#include "guards/inject.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

int64_t last_complete = -1, pass, last_pass = -1;

struct copy copies[COPIES_MAX] = {[0 ... COPIES_MAX - 1] = {.rank = -1}};

struct copy *new_copy(int rank, int64_t version, size_t bytes)
{
    struct copy *copy = find_copy(rank, version);
    if (copy)
        drop_copy(copy);
    for (int at = 0; at < COPIES_MAX; at++) {
        if (copies[at].rank >= 0)
            continue;
        unsigned char *data = malloc(bytes ? bytes : 1);
        if (!data) {
            note_lack_of_memory();
            return NULL;
        }
        copies[at] = (struct copy){rank, version, pass, bytes, 0, false, data};
        return &copies[at];
    }
    return NULL;
}

static bool has_lacked_memory;

void note_lack_of_memory(void)
{
    if (!has_lacked_memory)
        say("no memory for what a checkpoint needs here");
    has_lacked_memory = true;
}

bool lacks_memory(void)
{
    return has_lacked_memory;
}

void forget_lack_of_memory(void)
{
    has_lacked_memory = false;
}

struct copy *find_copy(int rank, int64_t version)
{
    for (int at = 0; at < COPIES_MAX; at++)
        if (copies[at].rank == rank && copies[at].version == version)
            return &copies[at];
    return NULL;
}

/* What the data of a copy adds up to. */
static uint64_t checksum_of(const unsigned char *data, size_t bytes)
{
    uint64_t sum = bytes, word;
    size_t at = 0;
    for (; at + sizeof word <= bytes; at += sizeof word) {
        memcpy(&word, data + at, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; at < bytes; at++)
        sum = (sum ^ data[at]) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

void seal_copy(struct copy *copy)
{
    copy->checksum = checksum_of(copy->data, copy->bytes);
    copy->whole = true;
}

void drop_copy(struct copy *copy)
{
    free(copy->data);
    *copy = (struct copy){.rank = -1};
}

void drop_changed_copies(void)
{
    for (int at = 0; at < COPIES_MAX; at++) {
        struct copy *copy = &copies[at];
        if (copy->rank < 0 ||
            (copy->whole && checksum_of(copy->data, copy->bytes) == copy->checksum))
            continue;
        if (copy->whole) {
            say("a copy of rank %d's checkpoint of version %ld has changed in memory; it is left "
                "out",
                copy->rank, (long)copy->version);
            note_event_of("changed", -1, "version", (long)copy->version);
        }
        drop_copy(copy);
    }
}

void change_copies_if_due(void)
{
    if (last_complete < 0 || !is_corruption_due())
        return;
    for (int at = 0; at < COPIES_MAX; at++)
        if (copies[at].rank >= 0 && copies[at].bytes > 0)
            copies[at].data[copies[at].bytes / 2] ^= 1;
}

void keep_copies(int64_t version, int first, int second)
{
    for (int at = 0; at < COPIES_MAX; at++) {
        struct copy *copy = &copies[at];
        if (copy->rank >= 0 &&
            (copy->version != version || (copy->rank != first && copy->rank != second)))
            drop_copy(copy);
    }
}
