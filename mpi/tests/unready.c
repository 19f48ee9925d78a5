/* A process dies while all are in MPI_Init: what becomes of the others?
 *
 *     unready WHERE     WHERE: "late": when its world has no collective functions yet, and the others hear of it there; "early": when it
 *                       is to tell the others where it is, before they tell it theirs (those that wait by then the launcher may tell of the death)
 */
#include <mpi.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VICTIM = 1 };

static const char *where = "";

static int is_victim(void)
{
    const char *rank = getenv("PMIX_RANK");
    return rank && atoi(rank) == VICTIM;
}

/* Stands before Open MPI's own function of the name. */
int mca_coll_base_comm_select(MPI_Comm comm)
{
    static int calls;
    int (*next)(MPI_Comm);
    *(void **)&next = dlsym(RTLD_NEXT, "mca_coll_base_comm_select");
    if (strcmp(where, "late") == 0 && calls++ == 0) {
        const struct timespec turn = {0, 1000000};
        void (*opal_progress)(void);
        *(void **)&opal_progress = dlsym(RTLD_DEFAULT, "opal_progress");
        if (is_victim())
            raise(SIGKILL);
        for (int turns = 0; turns < 300; turns++) {
            opal_progress();
            nanosleep(&turn, NULL);
        }
    }
    return next(comm);
}

/* The same, for a function of PMIx. */
int PMIx_Commit(void)
{
    int (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "PMIx_Commit");
    if (strcmp(where, "early") == 0 && is_victim())
        raise(SIGKILL);
    if (strcmp(where, "early") == 0)
        nanosleep(&(struct timespec){1, 0}, NULL);
    return next();
}

int main(int argc, char **argv)
{
    int rank;
    where = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d has come through MPI_Init\n", rank);
    return MPI_Finalize();
}
