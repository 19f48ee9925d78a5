"""Compiles the recovery library with the user's own mpicc, and keeps what was compiled.

A build lands in `$XDG_CACHE_HOME/runflat/mpi/<hash>`; the hash is over the sources, the wrapper's path, the MPI's version and what
else changes the outcome, so another MPI or an edited source gets a folder of its own, and a second call finds the first one's. Old
folders are not removed. The policies are copied beside the library, which looks for them there in jobs that are started by hand.
"""

from __future__ import annotations

import fcntl
import filecmp
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.installed import POLICY_LIBRARY, find_policy_library, find_source
from runflat.mpi_launch.toolchain import Toolchain, find_toolchain

TARGET = "runflat_mpi"
LIBRARY = f"lib{TARGET}.so"
HEADER = "runflat.h"
MODULE = "runflat.f90"
"""What Fortran programs compile, beside the header."""

NOT_SOURCES = {"bench", "examples", "tests", "__pycache__"}
"""Folders that the library is not made from."""

LOG_LINES = 20
TIME_LIMIT_S = 900


@dataclass(frozen=True)
class Library:
    """A compiled recovery library.

    Attributes
    ----------
    path : Path
        `librunflat_mpi.so`.
    include : Path or None
        Folder of `runflat.h` and `runflat.f90`; None if the sources have no header.
    toolchain : Toolchain
        The MPI it is for.
    log : Path
        What the compiler said.
    policies : Path or None
        `librunflat_policy.so` beside it; None if there is none.
    built : bool
        Whether it was compiled just now.
    seconds : float
        How long that took.
    """

    path: Path
    include: Path | None
    toolchain: Toolchain
    log: Path
    policies: Path | None
    built: bool
    seconds: float

    @property
    def link_flags(self) -> list[str]:
        """What a program adds to its own `mpicc` line."""
        folder = self.path.parent
        include = [] if self.include is None else [f"-I{self.include}"]
        return [*include, f"-L{folder}", f"-l{TARGET}", f"-Wl,-rpath,{folder}"]


def cache_folder() -> Path:
    """Give the folder of all builds."""
    base = os.environ.get("XDG_CACHE_HOME")
    # The specification has relative paths ignored.
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    return root / "runflat" / "mpi"


def place_of(toolchain: Toolchain, source: Path, *, debug: bool = False) -> Path:
    """Give the folder that a build of these sources with this MPI has."""
    return cache_folder() / _fingerprint(toolchain, source, debug=debug)


def find_built() -> Path:
    """Find the library as `build` has left it for the MPI that is found here, without compiling.

    Raises
    ------
    MpiError
        If no MPI here can recover, or it is not compiled yet.
    """
    path = place_of(find_toolchain(), find_source().resolve()) / LIBRARY
    if not path.is_file():
        raise MpiError("the recovery library is not compiled yet: runflat mpi build")
    return path


