"""Programs of `mpi/bench/`: one line of JSON each."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .parts import Parts


def mpirun_line(
    parts: Parts, ranks: int, *, preloaded: bool = True, tolerant: bool = True,
    environment: Mapping[str, str] | None = None,
) -> list[str]:  # fmt: skip
    """Return the words that start a program on so many processes; `preloaded`: under the library, `tolerant`: with fault tolerance."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    crowded = ["--oversubscribe", "--bind-to", "none"] if ranks > (os.cpu_count() or 1) else []
    preload = ["-x", f"LD_PRELOAD={parts.library}"] if preloaded else []
    preload += [word for name in (environment or {}).items() for word in ("-x", "=".join(name))]
    tolerance = ["--with-ft", "ulfm"] if tolerant else []
    return [str(parts.mpirun), *root, *crowded, *tolerance, "-n", str(ranks), *preload]


def measured(
    parts: Parts,
    program: Path,
    ranks: int,
    words: Sequence[str] = (),
    *,
    preloaded: bool = True,
    tolerant: bool = True,
    environment: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """Run a program that `mpirun_line` starts: the numbers that it prints."""
    line = mpirun_line(
        parts, ranks, preloaded=preloaded, tolerant=tolerant, environment=environment
    )
    done = subprocess.run(
        [*line, str(program), *words], capture_output=True, text=True, check=False, timeout=300
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise AssertionError(f"{program.name} {' '.join(words)}\n{done.stdout}\n{done.stderr}")
    found: dict[str, float] = json.loads(lines[-1])
    return found
