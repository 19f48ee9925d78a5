"""What `runflat mpi run` does with a job: finds what it needs, runs it, says how it ended, begins it again."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runflat.mpi_launch import attempt as attempts
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import merged, read_events
from runflat.mpi_launch.injection import NodeKill, missed
from runflat.mpi_launch.library import (
    LIBRARY,
    build,
    find_policy_library,
    find_source,
    place_of,
    policy_places,
)
from runflat.mpi_launch.line import Job, compose
from runflat.mpi_launch.supervise import answers, clear, fit, read_hosts
from runflat.mpi_launch.toolchain import check_launcher, find_launcher, find_toolchain
from runflat.mpi_launch.verdict import DONE, Verdict, judge, summary

if TYPE_CHECKING:
    from runflat.mpi_launch.timeline import Timeline


@dataclass(frozen=True)
class Parts:
    """The launcher and the library."""

    mpirun: Path
    library: Path


@dataclass(frozen=True)
class End:
    """How an attempt ended; all that happened if it is to be written."""

    verdict: Verdict
    timeline: Timeline | None


STDERR = 2
"""Where the program's output goes when stdout is for one JSON object."""


@dataclass(frozen=True)
class Launch:
    """What all attempts at a job have in common."""

    parts: Parts
    policies: Path | None
    events: Path
    limit: float | None
    timeline: Path | None
    as_json: bool = False

    def run(
        self, job: Job, nodes: list[NodeKill], store: Path | None = None, again: int = 0
    ) -> End:
        """Run the job once, say how it ended, write the timeline; `again`: how often it has been begun before."""
        # Each attempt has event files and a timeline of its own.
        events = self.events / f"again-{again}" if again else self.events
        events.mkdir(exist_ok=True)
        line = compose(
            job, self.parts.mpirun, self.parts.library, events=events, policy_library=self.policies,
            store=store, again=again > 0,
        )  # fmt: skip
        output = STDERR if self.as_json else None
        attempt = attempts.run(line.words, events, limit_s=self.limit, kills=nodes, output=output)
        noted = merged([*attempt.events, *read_events(events)])
        verdict = judge(job.world_size, attempt, noted)
        unmet = missed((*job.kills, *job.stops), noted)
        for sentence in (*summary(verdict), *unmet, *verdict.reasons):
            click.echo(f"runflat: {sentence}", err=True)
        if verdict.outcome == "recovered":
            click.echo("runflat: the others came to their end", err=True)
        assert verdict.status == DONE or verdict.reasons
        if self.timeline is None and not self.as_json:
            return End(verdict, None)
        from runflat.mpi_launch.timeline import Timeline

        timeline = Timeline(
            job.world_size, attempt.seconds, verdict, noted, shlex.join(["runflat", *sys.argv[1:]]), str(line)
        )  # fmt: skip
        if self.timeline is not None:
            path = self.timeline
            if again:
                path = path.with_stem(f"{path.stem}-again-{again}")
            written = timeline.write(path)
            click.echo(f"runflat: wrote {', '.join(map(str, written))}", err=True)
        return End(verdict, timeline)

    def status_of(self, end: End) -> int:
        """Print the last attempt's JSON object if that is asked for; give the exit status."""
        if self.as_json and end.timeline is not None:
            click.echo(end.timeline.text())
        return end.verdict.status


def store_of(kept: Path | None) -> Path:
    """Say where each host puts its checkpoints: in a new folder that is deleted at the end, if none is to be kept."""
    return kept or Path("/dev/shm") / f"runflat-{uuid.uuid4().hex[:12]}"


def run_supervised(
    launch: Launch, job: Job, nodes: list[NodeKill], kept: Path | None, relaunches: int
) -> int:
    """Run the job, and again on the hosts that are left, as long as that may help."""
    store = store_of(kept)
    mpirun = launch.parts.mpirun
    try:
        end = launch.run(job, nodes, store)
        for again in range(1, relaunches + 1):
            if end.verdict.outcome != "failed":
                break
            if job.hostfile is not None:
                hosts = read_hosts(job.hostfile)
                left = [host for host in hosts if answers(host, job, mpirun, launch.events)]
                gone = [host.name for host in hosts if host not in left]
                try:
                    job = fit(job, left, launch.events / "hosts")
                except MpiError as error:
                    click.echo(f"runflat: {error}", err=True)
                    break
                where = (
                    f"without {', '.join(gone)}" if gone else "on the same hosts, which all answer"
                )
            else:
                job, where = replace(job, kills=(), stops=()), "on this machine"
            click.echo(
                f"runflat: begins again ({again} of {relaunches}) {where}: {job.ranks} ranks, {job.spare_count} spares",
                err=True,
            )
            end = launch.run(job, [], store, again)
        return launch.status_of(end)
    finally:
        if kept is None:
            clear(store, job, mpirun, launch.events)


def find_parts(mpirun: str | None, library: str | None, *, dry_run: bool) -> Parts:
    """Find the launcher and the library; compile it if need be."""
    launcher = None if mpirun is None else find_launcher(mpirun)
    if library is not None:
        launcher = launcher or find_launcher()
        check_launcher(launcher, None)
        if b"RF_Init" not in Path(library).read_bytes():
            raise MpiError(f"{library} is not the recovery library; `runflat mpi build` makes one")
        return Parts(launcher, Path(library).resolve())
    toolchain = find_toolchain(mpirun=launcher)
    if launcher is None:
        launcher = toolchain.mpirun
    else:
        check_launcher(launcher, toolchain.version)
    if dry_run:
        path = place_of(toolchain, find_source().resolve()) / LIBRARY
        if not path.is_file():
            click.echo("runflat: the library is not compiled yet: runflat mpi build", err=True)
        return Parts(launcher, path)
    return Parts(
        launcher, build(toolchain, say=lambda text: click.echo(f"runflat: {text}", err=True)).path
    )


def find_policies(job: Job) -> Path | None:
    """Find the policies if the job has spares: they say which one takes over."""
    if job.spare_count == 0:
        return None
    found = find_policy_library()
    if found is None:
        places = " or ".join(map(str, policy_places()))
        raise MpiError(
            f"spares need the library of policies, which is not at {places}; in a checkout `make mpi` builds it"
        )
    return found


@contextmanager
def event_folder(given: str | None, *, near: bool) -> Iterator[Path]:
    """Give the folder of event files: the user's, which is kept, or one that goes when the run is over.

    With other hosts it is made in the current folder, which they are more likely to see than /tmp.
    """
    if given is not None:
        place = Path(given).absolute()
        try:
            place.mkdir(parents=True, exist_ok=True)
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
