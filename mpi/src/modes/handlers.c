#include "modes/handlers.h"

#include "runflat.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>

/* A communicator whose handler is off. */
struct held {
    MPI_Comm comm;
    MPI_Errhandler handler;
    int holders;
    struct held *next;
};

/* An error handler of the program that MPI calls meanwhile may come back here. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct held *all;

/* The place of a communicator in the list, or its end. */
static struct held **find(MPI_Comm comm)
{
    struct held **at = &all;
    while (*at && (*at)->comm != comm)
        at = &(*at)->next;
    return at;
}

static void take_off(MPI_Comm comm, MPI_Errhandler handler)
{
    struct held *own = new_table(1, sizeof *own);
    *own = (struct held){.comm = comm, .handler = handler, .holders = 1, .next = all};
    all = own;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

MPI_Errhandler hold_errors(MPI_Comm comm)
{
    MPI_Errhandler handler;
    pthread_mutex_lock(&lock);
    struct held *own = *find(comm);
    if (own) {
        own->holders++;
        handler = own->handler;
    } else {
        PMPI_Comm_get_errhandler(comm, &handler);
        if (handler != MPI_ERRORS_RETURN) {
            take_off(comm, handler);
        } else {
            PMPI_Errhandler_free(&handler);
            handler = MPI_ERRORS_RETURN;
        }
    }
    pthread_mutex_unlock(&lock);
    return handler;
}

void put_back_errors(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)handler;
    pthread_mutex_lock(&lock);
    struct held **at = find(comm), *own = *at;
    if (own && --own->holders == 0) {
        PMPI_Comm_set_errhandler(comm, own->handler);
        PMPI_Errhandler_free(&own->handler);
        *at = own->next;
        free(own);
    }
    pthread_mutex_unlock(&lock);
}

int release_errors(MPI_Comm comm, MPI_Errhandler handler, int code, const char *call)
{
    bool is_told = code != MPI_SUCCESS && handler != MPI_ERRORS_RETURN;
    put_back_errors(comm, handler);
    return is_told ? raise_error(comm, code, call) : code;
}

MPI_Errhandler handler_of(MPI_Comm comm)
{
    MPI_Errhandler handler;
    pthread_mutex_lock(&lock);
    struct held *own = *find(comm);
    if (own)
        PMPI_Comm_set_errhandler(comm, own->handler);
    PMPI_Comm_get_errhandler(comm, &handler);
    if (own)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    pthread_mutex_unlock(&lock);
    return handler;
}

/* Of Open MPI 5.0: PMPI_Comm_call_errhandler names itself as the call that failed. */
__attribute__((weak)) int ompi_errhandler_invoke(MPI_Errhandler handler, void *object, int kind,
                                                 int code, const char *call);

enum { OF_COMMUNICATORS = 1 };

int raise_error(MPI_Comm comm, int code, const char *call)
{
    if (!ompi_errhandler_invoke) {
        PMPI_Comm_call_errhandler(comm, code);
        return code;
    }
    MPI_Errhandler handler = handler_of(comm);
    ompi_errhandler_invoke(handler, comm, OF_COMMUNICATORS, code, call);
    PMPI_Errhandler_free(&handler);
    return code;
}

int refuse_in_world(const char *call)
{
    say("%s on MPI_COMM_WORLD would wait for ever: the spares (%d) sleep and take no part; the "
        "communicator that RF_Init gave has the ranks",
        call, RF_Spares());
    return raise_error(MPI_COMM_WORLD, MPI_ERR_COMM, call);
}

void inherit_handler(MPI_Comm from, MPI_Comm to)
{
    MPI_Errhandler handler = handler_of(from);
    PMPI_Comm_set_errhandler(to, handler);
    PMPI_Errhandler_free(&handler);
}

int set_handler(MPI_Comm comm, MPI_Errhandler handler)
{
    pthread_mutex_lock(&lock);
    int code = PMPI_Comm_set_errhandler(comm, handler);
    struct held *own = code == MPI_SUCCESS ? *find(comm) : NULL;
    if (own) {
        PMPI_Errhandler_free(&own->handler);
        PMPI_Comm_get_errhandler(comm, &own->handler);
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    pthread_mutex_unlock(&lock);
    return code;
}
