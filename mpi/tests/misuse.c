/* Steps that end in an error which no repair mends, or that a live rank never takes part in.
 *
 *     misuse protect       after a failure the ranks protect other memory than before
 *     misuse store         checkpoints, whose files may have no place
 *     misuse versions      checkpoints of versions that differ, waited for and as requests, and then a good one
 *     misuse old           versions that are too low, at one rank and at all, and then a good one
 *     misuse ids           one rank protects what others do not, and all protect more beside a checkpoint: that is right
 *     misuse partly        a version that is too low, and one that is too high, at one rank; then the job aborts
 *     misuse absent        a rank dies, one sleeps for ever, the others repair by request
 *     misuse twice         a repair, a checkpoint or a restore beside a repair that is under way
 *     misuse memory        rank 1 has no room for the copy of rank 0, and then it has
 *     misuse fork          children that are forked end with a status
 *     misuse abort         rank 0 aborts, and does not look after the others, which wait
 *     misuse exit|_exit    rank 0 ends with a status and without MPI_Finalize
 *     misuse exit-open-mpi the same, where Open MPI gives up
 *     misuse calls         calls at a wrong moment or on a wrong communicator
 *     misuse late          RF_Init when others have been dead for a while
 *     misuse reordered     who takes over protects the same in another order
 *     misuse spares        RF_Init with a number of spares that is not the same at all
 *     misuse nothing       checkpoints before anything is protected
 *     misuse world         calls of all on MPI_COMM_WORLD, while spares sleep
 *     misuse open          MPI_Finalize without RF_End
 *     misuse info          one process gives a mode that there is none of, in calls that make something */
#include <mpi.h>
#include <mpi-ext.h>
#include <runflat.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of Open MPI. */
void ompi_rte_abort(int status, char *why, ...);

static char field[200];

/* The first code that is no failure, in the loop of runflat.h, once the memory is protected. */
static int run(MPI_Comm *comm, bool protects_other)
{
    int64_t step = 0;
    int code = RF_Restore(*comm, &step);
    for (;;) {
        if (code == RF_ERR_NO_CHECKPOINT)
            code = RF_Checkpoint(*comm, step = 0);
        for (; code == MPI_SUCCESS && step < 200; step++) {
            usleep(2000);
            code = MPI_Barrier(*comm);
            if (code == MPI_SUCCESS)
                code = RF_Checkpoint(*comm, step + 1);
        }
        if (code == MPI_SUCCESS || !RF_Is_failure(*comm, code))
            return code;
        code = RF_Repair(comm);
        if (code != MPI_SUCCESS)
            return code;
        if (protects_other)
            RF_Protect(0, field, 200);
        code = RF_Restore(*comm, &step);
    }
}

/* Who is a spare at first names them the other way round. */
static void protect_two(bool other_way_round)
{
    static char more[50];
    RF_Protect(other_way_round, other_way_round ? more : field, other_way_round ? 50 : 100);
    RF_Protect(!other_way_round, other_way_round ? field : more, other_way_round ? 100 : 50);
}

static void differ_in_info(MPI_Comm comm, int rank)
{
    MPI_Info info;
    MPI_Comm copy;
    MPI_Win window;
    MPI_File file;
    MPI_Request request;
    int64_t memory = 0;
    int codes[4];
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_range", rank == 0 ? "bogus" : "group");
    codes[0] = MPI_Comm_dup_with_info(comm, info, &copy);
    codes[1] = MPI_Win_create(&memory, sizeof memory, 1, info, comm, &window);
    codes[2] = MPI_File_open(comm, "/dev/null", MPI_MODE_RDONLY, info, &file);
    codes[3] = MPI_Comm_idup_with_info(comm, info, &copy, &request);
    if (codes[3] == MPI_SUCCESS)
        codes[3] = MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("rank %d: codes", rank);
    for (int at = 0; at < 4; at++) {
        MPI_Error_class(codes[at], &codes[at]);
        printf(" %d", codes[at]);
    }
    printf(", nothing made %d\n",
           copy == MPI_COMM_NULL && window == MPI_WIN_NULL && file == MPI_FILE_NULL);
    MPI_Info_free(&info);
}

static void differ_in_versions(MPI_Comm comm, int rank)
{
    int64_t restored = -1;
    MPI_Request request;
    int codes[4] = {RF_Checkpoint(comm, rank == 1 ? 5 : 4)};
    RF_Icheckpoint(comm, rank == 2 ? 4096 : 1, &request);
    codes[1] = MPI_Wait(&request, MPI_STATUS_IGNORE);
    codes[2] = RF_Checkpoint(comm, 6);
    codes[3] = RF_Restore(comm, &restored);
    printf("rank %d: codes %d %d %d %d, version %d\n", rank, codes[0], codes[1], codes[2], codes[3],
           (int)restored);
}

