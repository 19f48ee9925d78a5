"""Starts MPI programs under the recovery library, and judges how they ended.

In the order of use: `toolchain` finds an MPI that can recover, `library` compiles `librunflat_mpi` with it, `injection` reads the
failures asked for, `line` composes the launch line, `attempt` runs it to its end with the help of `processes`, `events` reads what
the processes noted, `verdict` judges it, `timeline` writes it down; `supervise` says where it begins again when mpirun has given up.

Does not take part in the recovery: that is the library's business, inside the MPI processes. The binding for mpi4py programs is
`runflat.mpi`. Limits: Linux (`/proc`), Open MPI 5 or later.
"""

from runflat.mpi_launch.attempt import Attempt, run
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import Event, read_events
from runflat.mpi_launch.injection import Injection, NodeKill, read_kill, read_stop
from runflat.mpi_launch.library import Library, build, find_policy_library
from runflat.mpi_launch.line import Job, Line, compose
from runflat.mpi_launch.toolchain import Toolchain, find_toolchain
from runflat.mpi_launch.verdict import Verdict, judge

__all__ = [
    "Attempt",
    "Event",
    "Injection",
    "Job",
    "Library",
    "Line",
    "MpiError",
    "NodeKill",
    "Toolchain",
    "Verdict",
    "build",
    "compose",
    "find_policy_library",
    "find_toolchain",
    "judge",
    "read_events",
    "read_kill",
    "read_stop",
    "run",
]
