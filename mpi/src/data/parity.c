#include "data/parity.h"

#include "data/sharing.h"
#include "data/transfer.h"
#include "runflat.h"
#include "settings.h"
#include "spares/roster.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 32001, NOBODY = -1 };

int parity_size(void)
{
    int size = count_of("RUNFLAT_PARITY");
    return size < 2 ? 0 : size < PARITY_GROUP_MOST ? size : PARITY_GROUP_MOST;
}

static int group_count(void)
{
    int count = first_count() / parity_size();
    return count > 0 ? count : 1;
}

int group_of(int number)
{
    return number % group_count();
}

int block_number(int number)
{
    return first_count() + number;
}

/* While it is made. Until then one that is there already stays, which may be as good. */
static int number_in_making(int number)
{
    return 2 * first_count() + number;
}

int members_of(const struct copy *block)
{
    struct block_head head;
    if (block->rank < first_count() || block->bytes < sizeof head)
        return 0;
    memcpy(&head, block->data, sizeof head);
    return (int)head.members;
}

static struct parity_group open_group(const struct ring *ring)
{
    struct parity_group group = {.own = -1};
    for (int rank = 0; rank < ring->size && group.count < PARITY_MEMBERS_MAX; rank++) {
        if (group_of(ring->number[rank]) != group_of(ring->number[ring->own]))
            continue;
        if (rank == ring->own)
            group.own = group.count;
        group.rank[group.count++] = rank;
    }
    return group;
}

/* The chunk of member `of` that goes into the block of member `at`. */
static int chunk_index(int of, int at)
{
    return at < of ? at : at - 1;
}

static size_t chunk_bytes(const struct block_head *head)
{
    int64_t most = 0, others = head->members > 1 ? head->members - 1 : 1;
    for (int at = 0; at < head->members; at++)
        most = head->bytes[at] > most ? head->bytes[at] : most;
    return (size_t)((most + others - 1) / others);
}

/* A chunk of a copy, with zeros behind the end of its data. */
static void cut(const struct copy *copy, int index, size_t chunk, unsigned char *to)
{
    size_t begin = (size_t)index * chunk, there = begin < copy->bytes ? copy->bytes - begin : 0;
    there = there < chunk ? there : chunk;
    memcpy(to, copy->data + begin, there);
    memset(to + there, 0, chunk - there);
}

static void add(unsigned char *sum, const unsigned char *more, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++)
        sum[at] ^= more[at];
}

/* Begins the next step, in which each member sends to the one as many places behind it. */
static void exchange(struct chunks *chunks)
{
    const struct parity_group *group = chunks->group;
    int to = (group->own + chunks->step) % group->count,
        from = (group->own - chunks->step + group->count) % group->count;
    cut(chunks->copy, chunk_index(group->own, to), chunks->bytes, chunks->out);
    if (from != chunks->without)
        receive_bytes(&chunks->flight, chunks->in, chunks->bytes, group->rank[from], TAG);
    if (to != chunks->without)
        send_bytes(&chunks->flight, chunks->out, chunks->bytes, group->rank[to], TAG);
}

/* Begins to add to `sum` the chunks for this member of all others but `without`, and to send them theirs. */
static void begin_chunks(struct chunks *chunks, MPI_Comm comm, const struct parity_group *group,
                         int without, const struct copy *own, size_t bytes, unsigned char *sum)
{
    unsigned char *room = malloc(2 * bytes + 1);
    *chunks = (struct chunks){group, without, own, bytes, sum, room, room + bytes, 1, {0}};
    begin_flight(&chunks->flight, comm);
    if (!room) {
        note_lack_of_memory();
        give_up_flight(&chunks->flight);
    } else if (group->count > 1) {
        exchange(chunks);
    }
}

static bool advance_chunks(struct chunks *chunks)
{
    const struct parity_group *group = chunks->group;
    if (!has_landed(&chunks->flight))
        return false;
    if (chunks->flight.good && chunks->step < group->count) {
        if ((group->own - chunks->step + group->count) % group->count != chunks->without)
            add(chunks->sum, chunks->in, chunks->bytes);
        if (++chunks->step < group->count) {
            exchange(chunks);
            return false;
        }
    }
    free(chunks->out);
    return true;
}

/* After ranks have been given up, a group may have one left. */
static void warn_if_alone(const struct parity_group *group)
{
    static bool warned;
    if (group->count == 1 && !warned)
        say("no other rank of this one's parity group is left: nobody can give back its data");
    warned = warned || group->count == 1;
}

void begin_blocks(struct blocks *blocks, const struct ring *ring, int64_t version)
{
    const struct copy *own = find_copy(ring->number[ring->own], version);
    *blocks = (struct blocks){.ring = ring,
                              .version = version,
                              .group = open_group(ring),
                              .own = {own->bytes, own->checksum}};
    warn_if_alone(&blocks->group);
    begin_flight(&blocks->flight, ring->comm);
    for (int at = 0; at < blocks->group.count; at++) {
        receive_bytes(&blocks->flight, blocks->all[at], sizeof blocks->all[at],
                      blocks->group.rank[at], TAG);
        send_bytes(&blocks->flight, blocks->own, sizeof blocks->own, blocks->group.rank[at], TAG);
    }
}

