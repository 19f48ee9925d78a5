"""What soaks found, a line a part: a soak goes on where it was stopped, as long as the library's sources are the same."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
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
        line = {"library": self.library, "cores": os.cpu_count(), **part, **found}
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


def sources() -> str:
    """Tell one state of the library from another."""
    files = sorted(ROOT.glob("mpi/src/**/*.[ch]"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
