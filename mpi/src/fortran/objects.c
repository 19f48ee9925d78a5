/* Fortran's names of the calls that make windows and files. */
#include "fortran/names.h"

#include <stdlib.h>

MAKING(MPI_Win, win_create, (void *base, MPI_Aint *size, fint unit, fint info, fint comm),
       MPI_Win_create, at(base), *size, *unit, INFO, COMM)
MAKING(MPI_Win, win_create_dynamic, (fint info, fint comm), MPI_Win_create_dynamic, INFO, COMM)

/* The base is a place for an address: an integer, or under a second name of the module mpi a type(c_ptr). */
#define ALLOCATING(NAME, CALL)                                                                  \
    MAKING(MPI_Win, NAME, (MPI_Aint * size, fint unit, fint info, fint comm, void *base), CALL, \
           *size, *unit, INFO, COMM, base)

ALLOCATING(win_allocate, MPI_Win_allocate)
ALLOCATING(win_allocate_cptr, MPI_Win_allocate)
ALLOCATING(win_allocate_shared, MPI_Win_allocate_shared)
ALLOCATING(win_allocate_shared_cptr, MPI_Win_allocate_shared)

EXPORTED void mpi_file_open_(fint comm, const char *name, fint how, fint info, fint made, fint code,
                             size_t length)
{
    MPI_File own;
    char *own_name = c_string(name, length);
    *code = MPI_File_open(COMM, own_name, *how, INFO, &own);
    if (*code == MPI_SUCCESS)
        *made = PMPI_File_c2f(own);
    free(own_name);
}

ENDING(MPI_Win, win_free, MPI_Win_free)
ENDING(MPI_File, file_close, MPI_File_close)

#define WITH_INFO(KIND, NAME)                              \
    FORTRAN(NAME##_set_info, (fint handle, fint info),     \
            KIND##_set_info(P##KIND##_f2c(*handle), INFO)) \
    MAKING(MPI_Info, NAME##_get_info, (fint handle), KIND##_get_info, P##KIND##_f2c(*handle))

WITH_INFO(MPI_Win, win)
WITH_INFO(MPI_File, file)
