/* Two jobs, one spawned by the other, that merge or make intercommunicators in rounds, until a process dies: does everybody get out?
 *
 *     jobs KIND KIDS ROUNDS [VICTIM SECONDS]     KIND: "merge", "keep" or "between"; VICTIM: 0 and up, those that spawn first
 *
 * With "keep" those that are spawned do not free what is merged last, as who is interrupted before that, and all revoke what there is.
 *
 * Each process prints how many communicators it has made, what ended it, and how many had the wrong processes or order. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { TAG = 5 };

static void die(int signal)
{
    (void)signal;
    raise(SIGKILL);
}

static void die_in(double seconds)
{
    struct itimerval when = {
        .it_value = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - (int)seconds))}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &when, NULL);
}

static int wrong, made;

/* Ranks in the merged communicator follow from who comes first; all together add up to the same. */
static int make_merged(MPI_Comm between, int spawned, int round, int keeps)
{
    MPI_Comm all;
    int rank, own, other, now, sum = -1, second = spawned != round % 2;
    MPI_Comm_rank(between, &rank);
    MPI_Comm_size(between, &own);
    MPI_Comm_remote_size(between, &other);
    int code = MPI_Intercomm_merge(between, second, &all);
    if (code != MPI_SUCCESS)
        return code;
    made++;
    MPI_Comm_rank(all, &now);
    code = MPI_Allreduce(&now, &sum, 1, MPI_INT, MPI_SUM, all);
    wrong += now != rank + (second ? other : 0) ||
             (code == MPI_SUCCESS && sum != (own + other) * (own + other - 1) / 2);
    if (code == MPI_SUCCESS && !keeps)
        MPI_Comm_free(&all);
    return code;
}

/* Whether it can be used is asked where nobody dies: one side may never hear of a death in the other. */
static int make_between(MPI_Comm side, MPI_Comm all, int other_leader, int other, int uses)
{
    MPI_Comm between;
    int size, one = 1, sum = other;
    int code = MPI_Intercomm_create(side, 0, all, other_leader, TAG, &between);
    if (code != MPI_SUCCESS)
        return code;
    made++;
    MPI_Comm_remote_size(between, &size);
    if (uses)
        code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
    wrong += size != other || sum != other;
    if (code == MPI_SUCCESS)
        MPI_Comm_free(&between);
    return code;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, between, all, side;
    int rank, other, spawners, class = MPI_SUCCESS, code = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    if (argc < 4)
        return 2;
    int kids = atoi(argv[2]), rounds = atoi(argv[3]), victim = argc > 5 ? atoi(argv[4]) : -1;
    int keeps = strcmp(argv[1], "keep") == 0;
    MPI_Comm_get_parent(&parent);
    int spawned = parent != MPI_COMM_NULL;
    between = parent;
    if (!spawned)
        MPI_Comm_spawn(argv[0], argv + 1, kids, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &side);
    MPI_Comm_set_errhandler(side, MPI_ERRORS_RETURN);
    MPI_Intercomm_merge(between, spawned, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_remote_size(between, &other);
    MPI_Comm_size(side, &spawners);
    if (rank == victim)
        die_in(atof(argv[5]));
    for (int round = 0; round < rounds && code == MPI_SUCCESS; round++) {
        code = strcmp(argv[1], "between") == 0
                   ? make_between(side, all, spawned ? 0 : spawners, other, victim < 0)
                   : make_merged(between, spawned, round, keeps && spawned && round == rounds - 1);
    }
    if (code != MPI_SUCCESS || keeps) {
        MPI_Error_class(code, &class);
        MPIX_Comm_revoke(between);
        MPIX_Comm_revoke(all);
    }
    printf("%s %d: %d made, then class %d, %d wrong\n", spawned ? "spawned" : "spawner", rank, made,
           class, wrong);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
