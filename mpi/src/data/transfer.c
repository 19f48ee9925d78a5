#include "data/transfer.h"

#include <mpi-ext.h>
#include <stdlib.h>

/* Most bytes of one message, which MPI counts in an int. */
enum { PIECE = 1 << 30 };

void begin_flight(struct flight *flight, MPI_Comm comm)
{
    *flight = (struct flight){.comm = comm, .good = true};
}

void give_up_flight(struct flight *flight)
{
    if (flight->good)
        PMPIX_Comm_revoke(flight->comm);
    flight->good = false;
}

/* Room for the request of one more message; NULL: no memory. */
static MPI_Request *next_request(struct flight *flight)
{
    MPI_Request *more = realloc(flight->requests, sizeof *more * ((size_t)flight->count + 1));
    if (!more) {
        note_lack_of_memory();
        give_up_flight(flight);
        return NULL;
    }
    flight->requests = more;
    more[flight->count] = MPI_REQUEST_NULL;
    return &more[flight->count++];
}

/* Posts the pieces of a message; an empty one is one piece. */
static void post(struct flight *flight, bool sends, unsigned char *data, size_t bytes, int other,
                 int tag)
{
    for (size_t at = 0; at < bytes || at == 0; at += PIECE) {
        int piece = bytes - at < PIECE ? (int)(bytes - at) : PIECE;
        MPI_Request *request = next_request(flight);
        if (!request)
            return;
        int code = sends
                       ? PMPI_Isend(data + at, piece, MPI_BYTE, other, tag, flight->comm, request)
                       : PMPI_Irecv(data + at, piece, MPI_BYTE, other, tag, flight->comm, request);
        if (code == MPI_SUCCESS)
            continue;
        *request = MPI_REQUEST_NULL;
        give_up_flight(flight);
    }
}

void send_bytes(struct flight *flight, const void *data, size_t bytes, int to, int tag)
{
    post(flight, true, (unsigned char *)data, bytes, to, tag);
}

void receive_bytes(struct flight *flight, void *data, size_t bytes, int from, int tag)
{
    post(flight, false, data, bytes, from, tag);
}

bool has_landed(struct flight *flight)
{
    while (flight->count > 0) {
        MPI_Request *last = &flight->requests[flight->count - 1];
        int done = 1;
        if (*last != MPI_REQUEST_NULL && PMPI_Test(last, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            give_up_flight(flight);
            done = 1;
        }
        if (!done)
            return false;
        flight->count--;
    }
    free(flight->requests);
    flight->requests = NULL;
    return true;
}

bool land(struct flight *flight)
{
    while (!has_landed(flight))
        ;
    return flight->good;
}

void begin_carrying(struct flight *flight, MPI_Comm comm, int own, int64_t version, int count,
                    const struct transfer *transfers)
{
    begin_flight(flight, comm);
    for (int at = 0; at < count && flight->good; at++) {
        const struct transfer *one = &transfers[at];
        if (one->from != own && one->to != own)
            continue;
        bool sends = one->from == own;
        struct copy *copy =
            sends ? find_copy(one->number, version) : new_copy(one->number, version, one->bytes);
        if (!copy)
            give_up_flight(flight);
        else if (sends)
            send_bytes(flight, copy->data, copy->bytes, one->to, one->number);
        else
            receive_bytes(flight, copy->data, copy->bytes, one->from, one->number);
    }
}

void end_carrying(int own, int64_t version, int count, const struct transfer *transfers)
{
    for (int at = 0; at < count; at++) {
        struct copy *copy =
            transfers[at].to == own ? find_copy(transfers[at].number, version) : NULL;
        if (copy)
            seal_copy(copy);
    }
}

bool carry(MPI_Comm comm, int own, int64_t version, int count, const struct transfer *transfers)
{
    struct flight flight;
    begin_carrying(&flight, comm, own, version, count, transfers);
    if (land(&flight))
        end_carrying(own, version, count, transfers);
    return flight.good;
}
