"""`runflat mpi run`: start a program under the recovery library and judge how it ended."""

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

import click

from runflat.cli.options import complete_file
from runflat.mpi_launch import attempt as attempts
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.events import merged, read_events
from runflat.mpi_launch.injection import Injection, NodeKill, read_kill, read_stop
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


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: runflat mpi run -n 4 --kill 2@1.5 --timeline run.html ./app",
)
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="PROGRAM [ARGS]...",
    shell_complete=complete_file,
)
@click.option(
    "-n",
    "ranks",
    type=click.IntRange(1),
    required=True,
    metavar="RANKS",
    help="Ranks that work; spares come on top.",
)
@click.option(
    "--spares",
    type=click.IntRange(0),
    metavar="S",
    help="Processes that wait to take over; default: those of the shape, else none.",
)
@click.option(
    "--shape",
    help="Grid that ranks and spares stand on, spares included: 4x3. A node is a process.",
)
@click.option("--torus", is_flag=True, help="The grid closes around; default: a mesh.")
@click.option(
    "--alloc",
    "allocation",
    metavar="qD(r,s)|SHAPE",
    help="Where spares are, as in `runflat spares`: 2D(2,1) keeps two sides of the grid.",
)
@click.option(
    "--policy", help="Who takes over: 0D, 1D, ..., hybrid(all), optimal; as in `runflat spares`."
)
@click.option(
    "--on-exhausted",
    type=click.Choice(["shrink", "stop"]),
    help="Without a spare left go on with fewer ranks, or stop; default: the library's.",
)
@click.option(
    "--hostfile",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Hosts and their slots, as mpirun reads them.",
)
@click.option(
    "--kill",
    "kills",
    multiple=True,
    metavar="RANK@SECONDS",
    help="Kill a rank: 3@1.5, or in a phase of its recovery: 3@shrink+0.01. A host with its daemon: node:HOST@2; its ranks alone: ranks:HOST@2. May be repeated.",
)
@click.option(
    "--stop",
    "stops",
    multiple=True,
    metavar="RANK@SECONDS",
    help="Stop a rank (SIGSTOP), so that it hangs. May be repeated.",
)
@click.option(
    "--timeline",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write all events as JSON; FILE.html: a page, and the JSON beside it.",
)
@click.option(
    "--events",
    "folder",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Keep the ranks' event files there; all hosts must see it.",
)
@click.option(
    "--limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="End the job when it takes longer; exit status 124.",
)
@click.option(
    "--step-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="The longest a step of a recovery may take; default: the library's.",
)
@click.option(
    "--mpirun",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="The launcher; default: the one beside mpicc.",
)
@click.option(
    "--mpirun-option",
    "options",
    multiple=True,
    metavar="TEXT",
    help='Words for mpirun: "--map-by node". May be repeated.',
)
@click.option(
    "--library",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A compiled librunflat_mpi.so; default: what `mpi build` makes.",
)
@click.option(
    "--supervise",
    is_flag=True,
    help="Begin again on the hosts that are left when mpirun gives up, as after the loss of a host.",
)
@click.option(
    "--store",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="With --supervise: checkpoints of each host, kept at the end; default: in its /dev/shm, deleted at the end.",
)
@click.option(
    "--relaunches",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="N",
    help="With --supervise: begin again so often.",
)
@click.option("--dry-run", is_flag=True, help="Print mpirun's line instead.")
def command(
    words: tuple[str, ...],
    ranks: int,
    spares: int | None,
    shape: str | None,
    torus: bool,
    allocation: str | None,
    policy: str | None,
    on_exhausted: str | None,
    hostfile: str | None,
    kills: tuple[str, ...],
    stops: tuple[str, ...],
    timeline: str | None,
    folder: str | None,
    limit: float | None,
    step_limit: float | None,
    mpirun: str | None,
    options: tuple[str, ...],
    library: str | None,
    supervise: bool,
    store: str | None,
    relaunches: int,
    dry_run: bool,
) -> int:
    """Start PROGRAM under mpirun and the recovery library; all after PROGRAM is its own.

    Exit status: 0 if mpirun ended with 0 and every rank came to its end, but for ranks that were killed on purpose or whose
    failure the others reported; else 1, and one line says why; 124 if --limit ran out. Nothing of the job is left running.
    """
    killed = [read_kill(text) for text in kills]
    job = Job(
        words, ranks, spares, shape, allocation, torus, policy, on_exhausted,
        None if hostfile is None else Path(hostfile),
        [one for one in killed if isinstance(one, Injection)], [read_stop(text) for text in stops],
        step_limit, _split(options),
    )  # fmt: skip
    if timeline is not None and not Path(timeline).absolute().parent.is_dir():
        raise MpiError(f"{timeline}: there is no folder for it; make it first")
    if hostfile is None and shutil.which(words[0]) is None:
        raise MpiError(f"there is no program {words[0]!r} (a path to one here begins with ./)")
    if store is not None and not supervise:
        raise MpiError("--store is where --supervise goes on from; add --supervise")
    parts = _find_parts(mpirun, library, dry_run=dry_run)
    policies = _policies(job)
    if dry_run:
        place = None if folder is None else Path(folder).absolute()
        click.echo(compose(job, parts.mpirun, parts.library, events=place, policy_library=policies))
        return 0
    nodes = [one for one in killed if isinstance(one, NodeKill)]
    with _event_folder(folder, near=hostfile is not None) as place:
        launch = _Launch(
            parts, policies, place, limit, None if timeline is None else Path(timeline)
        )
        if not supervise:
            return launch.run(job, nodes).status
        kept = None if store is None else Path(store).absolute()
        return _supervised(launch, job, nodes, kept, relaunches)