/* The code that the request of a checkpoint ends with. */
static int checkpoint_later(MPI_Comm comm, int64_t version)
{
    MPI_Request request;
    int code = RF_Icheckpoint(comm, version, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

static void give_old_versions(MPI_Comm comm, int rank)
{
    int64_t restored = -1;
    int codes[] = {
        RF_Checkpoint(comm, 5),
        RF_Checkpoint(comm, rank == 1 ? 3 : 6),
        checkpoint_later(comm, rank == 0 ? -1 : 6),
        RF_Checkpoint(comm, 5),
        checkpoint_later(comm, 4),
        RF_Restore(comm, &restored),
    };
    printf("rank %d: codes", rank);
    for (int at = 0; at < 6; at++)
        printf(" %d", codes[at]);
    printf(", version %d, then %d\n", (int)restored, checkpoint_later(comm, 6));
}

static void differ_in_ids(MPI_Comm comm, int rank)
{
    static char more[10] = "own", late[10];
    int64_t restored = -1;
    MPI_Request request;
    if (rank == 2)
        RF_Protect(7, more, sizeof more);
    int codes[4] = {RF_Checkpoint(comm, 1), RF_Icheckpoint(comm, 2, &request)};
    RF_Protect(9, late, sizeof late);
    codes[1] = codes[1] == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : codes[1];
    codes[2] = RF_Checkpoint(comm, 3);
    memset(more, 0, sizeof more);
    codes[3] = RF_Restore(comm, &restored);
    printf("rank %d: codes %d %d %d %d, version %d, more '%s'\n", rank, codes[0], codes[1],
           codes[2], codes[3], (int)restored, more);
}

/* No MPI_Finalize: the files are looked at as they are then. */
static void refuse_and_end(MPI_Comm comm, int rank)
{
    int codes[] = {RF_Checkpoint(comm, 5), RF_Checkpoint(comm, rank == 1 ? 3 : 6),
                   RF_Checkpoint(comm, rank == 1 ? 8 : 7)};
    printf("rank %d: codes %d %d %d\n", rank, codes[0], codes[1], codes[2]);
    fflush(stdout);
    MPI_Barrier(comm);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void call_in_world(MPI_Comm comm, int rank)
{
    MPI_Comm made, world = MPI_COMM_WORLD;
    MPI_Request request;
    int flag = 1;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int codes[] = {
        MPI_Barrier(world),
        MPI_Ibarrier(world, &request),
        MPI_Barrier_init(world, MPI_INFO_NULL, &request),
        MPI_Comm_dup(world, &made),
        MPI_Comm_idup(world, &made, &request),
        MPI_Intercomm_create(world, 0, world, 1, 0, &made),
        MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, world, &made,
                       MPI_ERRCODES_IGNORE),
        MPIX_Comm_shrink(world, &made),
        MPIX_Comm_ishrink(world, &made, &request),
        MPIX_Comm_agree(world, &flag),
        MPIX_Comm_iagree(world, &flag, &request),
    };
    printf("rank %d: in world", rank);
    for (size_t at = 0; at < sizeof codes / sizeof *codes; at++)
        printf(" %d", codes[at]);
    printf(", of the ranks %d\n", MPI_Barrier(comm));
}

static void wait_for_absent(MPI_Comm comm, int rank)
{
    MPI_Comm repaired;
    MPI_Request request;
    MPI_Barrier(comm);
    if (rank == 1)
        raise(SIGKILL);
    while (rank == 2)
        pause();
    MPI_Barrier(comm);
    RF_Comm_irepair(comm, &repaired, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("rank %d is back\n", rank);
}

static void repair_twice(MPI_Comm *comm)
{
    MPI_Comm repaired, same = *comm;
    MPI_Request request, second;
    int64_t version;
    int code = RF_Comm_irepair(*comm, &repaired, &request);
    int beside[] = {RF_Comm_irepair(same, comm, &second),
                    RF_Repair(&same),
                    RF_End(&same),
                    RF_Checkpoint(same, 1),
                    RF_Icheckpoint(same, 1, &second),
                    RF_Restore(same, &version)};
    printf("first: %d, beside it:", code);
    for (int at = 0; at < 6; at++)
        printf(" %d", beside[at]);
    printf("\n");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    *comm = repaired;
}

/* How much address space this process has, in bytes. */
static rlim_t used(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (rlim_t)(pages * sysconf(_SC_PAGESIZE));
}

static void lack_memory(MPI_Comm *comm, int rank)
{
    enum { LARGE = 512 << 20 };
    static char own[LARGE];
    struct rlimit before, now;
    RF_Protect(0, own, rank == 0 ? LARGE : 100);
    getrlimit(RLIMIT_AS, &before);
    now = before;
    now.rlim_cur = used() + (64 << 20);
    if (rank == 1)
        setrlimit(RLIMIT_AS, &now);
    int codes[3] = {RF_Checkpoint(*comm, 1)};
    setrlimit(RLIMIT_AS, &before);
    codes[1] = RF_Repair(comm);
    codes[2] = RF_Checkpoint(*comm, 1);
    printf("rank %d: codes %d %d %d\n", rank, codes[0], codes[1], codes[2]);
}

static void fork_child(int rank)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        exit(3);
    waitpid(child, &status, 0);
    printf("rank %d: the child's status is %d\n", rank,
           WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void end_alone(MPI_Comm comm, int rank, const char *how)
{
    MPI_Barrier(comm);
    if (rank == 0 && strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0 && strcmp(how, "_exit") == 0)
        _exit(3);
    if (rank == 0 && strcmp(how, "exit-open-mpi") == 0)
        ompi_rte_abort(-1, "no way on, %d times tried", 7);
    if (rank == 0)
        exit(3);
    int class, code = MPI_Barrier(comm);
    MPI_Error_class(code, &class);
    printf("rank %d: barrier %d\n", rank, class);
}

int main(int argc, char **argv)
{
    int rank, in_world, code = MPI_SUCCESS;
    MPI_Comm comm;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &in_world);
    if (strcmp(argv[1], "calls") == 0) {
        comm = MPI_COMM_WORLD;
        code = RF_Repair(&comm);
        printf("before: %d\n", code);
    }
    bool is_late = strcmp(argv[1], "late") == 0;
    if (is_late)
        usleep(600000);
    if (strcmp(argv[1], "spares") == 0) {
        code = RF_Init(in_world == 0, &comm);
        printf("process %d: code %d, nothing made %d\n", in_world, code, comm == MPI_COMM_NULL);
    }
    code = RF_Init(RF_SPARES_FROM_LAUNCH, &comm);
    if (is_late)
        printf("process %d: code %d, without communicator %d\n", in_world, code,
               comm == MPI_COMM_NULL);
    else if (code != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &rank);
        if (strcmp(argv[1], "reordered") == 0)
            protect_two(in_world == 4);
        else if (strcmp(argv[1], "nothing") != 0)
            RF_Protect(0, field, 100);
        if (strcmp(argv[1], "absent") == 0)
            wait_for_absent(comm, rank);
        else if (strcmp(argv[1], "twice") == 0)
            repair_twice(&comm);
        else if (strcmp(argv[1], "memory") == 0)
            lack_memory(&comm, rank);
        else if (strcmp(argv[1], "fork") == 0)
            fork_child(rank);
        else if (strcmp(argv[1], "info") == 0)
            differ_in_info(comm, rank);
        else if (strcmp(argv[1], "versions") == 0)
            differ_in_versions(comm, rank);
        else if (strcmp(argv[1], "old") == 0)
            give_old_versions(comm, rank);
        else if (strcmp(argv[1], "ids") == 0)
            differ_in_ids(comm, rank);
        else if (strcmp(argv[1], "partly") == 0)
            refuse_and_end(comm, rank);
        else if (strcmp(argv[1], "world") == 0)
            call_in_world(comm, rank);
        else if (strcmp(argv[1], "abort") == 0 || strstr(argv[1], "exit"))
            end_alone(comm, rank, argv[1]);
        else if (strcmp(argv[1], "calls") == 0)
            printf("world: %d, negative: %d, freed: %d\n", RF_Checkpoint(MPI_COMM_WORLD, 1),
                   RF_Checkpoint(comm, -7), MPI_Comm_free(&(MPI_Comm){comm}));
        else if (!is_late)
            printf("rank %d: code %d\n", rank, code = run(&comm, argv[1][0] == 'p'));
        fflush(stdout);
        if (!strstr(argv[1], "exit") && strcmp(argv[1], "open") != 0 && comm != MPI_COMM_NULL)
            RF_End(&comm);
        if (strcmp(argv[1], "calls") == 0)
            printf("again: %d\n", RF_Init(0, &comm));
    }
    MPI_Finalize();
    return 0;
}
