#include "transfer.h"

#include <mpi-ext.h>
#include <stdlib.h>

bool finish_requests(MPI_Comm comm, int count, MPI_Request *requests)
{
    bool good = true;
    for (int at = 0; at < count; at++) {
        if (PMPI_Wait(&requests[at], MPI_STATUS_IGNORE) == MPI_SUCCESS)
            continue;
        if (good)
            PMPIX_Comm_revoke(comm);
        good = false;
    }
    return good;
}

enum { PIECE = 1 << 30 };

/* Begins to send or receive a copy in pieces that MPI can count; returns how many requests that took. */
static int post(bool send, struct copy *copy, int other, int tag, MPI_Comm comm, MPI_Request *requests)
{
    int count = 0;
    for (size_t at = 0; at < copy->bytes || count == 0; at += PIECE) {
        size_t left = copy->bytes - at;
        int bytes = left < PIECE ? (int)left : PIECE, code;
        if (send)
            code = PMPI_Isend(copy->data + at, bytes, MPI_BYTE, other, tag, comm, &requests[count]);
        else
            code = PMPI_Irecv(copy->data + at, bytes, MPI_BYTE, other, tag, comm, &requests[count]);
        if (code != MPI_SUCCESS) {
            PMPIX_Comm_revoke(comm);
            requests[count] = MPI_REQUEST_NULL;
        }
        count++;
    }
    return count;
}

static int pieces(size_t bytes)
{
    return bytes == 0 ? 1 : (int)((bytes + PIECE - 1) / PIECE);
}

bool carry(MPI_Comm comm, int own, int64_t version, int count, const struct transfer *transfers)
{
    int posted = 0, room = 0;
    bool good = true;
    for (int at = 0; at < count; at++)
        room += (transfers[at].from == own) + (transfers[at].to == own) ? 2 * pieces(transfers[at].bytes) : 0;
    MPI_Request *requests = malloc(sizeof *requests * (size_t)(room + 1));
    for (int at = 0; at < count && good; at++) {
        const struct transfer *one = &transfers[at];
        struct copy *copy = NULL;
        if (one->from == own)
            copy = find_copy(one->number, version);
        else if (one->to == own)
            copy = new_copy(one->number, version, one->bytes);
        else
            continue;
        good = copy != NULL;
        int other = one->from == own ? one->to : one->from;
        if (good)
            posted += post(one->from == own, copy, other, one->number, comm, requests + posted);
    }
    if (!good)
        PMPIX_Comm_revoke(comm);
    good = finish_requests(comm, posted, requests) && good;
    for (int at = 0; at < count && good; at++) {
        struct copy *copy = transfers[at].to == own ? find_copy(transfers[at].number, version) : NULL;
        if (copy)
            copy->checksum = checksum_of(copy->data, copy->bytes);
    }
    free(requests);
    return good;
}