def build(
    toolchain: Toolchain,
    source: Path | None = None,
    *,
    debug: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Library:
    """Compile the library, or find it compiled.

    Parameters
    ----------
    toolchain : Toolchain
        The MPI to compile for.
    source : Path, optional
        Folder of a CMake project with a target `runflat_mpi`; by default our own.
    debug : bool
        Without optimisation.
    say : callable
        Is told when a compilation begins.

    Returns
    -------
    Library
        In its folder of the cache.

    Raises
    ------
    MpiError
        If there is no CMake, the sources are missing, or they do not compile.
    """
    source = (source or find_source()).resolve()
    if not (source / "CMakeLists.txt").is_file():
        raise MpiError(f"{source}: there is no CMakeLists.txt: --source names the library's folder")
    folder = place_of(toolchain, source, debug=debug)
    begun = time.monotonic()
    built = False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            if not (folder / LIBRARY).is_file():
                say(f"compiling the recovery library for {toolchain.name} ({toolchain.mpicc})")
                _compile(toolchain, source, folder, debug=debug)
                built = True
            policies = _put_policies(folder, find_policy_library())
    except OSError as error:
        raise MpiError(f"{folder}: cannot be written: {error.strerror}") from error
    include = folder / "include"
    return Library(
        folder / LIBRARY, include if (include / HEADER).is_file() else None, toolchain,
        folder / "build.log", policies, built, time.monotonic() - begun,
    )  # fmt: skip


def put_into(library: Library, folder: Path) -> Library:
    """Copy a library, the policies beside it, its header and its Fortran module into a folder of the user's.

    Raises
    ------
    MpiError
        If the folder cannot be written.
    """
    folder = folder.resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _copy(library.path, folder / LIBRARY)
        policies = _put_policies(folder, library.policies)
        if library.include is not None:
            _copy_interfaces(library.include, folder)
    except OSError as error:
        raise MpiError(f"{folder}: cannot be written: {error.strerror}") from error
    include = None if library.include is None else folder
    return replace(library, path=folder / LIBRARY, include=include, policies=policies)


def _fingerprint(toolchain: Toolchain, source: Path, *, debug: bool) -> str:
    """Hash all that the outcome depends on."""
    digest = hashlib.sha256()
    settings = [
        str(toolchain.mpicc), str(toolchain.mpicc.resolve()), toolchain.version, platform.machine(),
        str(debug), *(os.environ.get(name, "") for name in ("CFLAGS", "LDFLAGS", "OMPI_CC")),
    ]  # fmt: skip
    digest.update("\0".join(settings).encode())
    # The header of the policies' C ABI is of another folder in a checkout.
    for folder in (source, source.parent / "crates" / "policy" / "include"):
        for path in _sources(folder):
            digest.update(f"\0{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(folder: Path) -> list[Path]:
    """Files of a folder that the library may be made from, in a fixed order."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir():
            if path.name not in NOT_SOURCES and not path.name.startswith((".", "build")):
                found += _sources(path)
        elif path.is_file():
            found.append(path)
    return found


def _compile(toolchain: Toolchain, source: Path, folder: Path, *, debug: bool) -> None:
    """Configure and compile in a folder below the target's, then move the result up in one piece."""
    cmake = find_cmake()
    work = folder / "build"
    shutil.rmtree(work, ignore_errors=True)
    kind = "Debug" if debug else "RelWithDebInfo"
    configure = [
        cmake, "-S", str(source), "-B", str(work), f"-DCMAKE_C_COMPILER={toolchain.mpicc}",
        f"-DCMAKE_BUILD_TYPE={kind}", *_generator(),
    ]  # fmt: skip
    compile_ = [cmake, "--build", str(work), "--target", TARGET]
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    for command in (configure, compile_):
        _logged(command, log)
    made = next(iter(sorted(work.rglob(LIBRARY))), None)
    if made is None:
        raise MpiError(f"{source}: its target {TARGET} makes no {LIBRARY}; the log is {log}")
    if (source / "include" / HEADER).is_file():
        (folder / "include").mkdir(exist_ok=True)
        _copy_interfaces(source / "include", folder / "include")
    _copy(made, folder / LIBRARY)
    shutil.rmtree(work, ignore_errors=True)


def find_cmake() -> str:
    """Find CMake on PATH or beside the running Python.

    Raises
    ------
    MpiError
        If there is none.
    """
    found = shutil.which("cmake") or shutil.which("cmake", path=str(Path(sys.executable).parent))
    if found is None:
        raise MpiError("there is no cmake: `pip install cmake`, or apt install cmake")
    return found


def _generator() -> list[str]:
    """Take Ninja where there is no make and the user has no wish."""
    if "CMAKE_GENERATOR" in os.environ or shutil.which("make") or not shutil.which("ninja"):
        return []
    return ["-G", "Ninja"]


def _logged(command: list[str], log: Path) -> None:
    """Run a command, all it says into a log; raise with the last lines if it fails."""
    with log.open("ab") as file:
        file.write(f"$ {' '.join(command)}\n".encode())
        file.flush()
        try:
            status = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=TIME_LIMIT_S, check=False
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise MpiError(f"cmake took more than {TIME_LIMIT_S} s; the log is {log}") from error
    if status != 0:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = "\n".join(f"  {line}" for line in said[-LOG_LINES:])
        raise MpiError(f"the library does not compile; the log is {log}\n{last}")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time build in a folder."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _copy_interfaces(source: Path, target: Path) -> None:
    """Copy what programs are compiled with, as far as it is there."""
    for name in (HEADER, MODULE):
        if (source / name).is_file():
            _copy(source / name, target / name)


def _put_policies(folder: Path, found: Path | None) -> Path | None:
    """Copy the policies beside the library unless the same are there; give what is there then.

    They are no part of the hash: the library loads them while it runs, and another version of their C ABI is refused there.
    """
    kept = folder / POLICY_LIBRARY
    if found is not None and not (kept.is_file() and filecmp.cmp(found, kept)):
        _copy(found, kept)
    return kept if kept.is_file() else None


def _copy(source: Path, target: Path) -> None:
    """Copy a file so that a reader sees the old or the new one; a library in use is not written into."""
    part = target.with_name(f".{target.name}.{os.getpid()}")
    # With its times, by which it is known again.
    shutil.copy2(source, part)
    part.replace(target)
