"""What came with runflat for MPI: the sources of the recovery library, and the library of recovery policies.

They lie in the installed package (`runflat/_mpi`, `runflat/_policy`), or in a checkout in `mpi/` and `target/release`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from runflat.mpi_launch.error import MpiError

POLICY_LIBRARY = "librunflat_policy.so"

PACKAGE = Path(__file__).resolve().parent.parent


def find_source() -> Path:
    """Find the sources of the library.

    Raises
    ------
    MpiError
        If there are none.
    """
    places = [PACKAGE / "_mpi", *(root / "mpi" for root in _checkout())]
    for place in places:
        if (place / "CMakeLists.txt").is_file():
            return place
    searched = " or ".join(map(str, places))
    raise MpiError(f"the sources of the library are not in {searched}: name their folder, --source")


def policy_places() -> list[Path]:
    """Where the policies are looked for: as named by the environment, beside the package, in a checkout's release build."""
    named = os.environ.get("RUNFLAT_POLICY_LIBRARY")
    built = [root / "target" / "release" / POLICY_LIBRARY for root in _checkout()]
    return [
        *([Path(named).absolute()] if named else []),
        PACKAGE / "_policy" / POLICY_LIBRARY,
        *built,
    ]


def find_policy_library() -> Path | None:
    """Find the library of recovery policies that the MPI processes load."""
    return next((place for place in policy_places() if place.is_file()), None)


def _checkout() -> Iterator[Path]:
    """Give the repository that this package lies in, if it lies in one."""
    root = PACKAGE.parent.parent
    if (root / "Cargo.toml").is_file():
        yield root
