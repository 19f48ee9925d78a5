"""What every record of a measurement holds beside its figures: machine, version, load; and how repeats are summed up."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from runflat import _core


def head(command: str, repeats: int) -> dict[str, object]:
    return {
        "command": command,
        "version": _core.__version__,
        "commit": _core.COMMIT,
        "processor": processor(),
        "cores": os.cpu_count(),
        "load_average_before": os.getloadavg()[0],
        "repeats": repeats,
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Sum up repeats, in six digits."""
    found = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return {name: float(f"{value:.6g}") for name, value in found.items()}


def save(path: Path, record: dict[str, object]) -> None:
    """Write a record: a line a key, and of lists a line an item, so that changes show."""
    lines = []
    for key, value in record.items():
        if isinstance(value, list):
            items = ",\n".join(f"    {json.dumps(item)}" for item in value)
            lines.append(f"  {json.dumps(key)}: [\n{items}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")


def timed(action: Callable[[], object]) -> dict[str, float]:
    """Run something; seconds of wall clock and processor, growth of the peak of memory, and the peak."""
    # Writing 5 sets the peak back to what is resident now.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    resident = status_bytes("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = status_bytes("VmHWM")
    return {
        "wall_s": wall,
        "cpu_s": cpu,
        "peak_growth_bytes": peak - resident,
        "peak_bytes": peak,
    }


def status_bytes(key: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key):
            return float(line.split()[1]) * 1024
    raise LookupError(key)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


class Watch:
    """Wall clock around a block, in seconds."""

    seconds = 0.0

    def __enter__(self) -> Watch:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self._start
