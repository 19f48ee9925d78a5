"""One MPI job: started, given a limit, and what is left of it ended."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .parts import Parts
from .processes import processes_with, stacks_of

CRASH_TEXT = re.compile(
    "segmentation fault|signal: aborted|assertion|caught signal|opal error(?!: timeout)",
    re.IGNORECASE,
)
"""What a crash prints. Open MPI also prints an error for a wait for a partner that was given up."""


NO_LAUNCHER = "The PMIx server's listener thread failed to start"
"""What mpirun says now and then (1 of 860 jobs), and ends."""


@dataclass(frozen=True)
class Ended:
    """What became of a job."""

    text: str
    status: int
    in_time: bool
    seconds: float
    events: list[dict[str, Any]]
    left_behind: list[int] = field(default_factory=list)

    def ranks(self, event: str) -> set[int]:
        """Ranks of the world that noted an event."""
        return {one["rank"] for one in self.events if one["event"] == event}

    @property
    def torn(self) -> set[int]:
        """Ranks that ended since a process had died while it wrote to their receive queue; each that dies can tear one."""
        ended_themselves = [one for one in self.events if one["event"] == "fenced"]
        return {one["rank"] for one in ended_themselves if one["of"] == one["rank"]}

    @property
    def fenced(self) -> set[int]:
        """Ranks that others ended since they were stopped."""
        fences = [one for one in self.events if one["event"] == "fenced"]
        return {one["of"] for one in fences if one["of"] != one["rank"]}

    def first(self, event: str) -> float:
        """When an event was noted first, in seconds since the epoch."""
        return min(one["t"] for one in self.events if one["event"] == event)

    @property
    def told(self) -> str:
        """What was noted, but for checkpoints, a line each."""
        return "\n".join(
            f"{one['t'] - self.events[0]['t']:.4f} {one}"
            for one in self.events
            if one["event"] != "checkpoint"
        )

    @property
    def was_started(self) -> bool:
        """Whether anything has been tried: false if the launcher gave up by itself before it had started any process."""
        return NO_LAUNCHER not in self.text or bool(self.events)

    @property
    def crash_words(self) -> list[str]:
        """Lines that tell of a crash."""
        return [line for line in self.text.splitlines() if CRASH_TEXT.search(line)]


def run_job(
    parts: Parts,
    world: int,
    program: list[str],
    *,
    spares: int = 0,
    kill: str = "",
    stop: str = "",
    limit_s: float = 60.0,
    environment: dict[str, str] | None = None,
    tolerant: bool = True,
    options: Sequence[str] = (),
    launches: int = 3,
    grace_s: float = 0,
) -> Ended:
    """Run a program on so many processes; `kill` and `stop` as RUNFLAT_KILL and RUNFLAT_STOP have them, `options` are mpirun's.

    It is launched again, up to so many times, where mpirun has started nothing. Processes that outlive it by more than the grace are
    left behind.
    """
    settings = {
        "RUNFLAT_SPARES": str(spares),
        "RUNFLAT_KILL": kill,
        "RUNFLAT_STOP": stop,
        "RUNFLAT_POLICY_LIBRARY": str(parts.policy),
        "RUNFLAT_STEP_LIMIT_S": "30",
    } | (environment or {})
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    ft = ["--with-ft", "ulfm"] if tolerant else []
    # A mpirun to which many processes die at once must not end for that: see `begin_launcher`.
    without = ["env", "--block-signal=PIPE"]
    placed = ["--oversubscribe", "--bind-to", "none"]
    line = [*without, str(parts.mpirun), *root, *placed, *ft, *options, "-n", str(world)]
    for _ in range(launches):
        ended = _launch(line, settings, program, limit_s, grace_s)
        if ended.was_started:
            break
    return ended


def _launch(
    line: list[str], settings: dict[str, str], program: list[str], limit_s: float, grace_s: float
) -> Ended:
    with tempfile.TemporaryDirectory(prefix="rf-events-") as events:
        named = settings | {"RUNFLAT_EVENTS": events}
        exported = [word for name in named.items() for word in ("-x", "=".join(name))]
        begin = time.monotonic()
        child = subprocess.Popen(
            [*line, *exported, *program],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            text, _ = child.communicate(timeout=limit_s)
            in_time = True
        except subprocess.TimeoutExpired:
            in_time = False
            stacks = stacks_of(processes_with(f"RUNFLAT_EVENTS={events}"))
            os.killpg(child.pid, signal.SIGKILL)
            text, _ = child.communicate()
            text += stacks.encode()
        until = time.monotonic() + grace_s
        while (left := processes_with(f"RUNFLAT_EVENTS={events}")) and time.monotonic() < until:
            time.sleep(0.1)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        noted = [
            json.loads(line)
            for file in Path(events).iterdir()
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
    noted.sort(key=lambda one: one["t"])
    seconds = time.monotonic() - begin
    return Ended(text.decode(errors="replace"), child.returncode, in_time, seconds, noted, left)
