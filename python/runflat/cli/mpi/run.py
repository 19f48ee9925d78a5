"""`runflat mpi run`: start a program under the recovery library and judge how it ended."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from signal import Signals
from typing import Any

import click

from runflat.cli.options import complete_file, complete_policy, print_json
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.hosts import may_be_elsewhere, read_hosts
from runflat.mpi_launch.injection import Injection, NodeKill, check_hosts, read_kill, read_stop
from runflat.mpi_launch.interrupt import Interrupted
from runflat.mpi_launch.job import Job
from runflat.mpi_launch.launch import Launch, event_folder
from runflat.mpi_launch.line import Folders, compose
from runflat.mpi_launch.parts import Parts, find_parts
from runflat.mpi_launch.sites import check_sites, read_sites, write_sites
from runflat.mpi_launch.supervise import check_supervised, folders_of, run_supervised

HOST_TIMEOUT_S = 30.0
"""Of a supervised job: well above what a busy network is silent for."""

RELAUNCHES = 3

STDERR = 2
"""Where the program's output goes when stdout is for one JSON object."""


class RankCount(click.IntRange):
    """A number of ranks; who writes mpirun's `-np 4` is told."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it."""
        if value == "p":
            self.fail("mpirun's -np is -n here: -n 4", param, ctx)
        return super().convert(value, param, ctx)


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Examples: runflat mpi run -n 4 --kill 2@1.5 --timeline run.html ./app; "
    "runflat mpi run -n 4 --json ./app | jq .outcome",
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
    type=RankCount(1),
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
    "--policy",
    help="Who takes over: 0D, 1D, ..., hybrid(all), optimal; as in `runflat spares`. Default: 0D, the nearest spare.",
    shell_complete=complete_policy,
)
@click.option(
    "--machine",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FABRIC",
    help="The fabric, in any format of `runflat machine`: the nearest spare is one of the same host, then of the same switch. Slurm's topology is known without it.",
    shell_complete=complete_file,
)
@click.option(
    "--on-exhausted",
    type=click.Choice(["shrink", "stop"]),
    help="Without a spare left go on with fewer ranks, or stop; default: shrink.",
)
@click.option(
    "--parity",
    type=click.IntRange(2, 32),
    metavar="RANKS",
    help="Checkpoints in groups of so many ranks (fewer are one group, at least 2), each with a block of parity, instead of whole second copies.",
)
@click.option(
    "--refill",
    is_flag=True,
    help="The program may start new spares for dead processes (RF_Refill), which then may die too.",
)
@click.option(
    "--watch",
    metavar="MS|events",
    help="A thread looks for failures every MS milliseconds and whenever the launcher tells of one; `events`: when it does, and once a second. For programs that are outside MPI for long; asks for MPI_THREAD_MULTIPLE.",
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
    help="Kill a rank: 3@1.5, or when it enters a phase: 3@shrink+0.01, 3@checkpoint:5 (its fifth); checkpoint, shrink, agree, repair, reload, restore, join, finalize. A host with its daemon: node:HOST@2, or node-of:3@shrink; its ranks alone: ranks:HOST@2. Several: 3@1.5,5@2, or repeat the option. With --supervise for the first attempt alone.",
)
@click.option(
    "--stop",
    "stops",
    multiple=True,
    metavar="RANK@SECONDS",
    help="Stop a rank (SIGSTOP), so that it hangs. Several as with --kill.",
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
    help="End the job when it takes longer (with --supervise: an attempt); exit status 124.",
)
@click.option(
    "--step-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="The longest a step of a recovery may take, above the longest time in which a rank calls nothing of MPI; default: 300.",
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
    help='Words for mpirun: "--map-by node"; not how many processes, which -n says. May be repeated.',
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
    "--host-timeout",
    type=click.FloatRange(2),
    metavar="SECONDS",
    help="A host is lost when its daemon has been silent for so long, as without power; default: 30 with --supervise, else mpirun's 8 minutes.",
)
@click.option(
    "--store",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="With --supervise: checkpoints of each host, kept at the end; default: in its /dev/shm, deleted at the end.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="With --store: go on from what an earlier job has left there, as after the time limit of a batch job.",
)
@click.option(
    "--relaunches",
    type=click.IntRange(1),
    metavar="N",
    help=f"With --supervise: begin again so often; default: {RELAUNCHES}.",
)
@click.option("--dry-run", is_flag=True, help="Print mpirun's line instead.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object at the end, that of --timeline; what the program prints goes to stderr.",
)
def command(
    words: tuple[str, ...],
    ranks: int,
    spares: int | None,
    shape: str | None,
    torus: bool,
    allocation: str | None,
    policy: str | None,
    machine: str | None,
    on_exhausted: str | None,
    parity: int | None,
    refill: bool,
    watch: str | None,
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
    host_timeout: float | None,
    store: str | None,
    resume: bool,
    relaunches: int | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Start PROGRAM under mpirun and the recovery library; all after PROGRAM is its own.

    Exit status: 0 if mpirun ended with 0 and every rank came to its end, but for ranks that were killed on purpose or whose
    failure the others reported; else 1, and one line says why; 2: wrong use, or a timeline that could not be written; 124 if --limit
    ran out; 128 + n: ended by signal n. Nothing of the job is left running.
    """
    killed = [read_kill(text) for text in _each(kills)]
    nodes = [one for one in killed if isinstance(one, NodeKill)]
    job = Job(
        program=words,
        ranks=ranks,
        spares=spares,
        shape=shape,
        allocation=allocation,
        torus=torus,
        policy=policy,
        on_exhausted=on_exhausted,
        hostfile=_path(hostfile),
        kills=[one for one in killed if isinstance(one, Injection)],
        stops=[read_stop(text) for text in _each(stops)],
        step_limit_s=step_limit,
        mpirun_options=_split(options),
        parity=parity,
        watch=watch,
        refill=refill,
        host_timeout_s=host_timeout or (HOST_TIMEOUT_S if supervise else None),
    )
    elsewhere = may_be_elsewhere(job.mpirun_options, os.environ)
    _check(job, timeline, store, relaunches, supervise=supervise, resume=resume)
    check_hosts(nodes, job.hostfile, elsewhere=elsewhere)
    sites = _sites(job, _path(machine))
    kept = None if store is None else Path(store).absolute()
    parts = find_parts(mpirun, library, spares=job.spare_count > 0, compiles=not dry_run, say=_say)
    folders = folders_of(kept, resumes=resume) if supervise else None
    if dry_run:
        _print_line(job, parts, _path(folder), folders, sites, as_json)
        return 0
    with event_folder(_path(folder), near=hostfile is not None or elsewhere) as place:
        launch = Launch(
            parts=parts,
            events=place,
            limit_s=limit,
            timeline=_path(timeline),
            has_text=as_json,
            output=STDERR if as_json else None,
            command=shlex.join(["runflat", *sys.argv[1:]]),
            sites=sites,
            say=_say,
        )
        if folders is not None:
            try:
                end = run_supervised(launch, job, nodes, folders, relaunches or RELAUNCHES)
            except Interrupted as interrupted:
                _say(f"interrupted by {Signals(interrupted.number).name}; nothing was started")
                return 128 + interrupted.number
        else:
            end = launch.run(job, nodes)
    if as_json and end.timeline is not None:
        click.echo(end.timeline.text())
    return end.status


SOURCES = (".c", ".cc", ".cpp", ".cxx", ".f", ".f90", ".f08")
"""How files end that are compiled."""


def _check_program(program: str) -> None:
    if program.endswith(".py") and Path(program).is_file() and not _names_its_interpreter(program):
        raise MpiError(f"{program!r} is a Python program: write python {program}")
    if shutil.which(program) is not None:
        return
    if "/" not in program:
        raise MpiError(f"there is no program {program!r} (a path to one here begins with ./)")
    if Path(program).is_dir():
        raise MpiError(f"{program!r} is a folder, not a program")
    if not Path(program).exists():
        raise MpiError(f"there is no program {program!r}")
    if program.endswith(SOURCES):
        raise MpiError(f"{program!r} is source code: compile it first (mpicc, `runflat mpi build`)")
    raise MpiError(f"{program!r} is not executable: chmod +x")


def _names_its_interpreter(program: str) -> bool:
    with Path(program).open("rb") as file:
        return os.access(program, os.X_OK) and file.read(2) == b"#!"


PICTURES = (".pdf", ".png", ".svg")


def _check(
    job: Job,
    timeline: str | None,
    store: str | None,
    relaunches: int | None,
    *,
    supervise: bool,
    resume: bool,
) -> None:
    """Refuse options that do not fit together, and a program or a folder that is not there."""
    if timeline is not None:
        if timeline.endswith(PICTURES):
            raise MpiError(f"{timeline}: a timeline is a page (.html), or JSON")
        folder = Path(timeline).absolute().parent
        if not folder.is_dir():
            raise MpiError(f"{timeline}: there is no folder for it; make it first")
        try:
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise MpiError(
                f"{timeline}: its folder cannot be written to: {error.strerror}"
            ) from error
    if job.hostfile is None:
        _check_program(job.program[0])
    if supervise:
        check_supervised(job)
    elif store is not None:
        raise MpiError("--store is where --supervise goes on from; add --supervise")
    elif relaunches is not None:
        raise MpiError("--relaunches is how often --supervise begins again; add --supervise")
    if resume and store is None:
        raise MpiError("--resume goes on from files of an earlier job: name their folder with --store")  # fmt: skip


def _sites(job: Job, fabric: Path | None) -> dict[str, str] | None:
    """Read where hosts stand, if that is to say which spare is the nearest."""
    if fabric is None:
        return None
    if job.shape is not None:
        raise MpiError(
            f"--machine {fabric} says which spare is the nearest, and so does --shape {job.shape}: leave one out"
        )
    if not job.spare_count:
        raise MpiError(f"--machine {fabric} says which spare is the nearest: add --spares")
    found = read_sites(fabric)
    if job.hostfile is not None:
        check_sites(found, read_hosts(job.hostfile), fabric)
    return found


def _print_line(
    job: Job,
    parts: Parts,
    folder: Path | None,
    folders: Folders | None,
    sites: dict[str, str] | None,
    as_json: bool,
) -> None:
    events = None if folder is None else folder.absolute()
    if sites is not None and events is None:
        raise MpiError(
            "--dry-run with --machine writes a file that the processes read: name a folder for it with --events"
        )
    if sites is not None and events is not None:
        events.mkdir(parents=True, exist_ok=True)
    line = compose(
        job, parts.mpirun, parts.library, events=events, policy_library=parts.policies, folders=folders,
        sites=None if sites is None or events is None else write_sites(events, sites),
    )  # fmt: skip
    if as_json:
        print_json("composed", {"ranks": job.world_size, "launch": str(line)})
    else:
        click.echo(line)


def _say(text: str) -> None:
    click.echo(f"runflat: {text}", err=True)


def _path(given: str | None) -> Path | None:
    return None if given is None else Path(given)


def _each(lists: tuple[str, ...]) -> list[str]:
    return [one for text in lists for one in text.split(",")]


def _split(options: tuple[str, ...]) -> list[str]:
    try:
        return [word for text in options for word in shlex.split(text)]
    except ValueError as error:
        raise MpiError(f"--mpirun-option: {error}") from error
