/* How a Fortran name of a call is made of the C one; mpif.h and the module mpi (gfortran, Intel and Cray mangle names alike).
 *
 * Open MPI's own Fortran calls go to its PMPI functions and so past the C ones here. Those of the module mpi_f08 do too. */
#ifndef RUNFLAT_FORTRAN_NAMES_H
#define RUNFLAT_FORTRAN_NAMES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))
#define UNWRAP(...) __VA_ARGS__

typedef MPI_Fint *fint;

/* Where Open MPI's constants are that Fortran knows as places; of an MPI without Fortran there are none. */
#define PLACE(NAME) extern MPI_Fint mpi_fortran_##NAME##_ __attribute__((weak))
PLACE(bottom);
PLACE(in_place);
PLACE(status_ignore);
PLACE(statuses_ignore);
PLACE(argv_null);
PLACE(argvs_null);
PLACE(errcodes_ignore);
PLACE(unweighted);
PLACE(weights_empty);
#define IS(GIVEN, NAME) (&mpi_fortran_##NAME##_ && (const void *)(GIVEN) == &mpi_fortran_##NAME##_)

/* A buffer. */
static inline void *at(void *place)
{
    if (IS(place, bottom))
        return MPI_BOTTOM;
    return IS(place, in_place) ? MPI_IN_PLACE : place;
}

#define COMM PMPI_Comm_f2c(*comm)
#define TYPE(one) PMPI_Type_f2c(*(one))
#define OP PMPI_Op_f2c(*op)
#define INFO PMPI_Info_f2c(*info)

/* A call whose arguments need no more than to be read. */
#define FORTRAN(NAME, PARAMETERS, ...)                        \
    EXPORTED void mpi_##NAME##_(UNWRAP PARAMETERS, fint code) \
    {                                                         \
        *code = __VA_ARGS__;                                  \
    }

/* A call that makes a handle. */
#define MAKING(KIND, NAME, PARAMETERS, CALL, ...)                        \
    EXPORTED void mpi_##NAME##_(UNWRAP PARAMETERS, fint made, fint code) \
    {                                                                    \
        KIND own;                                                        \
        *code = CALL(__VA_ARGS__, &own);                                 \
        if (*code == MPI_SUCCESS)                                        \
            *made = P##KIND##_c2f(own);                                  \
    }

/* A call that gives one back. */
#define ENDING(KIND, NAME, CALL)                        \
    EXPORTED void mpi_##NAME##_(fint handle, fint code) \
    {                                                   \
        KIND own = P##KIND##_f2c(*handle);              \
        *code = CALL(&own);                             \
        *handle = P##KIND##_c2f(own);                   \
    }

/* A C string of a Fortran one without the blanks around it; the caller frees it. */
char *c_string(const char *text, size_t length);

/* A communicator that is made by the time its request has ended, and where Fortran's integer of it goes then. */
struct promise {
    MPI_Comm made;
    MPI_Fint request;
    fint place;
    struct promise *next;
};

/* Keeps it until Fortran has waited for the request, unless there is a communicator already. */
void keep_promise(struct promise *promise);

#endif
