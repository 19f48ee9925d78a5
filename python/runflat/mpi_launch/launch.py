"""One attempt at a job, from the launch line to the verdict; and the folder that its processes note events in.

What is said about it goes to `say`, a sentence each; exit statuses are those of `verdict`, and 2 where a timeline that was asked for
could not be written.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from runflat.mpi_launch import attempt as attempts
from runflat.mpi_launch.attempt import Attempt
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import Event, merged, read_events
from runflat.mpi_launch.injection import NodeKill, missed
from runflat.mpi_launch.job import Job
from runflat.mpi_launch.line import Folders, Line, compose
from runflat.mpi_launch.parts import Parts
from runflat.mpi_launch.sites import write_sites
from runflat.mpi_launch.verdict import DONE, Verdict, gone_on, judge, reduced, summary, unused

if TYPE_CHECKING:
    from runflat.mpi_launch.timeline import Timeline

UNWRITTEN = 2
"""Exit status of a job that is done, but whose timeline is not written: as of other files that cannot be written."""


@dataclass(frozen=True)
class End:
    """How an attempt ended.

    Attributes
    ----------
    verdict : Verdict
        Its outcome.
    events : sequence of Event
        Of all processes and the launcher, by time.
    timeline : Timeline or None
        All that happened, if that was asked for.
    is_written : bool
        No file that was asked for is missing, of this attempt and those before.
    """

    verdict: Verdict
    events: Sequence[Event]
    timeline: Timeline | None
    is_written: bool = True

    @property
    def status(self) -> int:
        """Exit status of the job."""
        if self.verdict.status == DONE and not self.is_written:
            return UNWRITTEN
        return self.verdict.status

    def interrupted(self, number: int) -> End:
        """Give the same end, after which a signal kept the job from beginning again."""
        name = signal.Signals(number).name
        reasons = [f"interrupted by {name}; the job does not begin again", *self.verdict.reasons]
        verdict = replace(self.verdict, status=128 + number, outcome="interrupted", reasons=reasons)
        timeline = self.timeline and replace(self.timeline, verdict=verdict)
        return replace(self, verdict=verdict, timeline=timeline)


@dataclass(frozen=True)
class Launch:
    """What all attempts at a job have in common.

    Attributes
    ----------
    parts : Parts
        The launcher, the library and the policies.
    events : Path
        Folder that processes write their events to, seen by all hosts.
    limit_s : float or None
        The longest an attempt may take.
    timeline : Path or None
        File for all that happened; that of attempt 1 after the first is `FILE-again-1`.
    has_text : bool
        The end has a timeline although none is written.
    output : int or None
        File number for what the program prints; None: this process's own.
    command : str
        What was typed.
    sites : mapping of str to str, optional
        Where hosts stand in the fabric (`sites`).
    say : callable
        Is told how attempts end.
    """

    parts: Parts
    events: Path
    limit_s: float | None = None
    timeline: Path | None = None
    has_text: bool = False
    output: int | None = None
    command: str = ""
    sites: Mapping[str, str] | None = None
    say: Callable[[str], None] = lambda _: None

    def run(
        self,
        job: Job,
        kills: Sequence[NodeKill] = (),
        folders: Folders | None = None,
        earlier: Sequence[Verdict] = (),
    ) -> End:
        """Run the job once, say how it ended, write the timeline.

        Parameters
        ----------
        job : Job
            What is to run.
        kills : sequence of NodeKill
            What is killed from outside.
        folders : Folders, optional
            Where each host puts its checkpoints and its shared memory.
        earlier : sequence of Verdict
            How attempts before it ended, if there were any; it goes on from their checkpoints.

        Raises
        ------
        MpiError
            If it cannot be started.
        """
        # Each attempt has event files and a timeline of its own.
        again = len(earlier)
        events = self.events / f"again-{again}" if again else self.events
        events.mkdir(exist_ok=True)
        sites = None if self.sites is None else write_sites(events, self.sites)
        line = compose(
            job, self.parts.mpirun, self.parts.library, events=events, policy_library=self.parts.policies,
            folders=folders, sites=sites, again=again > 0,
        )  # fmt: skip
        attempt = attempts.run(
            line.words, events, limit_s=self.limit_s, kills=kills, output=self.output
        )
        noted = merged([*attempt.events, *read_events(events)])
        verdict = judge(job.world_size, attempt, noted)
        assert verdict.status == DONE or verdict.reasons
        said = [
            *gone_on(noted), *summary(verdict), *reduced(noted), *missed((*job.kills, *job.stops), noted),
            *unused(job.spare_count, noted),
        ]  # fmt: skip
        for sentence in (*said, *verdict.reasons):
            self.say(sentence)
        if verdict.outcome == "recovered":
            self.say("the others came to their end")
        timeline = self._timeline(job, attempt, verdict, noted, line, earlier)
        return End(verdict, noted, timeline, self._write(timeline, again))

    def _timeline(
        self,
        job: Job,
        attempt: Attempt,
        verdict: Verdict,
        noted: Sequence[Event],
        line: Line,
        earlier: Sequence[Verdict],
    ) -> Timeline | None:
        if self.timeline is None and not self.has_text:
            return None
        from runflat.mpi_launch.timeline import Timeline

        return Timeline(
            ranks=job.world_size, seconds=attempt.seconds, verdict=verdict, events=noted,
            command=self.command, launch=str(line),
            earlier=[(list(one.reasons), self._name(again)) for again, one in enumerate(earlier)],
        )  # fmt: skip

    def _name(self, again: int) -> str:
        return "" if self.timeline is None else _of_attempt(self.timeline, again).name

    def _write(self, timeline: Timeline | None, again: int) -> bool:
        """Write the timeline if that was asked for; a disk that is full does not end the job, so say whether it went well."""
        if timeline is None or self.timeline is None:
            return True
        try:
            written = timeline.write(_of_attempt(self.timeline, again))
        except MpiError as error:
            self.say(str(error))
            return False
        self.say(f"wrote {', '.join(map(str, written))}")
        return True

    def go_on(self, end: End, again: int) -> None:
        """Let the page of an attempt tell that the job begins again, and where that is written."""
        if end.timeline is not None and self.timeline is not None and end.is_written:
            # The page is there; without the link it is as good.
            with suppress(MpiError):
                replace(end.timeline, after=self._name(again)).write(
                    _of_attempt(self.timeline, again - 1)
                )


def _of_attempt(timeline: Path, again: int) -> Path:
    return timeline.with_stem(f"{timeline.stem}-again-{again}") if again else timeline


@contextmanager
def event_folder(given: Path | None, *, near: bool) -> Iterator[Path]:
    """Give the folder of event files: the user's, which is kept, or one that goes when the run is over.

    Parameters
    ----------
    given : Path, optional
        As the user named it.
    near : bool
        Make it in the current folder, which other hosts are more likely to see than /tmp.

    Raises
    ------
    MpiError
        If it cannot be made, or holds events of another run.
    """
    if given is not None:
        place = given.absolute()
        try:
            place.mkdir(exist_ok=True)
            if any(place.glob("rank-*.jsonl")):
                raise MpiError(
                    f"--events {given}: holds events of another run: name an empty folder"
                )
        except OSError as error:
            raise MpiError(f"{given}: cannot be made: {error.strerror}") from error
        yield place
        return
    try:
        made = tempfile.mkdtemp(
            prefix=".runflat-events-" if near else "runflat-events-", dir="." if near else None
        )
    except OSError as error:
        raise MpiError(
            f"no folder for events can be made: {error.strerror}; name one with --events"
        ) from error
    try:
        yield Path(made).absolute()
    finally:
        shutil.rmtree(made, ignore_errors=True)
