#include "parity.h"

#include "roster.h"
#include "state.h"
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_MOST = 32, MEMBERS_MAX = 2 * GROUP_MOST, TAG = 32001, PIECE = 1 << 30, NOBODY = -1 };

/* The ranks of a group, in `comm`. */
struct group {
    int count, own; /* among `rank`; -1: not in it */
    int rank[MEMBERS_MAX];
};

/* What a block begins with: the members' data when it was made, in their order. */
struct block_head {
    int64_t members;
    int64_t bytes[MEMBERS_MAX];
    uint64_t checksum[MEMBERS_MAX];
};

int parity_size(void)
{
    const char *given = getenv("RUNFLAT_PARITY");
    int size = given ? atoi(given) : 0;
    return size < 2 ? 0 : size < GROUP_MOST ? size : GROUP_MOST;
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

int members_of(const struct copy *block)
{
    struct block_head head;
    if (block->rank < first_count() || block->bytes < sizeof head)
        return 0;
    memcpy(&head, block->data, sizeof head);
    return (int)head.members;
}

static struct group open_group(const struct ring *ring)
{
    struct group group = {.own = -1};
    for (int rank = 0; rank < ring->size && group.count < MEMBERS_MAX; rank++) {
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

/* Sends as many bytes to one rank as come from another; either may be nobody. */
static bool pass(MPI_Comm comm, size_t bytes, int to, const unsigned char *out, int from, unsigned char *in)
{
    bool good = true;
    for (size_t at = 0; at < bytes && good; at += PIECE) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int piece = bytes - at < PIECE ? (int)(bytes - at) : PIECE;
        if (from != NOBODY)
            PMPI_Irecv(in + at, piece, MPI_BYTE, from, TAG, comm, &requests[0]);
        if (to != NOBODY)
            PMPI_Isend(out + at, piece, MPI_BYTE, to, TAG, comm, &requests[1]);
        good = finish_requests(comm, 2, requests);
    }
    return good;
}

/* Adds to `sum` the chunks for this member of all others but `without`, and sends them theirs. */
static bool add_chunks(const struct ring *ring, const struct group *group, int without, const struct copy *own, size_t chunk,
                       unsigned char *sum)
{
    unsigned char *out = malloc(2 * chunk + 1), *in = out + chunk;
    bool good = out != NULL;
    if (!good)
        PMPIX_Comm_revoke(ring->comm);
    for (int step = 1; step < group->count && good; step++) {
        int to = (group->own + step) % group->count, from = (group->own - step + group->count) % group->count;
        cut(own, chunk_index(group->own, to), chunk, out);
        good = pass(ring->comm, chunk, to == without ? NOBODY : group->rank[to], out, from == without ? NOBODY : group->rank[from], in);
        if (good && from != without)
            add(sum, in, chunk);
    }
    free(out);
    return good;
}

/* What all members' copies are like. */
static bool gather_head(const struct ring *ring, const struct group *group, const struct copy *own, struct block_head *head)
{
    uint64_t mine[2] = {own->bytes, own->checksum}, all[MEMBERS_MAX][2];
    MPI_Request requests[2 * MEMBERS_MAX];
    int posted = 0;
    for (int at = 0; at < group->count; at++) {
        PMPI_Irecv(all[at], 2, MPI_UINT64_T, group->rank[at], TAG, ring->comm, &requests[posted++]);
        PMPI_Isend(mine, 2, MPI_UINT64_T, group->rank[at], TAG, ring->comm, &requests[posted++]);
    }
    if (!finish_requests(ring->comm, posted, requests))
        return false;
    memset(head, 0, sizeof *head);
    head->members = group->count;
    for (int at = 0; at < group->count; at++) {
        head->bytes[at] = (int64_t)all[at][0];
        head->checksum[at] = all[at][1];
    }
    return true;
}

bool share_parity(const struct ring *ring, int64_t version)
{
    struct group group = open_group(ring);
    int number = ring->number[ring->own];
    const struct copy *own = find_copy(number, version);
    struct block_head head;
    if (!own || !gather_head(ring, &group, own, &head))
        return false;
    size_t chunk = chunk_bytes(&head);
    struct copy *block = new_copy(block_number(number), version, sizeof head + chunk);
    if (!block) {
        PMPIX_Comm_revoke(ring->comm);
        return false;
    }
    memcpy(block->data, &head, sizeof head);
    memset(block->data + sizeof head, 0, chunk);
    if (!add_chunks(ring, &group, NOBODY, own, chunk, block->data + sizeof head))
        return false;
    block->checksum = checksum_of(block->data, block->bytes);
    return true;
}

/* Sends the rank that has lost its data the chunk that this one's block and the others give back. */
static bool give_chunk(const struct ring *ring, const struct group *group, int64_t version, int lost)
{
    int number = ring->number[ring->own];
    const struct copy *own = find_copy(number, version), *block = find_copy(block_number(number), version);
    unsigned char *sum = block ? malloc(block->bytes) : NULL;
    if (!own || !sum) {
        PMPIX_Comm_revoke(ring->comm);
        return false;
    }
    memcpy(sum, block->data, block->bytes);
    bool good = add_chunks(ring, group, lost, own, block->bytes - sizeof(struct block_head), sum + sizeof(struct block_head));
    good = good && pass(ring->comm, block->bytes, group->rank[lost], sum, NOBODY, NULL);
    free(sum);
    return good;
}

/* Puts the chunks of all others together. */
static bool take_chunks(const struct ring *ring, const struct group *group, int64_t version, size_t block_bytes)
{
    size_t chunk = block_bytes - sizeof(struct block_head);
    unsigned char *in = malloc(block_bytes);
    struct copy *copy = NULL;
    struct block_head head;
    bool good = in != NULL;
    for (int from = 0; from < group->count && good; from++) {
        if (from == group->own)
            continue;
        good = pass(ring->comm, block_bytes, NOBODY, NULL, group->rank[from], in);
        if (!good)
            break;
        memcpy(&head, in, sizeof head);
        if (!copy)
            copy = new_copy(ring->number[ring->own], version, (size_t)head.bytes[group->own]);
        good = copy != NULL;
        size_t begin = (size_t)chunk_index(group->own, from) * chunk;
        if (good && begin < copy->bytes)
            memcpy(copy->data + begin, in + sizeof head, copy->bytes - begin < chunk ? copy->bytes - begin : chunk);
    }
    free(in);
    if (copy && good) {
        copy->checksum = checksum_of(copy->data, copy->bytes);
        good = copy->checksum == head.checksum[group->own];
        if (!good)
            say("the data that its parity group gives back is not what it was");
    }
    if (!good)
        PMPIX_Comm_revoke(ring->comm);
    return good;
}

bool rebuild(const struct ring *ring, int64_t version, int lost, size_t block_bytes)
{
    struct group group = open_group(ring);
    int member = 0;
    while (group.rank[member] != lost)
        member++;
    return member == group.own ? take_chunks(ring, &group, version, block_bytes) : give_chunk(ring, &group, version, member);
}
