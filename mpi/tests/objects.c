/* Windows and files, again and again, while a process dies.
 *
 *     objects KIND FOLDER US         made, used and freed 40 times; the process in the middle dies so many microseconds after the begin of
 *                                    the 20th round (-1: it does not)
 *     objects KIND FOLDER range      made with the error range `universe` by the lower half; all of the upper half die, and rank 0 waits
 *                                    for rank 1, which does not come
 *
 * KIND: create, allocate, shared, dynamic, file. Prints one line a process. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 40, DEATH = 20, WORDS = 512 };

/* One of them: a window or a file. */
struct object {
    MPI_Win window;
    MPI_File file;
    int own[WORDS], *base;
};

static const char *kind, *folder;

static int make(MPI_Comm comm, MPI_Info info, struct object *made)
{
    MPI_Aint bytes = sizeof made->own;
    made->base = made->own;
    made->file = MPI_FILE_NULL;
    made->window = MPI_WIN_NULL;
    if (strcmp(kind, "file") == 0) {
        char name[1000];
        snprintf(name, sizeof name, "%s/file", folder);
        return MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &made->file);
    }
    if (strcmp(kind, "create") == 0)
        return MPI_Win_create(made->own, bytes, sizeof(int), info, comm, &made->window);
    if (strcmp(kind, "dynamic") == 0)
        return MPI_Win_create_dynamic(info, comm, &made->window);
    if (strcmp(kind, "shared") == 0)
        return MPI_Win_allocate_shared(bytes, sizeof(int), info, comm, &made->base, &made->window);
    return MPI_Win_allocate(bytes, sizeof(int), info, comm, &made->base, &made->window);
}

/* A collective call on it. */
static int meet(struct object *made)
{
    if (made->file != MPI_FILE_NULL)
        return MPI_File_set_size(made->file, sizeof made->own);
    return MPI_Win_fence(0, made->window);
}

/* A neighbour's word, as all that are alive have written it. */
static int use(struct object *made, MPI_Comm comm)
{
    int rank, size, got = -1, code;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int next = (rank + 1) % size, word = 100 + rank;
    if (strcmp(kind, "dynamic") == 0)
        return meet(made);
    if (made->file != MPI_FILE_NULL) {
        code = MPI_File_write_at_all(made->file, rank * (MPI_Offset)sizeof word, &word, 1, MPI_INT,
                                     MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            code = MPI_File_read_at_all(made->file, rank * (MPI_Offset)sizeof word, &got, 1,
                                        MPI_INT, MPI_STATUS_IGNORE);
        return code == MPI_SUCCESS && got != word ? MPI_ERR_OTHER : code;
    }
    made->base[0] = word;
    code = MPI_Win_fence(0, made->window);
    if (code == MPI_SUCCESS)
        code = MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, made->window);
    if (code == MPI_SUCCESS)
        code = MPI_Win_fence(0, made->window);
    return code == MPI_SUCCESS && got != 100 + next ? MPI_ERR_OTHER : code;
}

static int drop(struct object *made)
{
    return made->file != MPI_FILE_NULL ? MPI_File_close(&made->file) : MPI_Win_free(&made->window);
}

static void return_errors(struct object *made)
{
    if (made->file != MPI_FILE_NULL)
        MPI_File_set_errhandler(made->file, MPI_ERRORS_RETURN);
    else
        MPI_Win_set_errhandler(made->window, MPI_ERRORS_RETURN);
}

static const char *word_of(int code)
{
    int class = code;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class == MPI_SUCCESS            ? "SUCCESS"
           : class == MPIX_ERR_PROC_FAILED ? "PROC_FAILED"
           : class == MPIX_ERR_REVOKED     ? "REVOKED"
                                           : "OTHER";
}

/* Dies some time from now, or now. */
static void die_in(int us)
{
    if (us == 0)
        raise(SIGKILL);
    if (fork() == 0) {
        usleep((useconds_t)us);
        kill(getppid(), SIGKILL);
        _exit(0);
    }
}

/* Rounds until one cannot be made; a failure in use is no end. */
static void make_again(MPI_Comm comm, int us)
{
    static struct object made;
    int rank, size, round, code = MPI_SUCCESS, used = 0, left;
    MPI_Comm rest;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (round = 0; round < ROUNDS; round++) {
        if (rank == size / 2 && round == DEATH && us >= 0)
            die_in(us);
        code = make(comm, MPI_INFO_NULL, &made);
        if (code != MPI_SUCCESS)
            break;
        return_errors(&made);
        /* Reading and writing files is not protected. */
        if (made.file == MPI_FILE_NULL || round < DEATH)
            used += use(&made, comm) == MPI_SUCCESS;
        drop(&made);
    }
    MPIX_Comm_shrink(comm, &rest);
    MPI_Comm_size(rest, &left);
    MPI_Comm_rank(comm, &rank);
    printf("rank %d: %d made, %d used, %s, %d go on\n", rank, round, used, word_of(code), left);
}

static void wait_in_range(MPI_Comm comm, int rank, int size)
{
    static struct object made;
    char read[MPI_MAX_INFO_VAL + 1] = "", protected[MPI_MAX_INFO_VAL + 1] = "";
    int lower = rank < size / 2, there = 0;
    MPI_Comm half;
    MPI_Info info, told;
    MPI_Comm_split(comm, lower, rank, &half);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_range", "universe");
    if (lower) {
        make(half, info, &made);
        return_errors(&made);
        if (made.file != MPI_FILE_NULL)
            MPI_File_get_info(made.file, &told);
        else
            MPI_Win_get_info(made.window, &told);
        MPI_Info_get(told, "mpix_error_range", MPI_MAX_INFO_VAL, read, &there);
        MPI_Info_get(told, "runflat_data_protected", MPI_MAX_INFO_VAL, protected, &there);
    }
    MPI_Barrier(comm);
    if (!lower)
        raise(SIGKILL);
    if (rank == 0) {
        double begin = MPI_Wtime();
        int code = meet(&made);
        printf("range %s: %s, %s; data protected: %s\n", read, word_of(code),
               MPI_Wtime() - begin < 2 ? "at once" : "late", protected);
    } else {
        usleep(3000000);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm comm;
    if (argc < 4)
        return 2;
    kind = argv[1];
    folder = argv[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (strcmp(argv[3], "range") == 0)
        wait_in_range(comm, rank, size);
    else
        make_again(comm, atoi(argv[3]));
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
