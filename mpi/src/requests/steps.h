/* The steps of Open MPI 5.0's own calls that make communicators, as its library exports them; see build.h. */
#ifndef RUNFLAT_STEPS_H
#define RUNFLAT_STEPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

__attribute__((weak)) int ompi_comm_set_nb(MPI_Comm *made, MPI_Comm parent, int size, int *ranks,
                                           int remote_size, int *remote_ranks, void *attributes,
                                           MPI_Errhandler handler, MPI_Group group,
                                           MPI_Group remote_group, uint32_t flags,
                                           MPI_Request *request);
__attribute__((weak)) int ompi_comm_nextcid_nb(MPI_Comm made, MPI_Comm parent, MPI_Comm bridge,
                                               const void *first, const void *second,
                                               bool send_first, int mode, MPI_Request *request);
__attribute__((weak)) int ompi_comm_activate_nb(MPI_Comm *made, MPI_Comm parent, MPI_Comm bridge,
                                                const void *first, const void *second,
                                                bool send_first, int mode, MPI_Request *request);

/* What a request does when others (at most two) have ended. */
__attribute__((weak)) int ompi_comm_request_schedule_append_w_flags(void *request,
                                                                    int (*take)(void *request),
                                                                    MPI_Request parts[], int count,
                                                                    uint32_t flags);

/* Looks at what has arrived. A probe does not where a message matches that nobody has received. */
int opal_progress(void);

/* What a communicator is known by to all its processes. */
__attribute__((weak)) char *ompi_comm_print_cid(MPI_Comm comm);

/* How a number is found: by collective calls of all of an intracommunicator or of both sides of an intercommunicator, by messages with a
 * tag in the group, or by agreements of all of an intracommunicator. */
enum { BY_ALL = 0x20, BY_BOTH_SIDES = 0x40, BY_MESSAGES = 0x200, BY_AGREEMENTS = 0x800 };

/* A flag of the first step for an intercommunicator: the parent becomes the new one's own communicator of this side, instead of a copy,
 * which would be made without agreements. */
enum { TAKES_PARENT = 1 };

#endif
