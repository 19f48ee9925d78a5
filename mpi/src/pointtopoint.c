/* Blocking point-to-point calls beside which requests of this library must go on: begun, then waited for with an eye on those. */
#include "completion.h"
#include "state.h"

#define EXPORTED __attribute__((visibility("default")))

#define SEND(NAME)                                                                                                        \
    static __attribute__((noinline)) int watch_##NAME(const void *buffer, int count, MPI_Datatype type, int to, int tag,  \
                                                      MPI_Comm comm)                                                      \
    {                                                                                                                     \
        if (goes_straight())                                                                                          \
            return PMPI_##NAME(buffer, count, type, to, tag, comm);                                                       \
        MPI_Request request;                                                                                              \
        int code = PMPI_I##NAME(buffer, count, type, to, tag, comm, &request);                                            \
        return code == MPI_SUCCESS ? wait_watching(&request, MPI_STATUS_IGNORE) : code;                                   \
    }                                                                                                                     \
                                                                                                                          \
    EXPORTED int MPI_##NAME(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)             \
    {                                                                                                                     \
        return all_is_quiet() ? PMPI_##NAME(buffer, count, type, to, tag, comm)                                           \
                              : watch_##NAME(buffer, count, type, to, tag, comm);                                         \
    }

/* Names of the non-blocking forms, in lower case after the I. */
#define PMPI_ISend PMPI_Isend
#define PMPI_ISsend PMPI_Issend
#define PMPI_IRsend PMPI_Irsend
#define PMPI_IBsend PMPI_Ibsend

SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)

static __attribute__((noinline)) int watch_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                                                MPI_Status *status)
{
    if (goes_straight())
        return PMPI_Recv(buffer, count, type, from, tag, comm, status);
    MPI_Request request;
    int code = PMPI_Irecv(buffer, count, type, from, tag, comm, &request);
    return code == MPI_SUCCESS ? wait_watching(&request, status) : code;
}

EXPORTED int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    return all_is_quiet() ? PMPI_Recv(buffer, count, type, from, tag, comm, status)
                          : watch_Recv(buffer, count, type, from, tag, comm, status);
}

static __attribute__((noinline)) int watch_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                                                    void *in, int in_count, MPI_Datatype in_type, int from, int in_tag,
                                                    MPI_Comm comm, MPI_Status *status)
{
    if (goes_straight())
        return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
    MPI_Request receive, send;
    int code = PMPI_Irecv(in, in_count, in_type, from, in_tag, comm, &receive);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Isend(out, out_count, out_type, to, out_tag, comm, &send);
    if (code != MPI_SUCCESS) {
        PMPI_Cancel(&receive);
        PMPI_Wait(&receive, MPI_STATUS_IGNORE);
        return code;
    }
    /* Both, whatever becomes of the first. */
    int received = wait_watching(&receive, status);
    int sent = wait_watching(&send, MPI_STATUS_IGNORE);
    return received != MPI_SUCCESS ? received : sent;
}

EXPORTED int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in, int in_count,
                          MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    return all_is_quiet()
               ? PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status)
               : watch_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
}
