"""Malleable, for mpi4py: after a failure the survivors go on with fewer processes.

    runflat mpi run -n 6 --kill 1@0.5 --kill 4@0.7 -- python 01_shrink.py 400

The same job as 01_shrink.c. The info key lets a collective call fail at all processes or at none, so that all do the step again that was
cut off: a call of MPI, that is, such as `Allreduce`; mpi4py makes `allreduce` of several messages, which tell some of a failure and leave
others waiting. The shrink is a request here (`shrink_later`): other work could be done until it has ended.
Source: Bouteiller and Bosilca 2022, Figure 1, second case, and Sections III-B and III-C.
"""

from __future__ import annotations

import array
import sys
import time

from mpi4py import MPI

from runflat import mpi

NUMBERS = 1000
FAILURES = (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED)


def share_of(step: int, rank: int, size: int) -> int:
    """Add up the squares of a rank's numbers."""
    time.sleep(0.003)  # the work that a real program would do
    return sum(number**2 for number in range(step * NUMBERS + rank, (step + 1) * NUMBERS, size))


def of_the_living(comm: MPI.Intracomm) -> MPI.Intracomm:
    """Shrink a communicator; collective calls on what is made tell all the same."""
    request, take = mpi.shrink_later(comm)
    request.Wait()
    living = take()
    living.Set_info(MPI.Info.Create({"mpix_error_uniform": "coll"}))
    return living


def main() -> None:
    """Run the job."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    comm, step, total = of_the_living(MPI.COMM_WORLD), 0, 0
    while step < steps:
        own = array.array("q", [share_of(step, comm.Get_rank(), comm.Get_size())])
        try:
            comm.Allreduce(MPI.IN_PLACE, own)
            total += own[0]
            step += 1
        except MPI.Exception as error:
            if error.Get_error_class() not in FAILURES:
                raise
            # All are told alike, so all come here, at the same step.
            comm = of_the_living(comm)
    last = steps * NUMBERS - 1
    wanted = last * (last + 1) * (2 * last + 1) // 6
    if comm.Get_rank() == 0:
        size, first_size = comm.Get_size(), MPI.COMM_WORLD.Get_size()
        verdict = "right" if total == wanted else "wrong"
        print(f"{size} of {first_size} processes, sum {total}, which is {verdict}", flush=True)


main()
