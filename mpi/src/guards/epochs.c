#include "guards/epochs.h"

#include "guards/numbers.h"
#include "state.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Communicators that are looked at, and how far in. */
enum { PROBES = 4, LOOKED_AT = 512 };

/* Where a communicator has its epoch, in bytes; 0: that is not known. */
static size_t place;

/* The count of this process, or less where it has made some that were not noted; and the highest epoch that was noted. */
static _Atomic uint32_t count, highest;

static uint32_t word_of(const void *communicator, size_t at)
{
    uint32_t word;
    memcpy(&word, (const char *)communicator + at, sizeof word);
    return word;
}

/* Whether a word counts the probes, one after the other, and is 0 in those that MPI begins with. */
static bool counts_probes(unsigned char probes[PROBES][LOOKED_AT], size_t at)
{
    for (int probe = 1; probe < PROBES; probe++)
        if (word_of(probes[probe], at) != word_of(probes[0], at) + (uint32_t)probe)
            return false;
    return word_of(MPI_COMM_WORLD, at) == 0 && word_of(MPI_COMM_SELF, at) == 0;
}

void learn_epochs(void)
{
    static unsigned char probes[PROBES][LOOKED_AT];
    size_t bytes = LOOKED_AT;
    int found = 0;
    for (int probe = 0; probe < PROBES; probe++) {
        /* Each is freed before the next is made, which so has the same number. */
        MPI_Comm made;
        if (make_single(&made) != MPI_SUCCESS)
            return;
        size_t room = malloc_usable_size(made);
        bytes = room < bytes ? room : bytes;
        memcpy(probes[probe], made, bytes);
        free_single(&made);
    }
    for (size_t at = 0; at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t)) {
        if (!counts_probes(probes, at))
            continue;
        place = ++found == 1 ? at : 0;
        count = word_of(probes[PROBES - 1], at);
    }
}

void note_epoch(MPI_Comm made)
{
    if (!place)
        return;
    uint32_t epoch = word_of(made, place);
    count++;
    highest = epoch > highest ? epoch : highest;
}

void catch_up_with_epochs(void)
{
    MPI_Comm made;
    while (place && count < highest && make_single(&made) == MPI_SUCCESS) {
        uint32_t epoch = word_of(made, place);
        free_single(&made);
        /* It would be no epoch, or no end of this. */
        if (epoch <= count)
            place = 0;
        count = epoch;
    }
}
