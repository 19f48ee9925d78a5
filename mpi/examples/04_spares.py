"""Spares for an mpi4py program: ranks add up to pi, and go on with their data whatever process dies.

    runflat mpi run -n 4 --spares 2 --kill 1@0.3 -- python 04_spares.py 400

The integral of 03_overlap.c with the recovery of 02_spares.c: a failure inside `recoverable` is repaired, all wait for that, and the loop
begins again at the last checkpoint.
"""

from __future__ import annotations

import array
import sys
import time

from mpi4py import MPI

from runflat import mpi

EVERY = 5


def main() -> None:
    """Run the job; a spare that is not needed comes back at its end."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    area = array.array("d", [0.0])
    job = mpi.start()
    job.protect(0, area)
    while job.goes_on:
        with job.recoverable():
            if job.is_smaller:  # spares ran out: nobody has the part of the rank that is gone
                MPI.COMM_WORLD.Abort(4)
            comm = job.comm
            rank, size = comm.Get_rank(), comm.Get_size()
            step = job.restore()
            if step is None:
                step, area[0] = 0, 0.0
                job.checkpoint(step)
            while step < steps:
                x = (rank * steps + step + 0.5) / (size * steps)
                area[0] += 4 / (1 + x * x) / (size * steps)
                time.sleep(0.001)  # the work that a real program would do
                comm.Barrier()
                step += 1
                if step % EVERY == 0:
                    job.checkpoint(step)
            total = comm.allreduce(area[0], MPI.SUM)
            job.end()
            if rank == 0:
                print(f"{size} ranks: pi is {total:.7f}")


main()
