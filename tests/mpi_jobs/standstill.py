"""When a processor of this machine let processes wait that only had to wake: a job that ran then has not been judged.

A virtual machine's processors are taken away now and then, and kernels have starved processes beside others that yield without
end. Either holds a job up for tens of seconds, whatever it does. The first is seen by threads that sleep on each processor, the second in what
the kernel counts for each thread: how long it was ready to run and had none (`/proc/PID/task/TID/schedstat`, where there is one).
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

TICK_S = 0.05
"""How long a watcher of a processor sleeps."""

LOOK_S = 1.0
"""Between two looks at how long threads have waited."""

LONG_S = 10.0
"""No wait behind other processes takes so long, however many they are here (50 of them: 1 to 2 s)."""


class Standstill:
    """The longest time, in s, by which somebody woke too late, or had no processor."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    def note(self, late_s: float) -> None:
        """Keep it, if it is the longest so far."""
        self.longest_s = max(self.longest_s, late_s)

    @property
    def is_long(self) -> bool:
        """Say whether the machine is to blame for what took too long."""
        return self.longest_s >= LONG_S


def waits() -> dict[Path, float]:
    """Give how long each thread of this machine has been ready to run and had no processor, in s."""
    found = {}
    # Not pathlib's, which takes a process that ends meanwhile for an error.
    for name in glob.iglob("/proc/[0-9]*/task/*/schedstat"):  # noqa: PTH207
        file = Path(name)
        try:
            found[file] = 1e-9 * int(file.read_text(encoding="ascii").split()[1])
        except (OSError, IndexError):
            continue
    return found


@contextmanager
def watched() -> Iterator[Standstill]:
    """Watch each processor that this process may use, by a thread that sleeps on it, and who waits for one."""
    found, ended = Standstill(), Event()

    def watch(processor: int) -> None:
        os.sched_setaffinity(0, {processor})
        last = time.monotonic()
        while not ended.is_set():
            time.sleep(TICK_S)
            now = time.monotonic()
            found.note(now - last - TICK_S)
            last = now

    def look() -> None:
        before = waits()
        while not ended.wait(LOOK_S):
            now = waits()
            found.note(max((now[one] - before[one] for one in now.keys() & before), default=0))
            before = now

    threads = [Thread(target=watch, args=(one,)) for one in sorted(os.sched_getaffinity(0))]
    threads.append(Thread(target=look))
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        ended.set()
        for thread in threads:
            thread.join()
