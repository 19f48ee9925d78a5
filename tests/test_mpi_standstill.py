"""A machine that stands still is told from a job that hangs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpi_jobs import matrix
from mpi_jobs.job import NO_LAUNCHER, Ended
from mpi_jobs.parts import Parts
from mpi_jobs.standstill import LONG_S, Standstill, waits, watched

CELL = matrix.Cell(ranks=4, spares=2, kill="1@0.1")

WATCHES = """
import sys
from mpi_jobs.standstill import watched
with watched() as standstill:
    print("watching", flush=True)
    sys.stdin.read()
print(standstill.longest_s)
"""


def ended(text: str = "", events: int = 1) -> Ended:
    return Ended(text, 0, True, 1.0, [{"event": "started", "t": 0.0, "rank": 0}] * events)


def test_who_is_stopped_learns_for_how_long() -> None:
    watcher = subprocess.Popen(
        [sys.executable, "-c", WATCHES],
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watcher.stdout
    assert watcher.stdout.readline() == "watching\n"
    watcher.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    watcher.send_signal(signal.SIGCONT)
    out, _ = watcher.communicate(timeout=60)
    assert float(out) > 1.3


BUSY = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
if sys.argv[2] == "idle":
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
print("busy", flush=True)
while True:
    pass
"""


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="schedstat: not counted by this kernel"
)
def test_who_has_no_processor_is_known_by_how_long() -> None:
    processor = str(min(os.sched_getaffinity(0)))
    idle, other = (
        subprocess.Popen([sys.executable, "-c", BUSY, processor, kind], stdout=subprocess.PIPE, text=True)
        for kind in ("idle", "other")
    )  # fmt: skip
    try:
        for child in (idle, other):
            assert child.stdout
            assert child.stdout.readline() == "busy\n"
        own = Path(f"/proc/{idle.pid}/task/{idle.pid}/schedstat")
        before = waits()[own]
        time.sleep(1.5)
        other.kill()
        # The kernel counts a wait when it has ended, which other work on this processor may put off.
        until = time.monotonic() + 30
        while waits()[own] - before <= 1 and time.monotonic() < until:
            time.sleep(0.05)
        assert waits()[own] - before > 1
    finally:
        for child in (idle, other):
            child.kill()
            child.communicate()


def test_a_watch_ends_with_what_it_watches() -> None:
    with watched() as standstill:
        time.sleep(0.2)
    kept = standstill.longest_s
    time.sleep(0.2)
    assert standstill.longest_s == kept
    assert not Standstill().is_long


@pytest.mark.parametrize(
    ("late_s", "wrong", "tries"),
    [
        (0.0, ["it hung"], 1),  # that counts
        (LONG_S, ["it hung"], matrix.MOST_TRIES),
        (LONG_S, [], 1),  # it went well in spite of that
    ],
)
def test_only_what_the_machine_did_not_let_run_is_run_again(
    monkeypatch: pytest.MonkeyPatch, late_s: float, wrong: list[str], tries: int
) -> None:
    run: list[matrix.Cell] = []

    def run_cell(_: Parts, cell: matrix.Cell) -> tuple[Ended, list[str]]:
        run.append(cell)
        return ended(), wrong

    monkeypatch.setattr(matrix, "run_cell", run_cell)
    monkeypatch.setattr(Standstill, "note", lambda self, _: setattr(self, "longest_s", late_s))
    judged = matrix.judge(None, CELL)  # type: ignore[arg-type]
    assert run == [CELL] * tries
    assert judged.wrong == wrong
    assert len(judged.held_up) == (tries if wrong and late_s else 0)


def test_a_launcher_that_starts_nothing_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(ended(NO_LAUNCHER, events=0), ["no result"]), (ended(), [])]
    monkeypatch.setattr(matrix, "run_cell", lambda _parts, _cell: answers.pop(0))
    judged = matrix.judge(None, CELL)  # type: ignore[arg-type]
    assert not judged.wrong
    assert judged.held_up == ["mpirun started nothing: no result"]


def test_a_crash_counts_however_still_the_machine_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    crashed = [(ended("Segmentation fault"), ["Segmentation fault"]), (ended(), [])]
    monkeypatch.setattr(matrix, "run_cell", lambda _parts, _cell: crashed.pop(0))
    monkeypatch.setattr(Standstill, "note", lambda self, _: setattr(self, "longest_s", LONG_S))
    assert matrix.judge(None, CELL).wrong == ["Segmentation fault"]  # type: ignore[arg-type]
