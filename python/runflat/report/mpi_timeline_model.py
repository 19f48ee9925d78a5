"""What the page of an MPI run shows, as plain frozen values.

A caller fills these from the events of the processes; nothing here computes. Times are seconds from the first end of an
MPI_Init.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runflat.report.model import InputFile


@dataclass(frozen=True)
class TimelineEvent:
    """Something that a rank noted.

    Parameters
    ----------
    rank : int
        In the world.
    end_s : float
        When it was noted; of an interval its end.
    kind : str
        Its name.
    duration_ms : float or None
        How long it took; None if it is a moment.
    of : int or None
        The other rank that it is about.
    """

    rank: int
    end_s: float
    kind: str
    duration_ms: float | None = None
    of: int | None = None

    @property
    def begin_s(self) -> float:
        """When it began."""
        return self.end_s - (self.duration_ms or 0.0) / 1e3


@dataclass(frozen=True)
class TimelineFailure:
    """A failed rank: what happened to it, when, and the table's words for detection and recovery."""

    rank: int
    how: str
    at_s: float
    detected: str
    repaired: str
    recovery_ms: float
    """Time to show after it in the picture."""


@dataclass(frozen=True)
class TimelineReport:
    """The page of an MPI run.

    Parameters
    ----------
    title : str
        What was run.
    answers : sequence of str
        How it ended in plain sentences, most important first.
    facts : sequence of (str, str)
        Label and value.
    ranks : int
        Processes of the world.
    events : sequence of TimelineEvent
        By time.
    failures : sequence of TimelineFailure
        By time.
    before, after : str, optional
        The pages of the attempts before and after this one, in the same folder.
    notes, version, commit, command, created, plan_text, inputs, seed
        Where it comes from, as in `StudyReport`; there is no seed.
    """

    title: str
    answers: Sequence[str]
    facts: Sequence[tuple[str, str]]
    ranks: int
    events: Sequence[TimelineEvent]
    failures: Sequence[TimelineFailure]
    before: str | None = None
    after: str | None = None
    notes: Sequence[str] = ()
    version: str = ""
    commit: str = ""
    command: str = ""
    created: str = ""
    plan_text: str = ""
    inputs: Sequence[InputFile] = ()
    seed: None = None