@dataclass(frozen=True)
class _Launch:
    """What all attempts at a job have in common."""

    parts: _Parts
    policies: Path | None
    events: Path
    limit: float | None
    timeline: Path | None

    def run(
        self, job: Job, nodes: list[NodeKill], store: Path | None = None, again: int = 0
    ) -> Verdict:
        """Run the job once, say how it ended, write the timeline; `again`: how often it has been begun before."""
        # Each attempt has event files and a timeline of its own.
        events = self.events / f"again-{again}" if again else self.events
        events.mkdir(exist_ok=True)
        line = compose(
            job, self.parts.mpirun, self.parts.library, events=events, policy_library=self.policies,
            store=store, again=again > 0,
        )  # fmt: skip
        attempt = attempts.run(line.words, events, limit_s=self.limit, kills=nodes)
        noted = merged([*attempt.events, *read_events(events)])
        verdict = judge(job.world_size, attempt, noted)
        for sentence in (*summary(verdict), *verdict.reasons):
            click.echo(f"runflat: {sentence}", err=True)
        if verdict.outcome == "recovered":
            click.echo("runflat: the others came to their end", err=True)
        if self.timeline is not None:
            from runflat.mpi_launch.timeline import Timeline

            path = self.timeline
            if again:
                path = path.with_stem(f"{path.stem}-again-{again}")
            written = Timeline(
                job.world_size, attempt.seconds, verdict, noted, shlex.join(["runflat", *sys.argv[1:]]), str(line)
            ).write(path)  # fmt: skip
            click.echo(f"runflat: wrote {', '.join(map(str, written))}", err=True)
        assert verdict.status == DONE or verdict.reasons
        return verdict


def _supervised(
    launch: _Launch, job: Job, nodes: list[NodeKill], kept: Path | None, relaunches: int
) -> int:
    """Run the job, and again on the hosts that are left, as long as that may help."""
    store = kept or Path("/dev/shm") / f"runflat-{uuid.uuid4().hex[:12]}"
    mpirun = launch.parts.mpirun
    try:
        verdict = launch.run(job, nodes, store)
        for again in range(1, relaunches + 1):
            if verdict.outcome != "failed":
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
            verdict = launch.run(job, [], store, again)
        return verdict.status
    finally:
        if kept is None:
            clear(store, job, mpirun, launch.events)


@dataclass(frozen=True)
class _Parts:
    mpirun: Path
    library: Path


def _find_parts(mpirun: str | None, library: str | None, *, dry_run: bool) -> _Parts:
    """Find the launcher and the library; compile it if need be."""
    launcher = None if mpirun is None else find_launcher(mpirun)
    if library is not None:
        launcher = launcher or find_launcher()
        check_launcher(launcher, None)
        return _Parts(launcher, Path(library).resolve())
    toolchain = find_toolchain(mpirun=launcher)
    if launcher is None:
        launcher = toolchain.mpirun
    else:
        check_launcher(launcher, toolchain.version)
    if dry_run:
        path = place_of(toolchain, find_source().resolve()) / LIBRARY
        if not path.is_file():
            click.echo("runflat: the library is not compiled yet: runflat mpi build", err=True)
        return _Parts(launcher, path)
    return _Parts(
        launcher, build(toolchain, say=lambda text: click.echo(f"runflat: {text}", err=True)).path
    )


def _policies(job: Job) -> Path | None:
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


def _split(options: tuple[str, ...]) -> list[str]:
    try:
        return [word for text in options for word in shlex.split(text)]
    except ValueError as error:
        raise MpiError(f"--mpirun-option: {error}") from error


@contextmanager
def _event_folder(given: str | None, *, near: bool) -> Iterator[Path]:
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
