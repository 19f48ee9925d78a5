"""Writes down what happened in a run: all events as one JSON object, in a file or on stdout, and as a page.

The object has `version`, `attempt` (1, or more of a job that has begun again), `earlier` (the reasons of each attempt before it), `ranks`
(processes of the world), `outcome`, `status`, `reasons`, `command`, `launch` (mpirun's line), `begun` (seconds since the epoch that the page counts from) and `events`, by time, each as
the process wrote it (`events`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runflat import __version__, _core
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import Event
from runflat.mpi_launch.verdict import Failure, Verdict, milliseconds, named, reduced, span, summary
from runflat.report.mpi_timeline_model import TimelineEvent, TimelineFailure, TimelineReport
from runflat.report.mpi_timeline_page import render_timeline
from runflat.report.tables import NONE
from runflat.study.results import write_whole


@dataclass(frozen=True)
class Timeline:
    """A run that has ended.

    Attributes
    ----------
    ranks : int
        Processes of the world.
    seconds : float
        How long it took.
    verdict : Verdict
        How it ended.
    events : sequence of Event
        Of all processes and the launcher, by time.
    command, launch : str
        What was typed, and mpirun's line.
    earlier : sequence of (list of str, str)
        Of attempts before it: why they ended, and the name of their file, in the same folder; empty: none was written.
    after : str, optional
        The file of the attempt after it, in the same folder.
    """

    ranks: int
    seconds: float
    verdict: Verdict
    events: Sequence[Event]
    command: str
    launch: str
    earlier: Sequence[tuple[list[str], str]] = ()
    after: str | None = None

    @property
    def attempt(self) -> int:
        """Its number, from 1 on."""
        return len(self.earlier) + 1

    def write(self, path: Path) -> list[Path]:
        """Write the JSON, and if the name ends in `.html` the page, the JSON beside it; give the files.

        Raises
        ------
        MpiError
            If they cannot be written.
        """
        is_page = path.suffix == ".html"
        data = path.with_suffix(".json") if is_page else path
        written = [(data, self.text() + "\n")]
        if is_page:
            written.insert(0, (path, render_timeline(self.report())))
        try:
            for file, text in written:
                write_whole(file.absolute(), text.encode("utf-8", "replace"))
        except OSError as error:
            raise MpiError(f"{path}: cannot be written: {error.strerror}") from error
        return [file for file, _ in written]

    def text(self) -> str:
        """Give the JSON, on one line; what is no text in a file name or a word is replaced."""
        return json.dumps(self.as_json(), ensure_ascii=False).encode("utf-8", "replace").decode()

    def as_json(self) -> dict[str, object]:
        """Give the values of the JSON file."""
        return {
            "version": __version__,
            "attempt": self.attempt,
            "earlier": [reasons for reasons, _ in self.earlier],
            "ranks": self.ranks,
            "outcome": self.verdict.outcome,
            "status": self.verdict.status,
            "reasons": list(self.verdict.reasons),
            "command": self.command,
            "launch": self.launch,
            "begun": self.verdict.begun,
            "events": [event.as_json() for event in self.events],
        }

    def report(self) -> TimelineReport:
        """Give what the page shows."""
        begun = self.verdict.begun
        return TimelineReport(
            title=self.command,
            answers=[
                BEGUN_AGAIN if self.after else ANSWERS[self.verdict.outcome],
                *self._before(),
                *self.verdict.reasons,
                *summary(self.verdict),
                *reduced(self.events),
            ],
            before=self.earlier[-1][1] if self.earlier else None,
            after=self.after,
            facts=[
                ("processes", f"{self.ranks:,}"),
                ("failed", _failed([one.rank for one in self.verdict.failures])),
                ("took", f"{self.seconds:.1f} s"),
                ("exit status", str(self.verdict.status)),
            ],
            ranks=self.ranks,
            events=[
                TimelineEvent(one.rank, one.t - begun, one.event, one.ms, one.of)
                for one in self.events
                if one.rank is not None and 0 <= one.rank < self.ranks
            ],
            failures=[_failure(one, begun) for one in self.verdict.failures],
            version=__version__,
            commit=_core.COMMIT,
            command=self.command,
            created=time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(begun)),
            plan_text="",
        )

    def _before(self) -> list[str]:
        """Say which attempt this is, and why there is another one."""
        if not self.earlier:
            return []
        reasons, _ = self.earlier[-1]
        return [f"This is attempt {self.attempt}. The one before ended early: {reasons[0]}."]


BEGUN_AGAIN = "This attempt did not come to its end; the job was begun again."

ANSWERS = {
    "done": "The job came to its end, and no rank failed.",
    "recovered": "Ranks failed, and the job went on to its end.",
    "failed": "The job did not come to its end.",
    "limit": "The job was ended: its time had run out.",
    "interrupted": "The job was ended from outside.",
}


def _failed(ranks: Sequence[int]) -> str:
    """How many ranks failed, and which: a rank alone would read as a count."""
    return f"{len(ranks)} ({named(sorted(ranks))})" if ranks else "none"


def _failure(one: Failure, begun: float) -> TimelineFailure:
    last = 0.0
    detected = NONE
    if one.detected_ms is not None:
        last = one.detected_ms[1]
        detected = span(one.detected_ms)
    repaired = NONE if one.repaired_ms is None else milliseconds(one.repaired_ms)
    shown = max(last, one.repaired_ms or 0.0)
    return TimelineFailure(one.rank, one.how, one.at - begun, detected, repaired, shown)
