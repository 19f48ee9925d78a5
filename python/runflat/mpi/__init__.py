"""Recovery for mpi4py programs: ranks, hot spares and checkpoints of `runflat mpi run`.

    from mpi4py import MPI
    from runflat import mpi

    job = mpi.start()                     # spares sleep in here until they take over
    while job.goes_on:
        with job.recoverable():           # a failure in here is repaired, and the loop begins again
            if job.is_smaller:            # spares ran out: stop, or share the work out anew
                MPI.COMM_WORLD.Abort(1)
            step = job.restore()          # the last checkpoint; None: there is none
            if step is None:
                step = 0
                first_values(field)
                job.checkpoint(step)
            while step < steps:
                compute(job.comm, field)
                step += 1
                job.checkpoint(step)
            job.end()

Memory that is to be kept is named before the loop: `job.protect(0, field)`. The functions are those of `mpi/include/runflat.h`, called
in the library that the launcher has put before the program, or `preload` where mpirun alone starts it; nothing is computed here.
Limits: mpi4py 4 or later, Open MPI 5.0.
"""

from runflat.mpi.job import SPARES_FROM_LAUNCH, InterruptedCallError, Job, start
from runflat.mpi.library import (
    ARGUMENT,
    DATA_LOST,
    NO_CHECKPOINT,
    NO_SPARE,
    UNPROTECTED,
    MpiRecoveryError,
    preload,
)
from runflat.mpi.nonblocking import (
    accept_later,
    connect_later,
    shrink_later,
    spawn_later,
    spawn_multiple_later,
)

__all__ = [
    "ARGUMENT",
    "DATA_LOST",
    "NO_CHECKPOINT",
    "NO_SPARE",
    "SPARES_FROM_LAUNCH",
    "UNPROTECTED",
    "InterruptedCallError",
    "Job",
    "MpiRecoveryError",
    "accept_later",
    "connect_later",
    "preload",
    "shrink_later",
    "spawn_later",
    "spawn_multiple_later",
    "start",
]
