"""Starts MPI programs under the recovery library, and judges how they ended.

In the order of use:

- What is needed: `toolchain` finds an MPI that can recover, `installed` what came with runflat, `library` compiles `librunflat_mpi`
  with them; `parts` has it all for a launch.
- What is asked for: `injection` reads the failures on request, `hosts` the hosts, `sites` where they stand in a fabric, `job` refuses what does not fit together, `line`
  composes the launch line.
- What happens: `attempt` runs a line to its end with the help of `processes` and `interrupt`, `events` reads what the processes noted,
  `verdict` judges it, `timeline` writes it down; `launch` is these steps in a row.
- What is done when mpirun has given up: `probe` asks which hosts are left, `supervise` begins again on those.

Does not take part in the recovery: that is the library's business, inside the MPI processes. Prints nothing: `runflat.cli.mpi` does.
The binding for mpi4py programs is `runflat.mpi`. Limits: Linux (`/proc`), Open MPI 5 or later.
"""

from runflat.mpi_launch.attempt import Attempt, run
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import Event, read_events
from runflat.mpi_launch.injection import Injection, NodeKill, read_kill, read_stop
from runflat.mpi_launch.installed import find_policy_library
from runflat.mpi_launch.job import Job
from runflat.mpi_launch.launch import End, Launch
from runflat.mpi_launch.library import Library, build
from runflat.mpi_launch.line import Line, compose
from runflat.mpi_launch.parts import Parts, find_parts
from runflat.mpi_launch.supervise import run_supervised
from runflat.mpi_launch.toolchain import Toolchain, find_toolchain
from runflat.mpi_launch.verdict import Verdict, judge

__all__ = [
    "Attempt",
    "End",
    "Event",
    "Injection",
    "Job",
    "Launch",
    "Library",
    "Line",
    "MpiError",
    "NodeKill",
    "Parts",
    "Toolchain",
    "Verdict",
    "build",
    "compose",
    "find_parts",
    "find_policy_library",
    "find_toolchain",
    "judge",
    "read_events",
    "read_kill",
    "read_stop",
    "run",
    "run_supervised",
]
