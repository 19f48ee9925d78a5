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
The binding for mpi4py programs is `runflat.mpi`. Limits: Linux (`/proc`), Open MPI 5.0; later ones are accepted, and protect less.
"""

from runflat.mpi_launch.attempt import Attempt
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import Event, read_events
from runflat.mpi_launch.injection import read_kill, read_stop
from runflat.mpi_launch.job import Job
from runflat.mpi_launch.line import compose
from runflat.mpi_launch.toolchain import find_toolchain
from runflat.mpi_launch.verdict import judge

__all__ = [
    "Attempt",
    "Event",
    "Job",
    "MpiError",
    "compose",
    "find_toolchain",
    "judge",
    "read_events",
    "read_kill",
    "read_stop",
]
