/* Run-through: a manager hands out work; workers that die do not matter, their work is done by others.
 *
 *     mpicc 00_run_through.c -o 00_run_through
 *     runflat mpi run -n 5 --kill 2@0.1 ./00_run_through 200
 *
 * Nothing of runflat is called: linked or preloaded, the library sees to it that MPI_Finalize ends although processes are dead.
 * What a program has to do itself is to ask for errors, and to hand out again what a dead worker had.
 * Source: Bouteiller and Bosilca 2022, Figure 1, first case. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORK = 1, END = 2 };

static long work_on(long task)
{
    const struct timespec nap = {0, 3000000};
    nanosleep(&nap, NULL); /* the work that a real program would do */
    return task * task;
}

static void be_worker(void)
{
    for (;;) {
        long task;
        MPI_Status status;
        if (MPI_Recv(&task, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status) != MPI_SUCCESS ||
            status.MPI_TAG == END)
            return;
        long result = work_on(task);
        MPI_Send(&result, 1, MPI_LONG, 0, WORK, MPI_COMM_WORLD);
    }
}

/* What the manager knows of its workers, by rank. */
struct crew {
    int size;
    MPI_Request *answer; /* MPI_REQUEST_NULL: idle, or dead */
    long *task, *result;
    char *dead;
};

/* Gives tasks to workers that are idle. If one is dead, waiting for its answer will tell. */
static void give(struct crew *crew, const long *todo, long *left)
{
    for (int worker = 1; worker < crew->size && *left > 0; worker++) {
        if (crew->dead[worker] || crew->answer[worker] != MPI_REQUEST_NULL)
            continue;
        crew->task[worker] = todo[--*left];
        MPI_Irecv(&crew->result[worker], 1, MPI_LONG, worker, WORK, MPI_COMM_WORLD,
                  &crew->answer[worker]);
        MPI_Send(&crew->task[worker], 1, MPI_LONG, worker, WORK, MPI_COMM_WORLD);
    }
}

/* How many tasks nobody is left for. */
static long be_manager(int size, long tasks)
{
    struct crew crew = {size, malloc(sizeof(MPI_Request) * (size_t)size),
                        malloc(sizeof(long) * (size_t)size), malloc(sizeof(long) * (size_t)size),
                        calloc((size_t)size, 1)};
    long *todo = malloc(sizeof(long) * (size_t)tasks), left = tasks, sum = 0;
    int lost = 0, worker;
    for (long task = 0; task < tasks; task++)
        todo[task] = tasks - task;
    for (worker = 0; worker < size; worker++)
        crew.answer[worker] = MPI_REQUEST_NULL;
    for (;;) {
        give(&crew, todo, &left);
        int code = MPI_Waitany(size, crew.answer, &worker, MPI_STATUS_IGNORE);
        if (worker == MPI_UNDEFINED)
            break;
        if (code == MPI_SUCCESS) {
            sum += crew.result[worker];
        } else {
            crew.dead[worker] = 1;
            lost++;
            todo[left++] = crew.task[worker];
        }
    }
    for (int worker = 1; worker < size; worker++)
        MPI_Send(&sum, 1, MPI_LONG, worker, END, MPI_COMM_WORLD);
    if (left > 0)
        printf("%ld of %ld tasks are not done: no worker is left\n", left, tasks);
    else
        printf("%ld tasks, sum of squares %ld, workers lost %d\n", tasks, sum, lost);
    return left;
}

int main(int argc, char **argv)
{
    int rank, size;
    long undone = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        undone = be_manager(size, argc > 1 ? atol(argv[1]) : 200);
    else
        be_worker();
    MPI_Finalize();
    return undone > 0;
}
