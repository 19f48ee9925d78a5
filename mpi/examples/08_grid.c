/* Rows and columns: a program that makes communicators of its own, from the one that is repaired.
 *
 *     runflat mpi build -o rf
 *     mpicc 08_grid.c -Irf -Lrf -lrunflat_mpi -Wl,-rpath,$PWD/rf -o 08_grid
 *     runflat mpi run -n 12 --spares 2 --kill 5@0.5 ./08_grid 400
 *
 * A vector is multiplied by a matrix again and again, in whole numbers modulo a prime. Ranks stand in a grid, each with a block
 * of the matrix: products are added up along rows, the new vector is put together along columns. A repair interrupts who waits
 * in a row or a column; these are freed and made anew, with the spare where the dead rank stood. */
#include <mpi.h>
#include <runflat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVERY = 10, CELLS = 4, PRIME = 1000003 };

/* Where a rank stands, and what part of the vector it has: all ranks of a column have the same. */
struct grid {
    MPI_Comm row, column;
    int rows, columns, at_row, at_column;
    long cells; /* of the whole vector */
};

static int make_grid(MPI_Comm comm, struct grid *grid)
{
    int size, rank, sides[2] = {0, 0};
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Dims_create(size, 2, sides);
    *grid = (struct grid){.row = MPI_COMM_NULL,
                          .column = MPI_COMM_NULL,
                          .rows = sides[0],
                          .columns = sides[1],
                          .at_row = rank / sides[1],
                          .at_column = rank % sides[1],
                          .cells = (long)size * CELLS};
    int code = MPI_Comm_split(comm, grid->at_row, grid->at_column, &grid->row);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_split(comm, grid->at_column, grid->at_row, &grid->column);
    return code;
}

/* Those of a job that lost a rank are freed like any others. */
static void free_grid(struct grid *grid)
{
    if (grid->row != MPI_COMM_NULL)
        MPI_Comm_free(&grid->row);
    if (grid->column != MPI_COMM_NULL)
        MPI_Comm_free(&grid->column);
}

static long first_value(long cell)
{
    return cell * 37 % 101;
}

/* One block of the product: so many rows and columns of the matrix, from these on. */
static void multiply(long row, long rows, long column, long columns, const long *part, long *sums)
{
    for (long at = 0; at < rows; at++) {
        sums[at] = 0;
        for (long cell = 0; cell < columns; cell++)
            sums[at] += ((row + at) * 7 + (column + cell) * 13) % 11 * part[cell] % PRIME;
    }
}

/* One step of all ranks; what MPI says. */
static int compute(const struct grid *grid, long *part)
{
    long high = grid->cells / grid->rows, wide = grid->cells / grid->columns;
    long sums[high], whole[grid->cells];
    multiply(grid->at_row * high, high, grid->at_column * wide, wide, part, sums);
    int code = MPI_Allreduce(MPI_IN_PLACE, sums, (int)high, MPI_LONG, MPI_SUM, grid->row);
    for (long at = 0; at < high; at++)
        sums[at] %= PRIME;
    if (code == MPI_SUCCESS)
        code = MPI_Allgather(sums, (int)high, MPI_LONG, whole, (int)high, MPI_LONG, grid->column);
    if (code == MPI_SUCCESS)
        memcpy(part, whole + grid->at_column * wide, sizeof(long) * (size_t)wide);
    return code;
}

/* The largest difference to the same steps without MPI. */
static long error_of(const struct grid *grid, const long *part, long steps)
{
    long all = grid->cells, wide = all / grid->columns, worst = 0, old[all], new[all];
    for (long cell = 0; cell < all; cell++)
        old[cell] = first_value(cell);
    for (long step = 0; step < steps; step++) {
        multiply(0, all, 0, all, old, new);
        for (long cell = 0; cell < all; cell++)
            old[cell] = new[cell] % PRIME;
    }
    for (long at = 0; at < wide; at++) {
        long error = labs(part[at] - old[grid->at_column * wide + at]);
        worst = error > worst ? error : worst;
    }
    return worst;
}

/* From the last checkpoint, or the first values, to the last step; what MPI or the library says. */
static int run(MPI_Comm comm, const struct grid *grid, long *part, long steps)
{
    struct timespec nap = {0, 2000000};
    long wide = grid->cells / grid->columns;
    int64_t step = 0;
    RF_Protect(0, part, sizeof(long) * (size_t)wide);
    int code = RF_Restore(comm, &step);
    if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST) {
        for (long at = 0; at < wide; at++)
            part[at] = first_value(grid->at_column * wide + at);
        code = RF_Checkpoint(comm, step = 0);
    }
    for (; code == MPI_SUCCESS && step < steps; step++) {
        nanosleep(&nap, NULL); /* the work that a real program would do */
        code = compute(grid, part);
        if (code == MPI_SUCCESS && (step + 1) % EVERY == 0)
            code = RF_Checkpoint(comm, step + 1);
    }
    return code;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 200;
    struct grid grid = {.row = MPI_COMM_NULL, .column = MPI_COMM_NULL};
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    long *part = NULL;
    while (comm != MPI_COMM_NULL) {
        if (RF_Shape() == RF_SMALLER)
            MPI_Abort(MPI_COMM_WORLD, 4); /* a matrix that lacks a part is of no use */
        int code = make_grid(comm, &grid);
        if (code == MPI_SUCCESS) {
            if (!part)
                part = malloc(sizeof(long) * (size_t)(grid.cells / grid.columns));
            code = run(comm, &grid, part, steps);
        }
        if (code == MPI_SUCCESS) {
            long worst = error_of(&grid, part, steps);
            int rank, size;
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &size);
            code = MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_LONG, MPI_MAX, comm);
            if (code == MPI_SUCCESS && (code = RF_End(&comm)) == MPI_SUCCESS) {
                if (rank == 0)
                    printf("%d ranks, %ld steps, largest error %ld\n", size, steps, worst);
                break;
            }
        }
        free_grid(&grid);
        if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    free_grid(&grid);
    free(part);
    MPI_Finalize();
    return 0;
}
