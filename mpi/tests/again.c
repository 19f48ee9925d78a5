/* What a communicator of spares keeps through repairs: its modes, and that failures which were repaired interrupt nothing any more.
 *
 *     again RANGE STEPS      RANGE: `group` or `universe`; with `coll` uniformity
 *
 * The modes are set once. Ranks add numbers until each has done STEPS steps; every failure is repaired. */
#include <mpi.h>
#include <runflat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void set(MPI_Comm comm, const char *range)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_error_range", range);
    MPI_Info_set(info, "mpix_error_uniform", "coll");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

static void print_modes(MPI_Comm comm, int repairs)
{
    char range[MPI_MAX_INFO_VAL + 1] = "", uniform[MPI_MAX_INFO_VAL + 1] = "";
    int rank, there;
    MPI_Info info;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, "mpix_error_range", MPI_MAX_INFO_VAL, range, &there);
    MPI_Info_get(info, "mpix_error_uniform", MPI_MAX_INFO_VAL, uniform, &there);
    MPI_Info_free(&info);
    printf("rank %d: range %s, uniform %s, %d repairs\n", rank, range, uniform, repairs);
}

int main(int argc, char **argv)
{
    struct timespec nap = {0, 2000000};
    int step = 0, steps = argc > 2 ? atoi(argv[2]) : 100, repairs = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (RF_Init(RF_SPARES_FROM_LAUNCH, &comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (comm != MPI_COMM_NULL && RF_Shape() == RF_SAME_SIZE) {
        int code, least, one = 1, all;
        /* A spare that takes over comes here after the modes were set, and after as many repairs as there were. */
        bool is_first = true;
        for (;;) {
            int told[2] = {step, repairs}, most[2];
            code = MPI_Allreduce(told, most, 2, MPI_INT, MPI_MAX, comm);
            least = most[0];
            if (code == MPI_SUCCESS) {
                step = least;
                repairs = most[1];
                if (is_first && repairs == 0)
                    set(comm, argv[1]);
                is_first = false;
            }
            for (; code == MPI_SUCCESS && step < steps; step++) {
                nanosleep(&nap, NULL);
                code = MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
            }
            if (code == MPI_SUCCESS) {
                print_modes(comm, repairs);
                code = RF_End(&comm);
            }
            if (code == MPI_SUCCESS)
                break;
            if (!RF_Is_failure(comm, code) || ++repairs > 9 || RF_Repair(&comm) != MPI_SUCCESS)
                MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    MPI_Finalize();
    return 0;
}