/* It is known what all members' copies are like. False: no memory. */
static bool begin_block(struct blocks *blocks)
{
    const struct parity_group *group = &blocks->group;
    int number = blocks->ring->number[blocks->ring->own];
    struct block_head head = {.members = group->count};
    for (int at = 0; at < group->count; at++) {
        head.bytes[at] = (int64_t)blocks->all[at][0];
        head.checksum[at] = blocks->all[at][1];
    }
    size_t chunk = chunk_bytes(&head);
    struct copy *block = new_copy(number_in_making(number), blocks->version, sizeof head + chunk);
    if (!block) {
        give_up_flight(&blocks->flight);
        return false;
    }
    memcpy(block->data, &head, sizeof head);
    memset(block->data + sizeof head, 0, chunk);
    begin_chunks(&blocks->chunks, blocks->ring->comm, group, NOBODY,
                 find_copy(number, blocks->version), chunk, block->data + sizeof head);
    return true;
}

/* It takes the place of the one that was there, if it is whole. */
static void end_block(int number, int64_t version, bool good)
{
    struct copy *made = find_copy(number_in_making(number), version),
                *before = find_copy(block_number(number), version);
    if (!good) {
        drop_copy(made);
        return;
    }
    if (before)
        drop_copy(before);
    made->rank = block_number(number);
    seal_copy(made);
}

bool advance_blocks(struct blocks *blocks)
{
    if (!blocks->known) {
        if (!has_landed(&blocks->flight))
            return false;
        blocks->known = blocks->flight.good && begin_block(blocks);
        return !blocks->known;
    }
    if (!advance_chunks(&blocks->chunks))
        return false;
    blocks->good = blocks->chunks.flight.good;
    end_block(blocks->ring->number[blocks->ring->own], blocks->version, blocks->good);
    return true;
}

/* Sends the rank that has lost its data the chunk that this one's block and the others give back. */
static int give_chunk(const struct ring *ring, const struct parity_group *group, int64_t version,
                      int lost)
{
    int number = ring->number[ring->own];
    const struct copy *own = find_copy(number, version),
                      *block = find_copy(block_number(number), version);
    unsigned char *sum = block ? malloc(block->bytes) : NULL;
    struct chunks chunks;
    if (!own || !sum) {
        PMPIX_Comm_revoke(ring->comm);
        return own && block ? MPI_ERR_NO_MEM : MPIX_ERR_REVOKED;
    }
    memcpy(sum, block->data, block->bytes);
    size_t chunk = block->bytes - sizeof(struct block_head);
    begin_chunks(&chunks, ring->comm, group, lost, own, chunk, sum + sizeof(struct block_head));
    while (!advance_chunks(&chunks))
        ;
    if (chunks.flight.good)
        send_bytes(&chunks.flight, sum, block->bytes, group->rank[lost], TAG);
    land(&chunks.flight);
    free(sum);
    return chunks.flight.good ? MPI_SUCCESS : class_of_failure();
}

/* Puts the chunks of all others together. */
static int take_chunks(const struct ring *ring, const struct parity_group *group, int64_t version,
                       size_t block_bytes)
{
    size_t chunk = block_bytes - sizeof(struct block_head);
    unsigned char *in = malloc(block_bytes);
    struct copy *copy = NULL;
    struct block_head head;
    struct flight flight;
    begin_flight(&flight, ring->comm);
    if (!in) {
        note_lack_of_memory();
        give_up_flight(&flight);
    }
    for (int from = 0; from < group->count && flight.good; from++) {
        if (from == group->own)
            continue;
        receive_bytes(&flight, in, block_bytes, group->rank[from], TAG);
        if (!land(&flight))
            break;
        memcpy(&head, in, sizeof head);
        if (!copy)
            copy = new_copy(ring->number[ring->own], version, (size_t)head.bytes[group->own]);
        if (!copy) {
            give_up_flight(&flight);
            break;
        }
        size_t begin = (size_t)chunk_index(group->own, from) * chunk;
        if (begin < copy->bytes)
            memcpy(copy->data + begin, in + sizeof head,
                   copy->bytes - begin < chunk ? copy->bytes - begin : chunk);
    }
    free(in);
    if (!flight.good)
        return class_of_failure();
    if (!copy) /* nobody else is left in the group */
        return RF_ERR_DATA_LOST;
    seal_copy(copy);
    if (copy->checksum == head.checksum[group->own])
        return MPI_SUCCESS;
    say("the data that its parity group gives back is not what it was");
    PMPIX_Comm_revoke(ring->comm);
    return RF_ERR_DATA_LOST;
}

int rebuild(const struct ring *ring, int64_t version, int lost, size_t block_bytes)
{
    struct parity_group group = open_group(ring);
    int member = 0;
    while (group.rank[member] != lost)
        member++;
    return member == group.own ? take_chunks(ring, &group, version, block_bytes)
                               : give_chunk(ring, &group, version, member);
}
