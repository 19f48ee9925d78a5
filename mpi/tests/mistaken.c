/* Two processes have one number, and their files too, as in containers of one host: is the memory of one's barrier taken for the other's?
 *
 *     mistaken
 *
 * Ranks 0 and 1 have a communicator, and 2 and 3. Rank 2 says that it is the process that rank 0 is, while rank 0 has its file open,
 * since rank 1 has not come yet. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FILE_NUMBER = 200 };

static pid_t number; /* 0: as it is */

/* Both stand before the C library's. */
pid_t getpid(void)
{
    return number ? number : (pid_t)syscall(SYS_getpid);
}

int memfd_create(const char *name, unsigned flags)
{
    int made = (int)syscall(SYS_memfd_create, name, flags);
    int file = made < 0 ? made : fcntl(made, F_DUPFD_CLOEXEC, FILE_NUMBER);
    close(made);
    return file;
}

/* Of the last memory of a barrier in this process; 0: it has none. */
static unsigned long inode(void)
{
    char line[4352];
    unsigned long last = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "/memfd:runflat-barrier"))
            sscanf(line, "%*s %*s %*s %*s %lu", &last);
    if (maps)
        fclose(maps);
    return last;
}

int main(int argc, char **argv)
{
    const struct timespec nap = {1, 0}, half = {0, 300000000};
    int rank, own;
    unsigned long had, all[4];
    MPI_Comm pair;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(pair, info);
    own = getpid();
    MPI_Bcast(&own, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        number = own;
    if (rank == 1)
        nanosleep(&nap, NULL);
    if (rank >= 2)
        nanosleep(&half, NULL);
    MPI_Barrier(pair);
    had = inode();
    MPI_Gather(&had, 1, MPI_UNSIGNED_LONG, all, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    number = 0;
    if (rank == 0)
        printf("ranks 0 and 1: %s, ranks 2 and 3: %s\n",
               all[0] && all[0] == all[1] ? "one memory" : "none",
               all[2] || all[3] ? "some" : "none");
    MPI_Finalize();
    return 0;
}
