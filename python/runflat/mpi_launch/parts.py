"""What a launch needs, found: the launcher, the recovery library and the policies; the library is compiled if need be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.installed import (
    POLICY_LIBRARY,
    find_policy_library,
    find_source,
    policy_places,
)
from runflat.mpi_launch.library import LIBRARY, build, place_of
from runflat.mpi_launch.toolchain import check_launcher, find_launcher, find_toolchain


@dataclass(frozen=True)
class Parts:
    """What a launch needs.

    Attributes
    ----------
    mpirun : Path
        The launcher.
    library : Path
        `librunflat_mpi.so`.
    policies : Path or None
        `librunflat_policy.so`; None in a job without spares.
    """

    mpirun: Path
    library: Path
    policies: Path | None = None


def find_parts(
    mpirun: str | None = None,
    library: str | None = None,
    *,
    spares: bool,
    compiles: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Parts:
    """Find what a launch needs.

    Parameters
    ----------
    mpirun : str, optional
        The launcher, as a path or a name on PATH; by default the one beside mpicc.
    library : str, optional
        A compiled library; by default the one that `build` makes.
    spares : bool
        The job has spares, so it needs the policies.
    compiles : bool
        Compile the library if it is not there.
    say : callable
        Is told when a compilation begins, or that one would be needed.

    Raises
    ------
    MpiError
        If one is not there or does not go with the others.
    """
    launcher = None if mpirun is None else find_launcher(mpirun)
    if library is None:
        launcher, path = _our_own(launcher, compiles=compiles, say=say)
    else:
        launcher, path = _named(launcher or find_launcher(), Path(library))
    return Parts(launcher, path, _policies(path) if spares else None)


def _named(launcher: Path, library: Path) -> tuple[Path, Path]:
    # For which Open MPI a library was compiled is not in it: it needs libmpi.so.40, which versions 4 and 5 both are, and asks the MPI
    # that it runs in for its version. So the launcher's major version is all that is looked at.
    check_launcher(launcher, None)
    # A program names the functions, too, but not the settings.
    if b"RUNFLAT_STEP_LIMIT_S" not in library.read_bytes():
        raise MpiError(f"{library} is not the recovery library; `runflat mpi build` makes one")
    return launcher, library.resolve()


def _our_own(
    launcher: Path | None, *, compiles: bool, say: Callable[[str], None]
) -> tuple[Path, Path]:
    toolchain = find_toolchain(mpirun=launcher)
    if launcher is None:
        launcher = toolchain.mpirun
    else:
        check_launcher(launcher, toolchain.version)
    if compiles:
        return launcher, build(toolchain, say=say).path
    path = place_of(toolchain, find_source().resolve()) / LIBRARY
    if not path.is_file():
        say("the library is not compiled yet: runflat mpi build")
    return launcher, path


def _policies(library: Path) -> Path:
    """Find the policies, which say which spare takes over; the library would also look beside itself."""
    beside = library.parent / POLICY_LIBRARY
    found = find_policy_library() or (beside if beside.is_file() else None)
    if found is None:
        places = " or ".join(map(str, [*policy_places(), beside]))
        raise MpiError(
            f"spares need the library of policies, which is not at {places}; in a checkout `make mpi` builds it"
        )
    return found
