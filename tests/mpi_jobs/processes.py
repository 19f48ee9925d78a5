"""Processes as the kernel shows them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

FRAME = re.compile(r"#\d+\s+(?:0x[0-9a-f]+ in )?(?P<function>\S+)")
"""A frame as gdb prints it."""


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that only waits to be waited for does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def pids(path: Path, count: int, seconds: float = 20) -> list[int]:
    """Wait for a file to have so many numbers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            found = [int(word) for word in path.read_text().split()]
            if len(found) >= count:
                return found
        time.sleep(0.05)
    raise AssertionError(f"{path.name} has no {count} numbers")


def processes_with(variable: str) -> list[int]:
    """Find processes by a word of their environment; a test's own mark."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if variable.encode() in Path(entry.path, "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return [pid for pid in found if is_alive(pid)]


def _rank_of(pid: int) -> str:
    """Tell which rank of the world a process is; mpirun is none."""
    with contextlib.suppress(OSError):
        for word in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, rank = word.decode(errors="replace").partition("=")
            if name == "OMPI_COMM_WORLD_RANK":
                return f" (rank {rank})"
    return ""


def stacks_of(pids: list[int]) -> str:
    """Tell where processes are that hang, by gdb if it is installed: the functions of each thread, the innermost first."""
    if not shutil.which("gdb"):
        return ""
    found = []
    for pid in pids:
        line = ["gdb", "-batch", "-p", str(pid), "-ex", "thread apply all bt 24"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        threads: list[list[str]] = []
        for one in done.stdout.splitlines():
            if one.startswith("Thread"):
                threads.append([])
            elif threads and (frame := FRAME.match(one)):
                threads[-1].append(frame["function"])
        found.extend(f"process {pid}{_rank_of(pid)}: {' < '.join(frames)}" for frames in threads)
    return "\n".join(found)
