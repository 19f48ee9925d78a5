"""The second tier: a job that mpirun has given up begins again on the hosts that are left.

The loss of a host's daemon ends an MPI job whatever its processes do. Their checkpoints lie in files of each host (RUNFLAT_STORE), a
rank's own and its partner's on two hosts, so the next job goes on from the last version of which all ranks have a copy.

Hosts are those of the hostfile; without one, as in an allocation of a scheduler, those that the processes noted their start on. Each
is asked whether it answers (`probe`), and those that do are written to a hostfile for the next attempt. Failures on request are for
the first attempt alone.

Limits: a host that answers is used again, whatever it did; without a hostfile a host has as many slots as processes started on it,
and hosts are known only when all processes have started; a grid of ranks and spares (`--shape`) has a fixed number of places, so it
cannot begin again with fewer.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.hosts import (
    Host,
    is_this_machine,
    may_be_elsewhere,
    naming_hosts,
    read_hosts,
    slots_of,
    started_hosts,
    write_hosts,
)
from runflat.mpi_launch.injection import NodeKill
from runflat.mpi_launch.interrupt import Interrupted
from runflat.mpi_launch.job import Job
from runflat.mpi_launch.launch import End, Launch
from runflat.mpi_launch.line import Folders
from runflat.mpi_launch.probe import answering, clear
from runflat.mpi_launch.resume import take_over
from runflat.mpi_launch.verdict import Verdict

SAME_AGAIN = (
    "the job has ended so twice while no process and no host had failed: it does not begin again"
)


def check_supervised(job: Job) -> None:
    """Refuse a job that cannot begin again.

    Raises
    ------
    MpiError
        If it makes no whole copies, or if the words for mpirun name hosts: those are handed on as they are, so a host that is lost
        would stay among them. A hostfile is written anew.
    """
    if job.parity is not None:
        raise MpiError(
            "--supervise begins again from whole copies, which --parity does not make: leave one out"
        )
    named = naming_hosts(job.mpirun_options)
    if named is not None:
        raise MpiError(
            f"--supervise leaves out hosts that are lost, which it cannot with --mpirun-option {named}: name them with --hostfile"
        )


def _look_for_left(launch: Launch, job: Job, hosts: Sequence[Host], store: Path) -> None:
    """Look on all hosts whether there is something to go on from, and say so."""
    others = take_over(store, hosts, job, launch.parts.mpirun, launch.events)
    where = f", on {', '.join(others)} too" if others else ""
    launch.say(f"goes on from what {job.ranks} ranks have left in {store}{where}")


def folders_of(kept: Path | None, *, resumes: bool = False) -> Folders:
    """Say where each host puts its shared memory, and its checkpoints if none are to be kept: in a new folder that is deleted at the end."""
    job = uuid.uuid4().hex[:12]
    memory = Path("/dev/shm") / f"runflat-{job}"
    return Folders(kept or memory, memory, job, resumes)


def run_supervised(
    launch: Launch, job: Job, kills: Sequence[NodeKill], folders: Folders, relaunches: int
) -> End:
    """Run the job, and again on the hosts that are left, as long as that may help.

    Parameters
    ----------
    launch : Launch
        What all attempts have in common.
    job : Job
        What is to run.
    kills : sequence of NodeKill
        What is killed from outside in the first attempt.
    folders : Folders
        Of each host; the one in memory is deleted at the end.
    relaunches : int
        The most often that it begins again.

    Returns
    -------
    End
        Of the last attempt.

    Raises
    ------
    MpiError
        If it cannot be started.
    Interrupted
        If a signal ends the program before anything was started, while hosts are asked what is left there.
    """
    hosts = [] if job.hostfile is None else read_hosts(job.hostfile)
    try:
        if folders.resumes:
            _look_for_left(launch, job, hosts, folders.checkpoints)
        end = launch.run(job, kills, folders)
        hosts = hosts or started_hosts(end.events)
        if folders.resumes and not any(event.event == "restarted" for event in end.events):
            launch.say(
                f"{folders.checkpoints}: nothing was found there to go on from: the job has begun anew"
            )
        is_same = False
        earlier: list[Verdict] = []
        for again in range(1, relaunches + 1):
            if end.verdict.outcome != "failed":
                break
            if is_same and not end.verdict.failures:
                launch.say(SAME_AGAIN)
                break
            before = hosts
            try:
                job, hosts, where = _next(launch, job, hosts)
            except MpiError as error:
                launch.say(str(error))
                break
            except Interrupted as interrupted:
                end = end.interrupted(interrupted.number)
                launch.say(end.verdict.reasons[0])
                break
            launch.say(
                f"begins again ({again} of {relaunches}) {where}: {job.ranks} ranks, {job.spare_count} {'spare' if job.spare_count == 1 else 'spares'}"
            )
            launch.go_on(end, again)
            # What it does by itself, with all hosts there, it does the next time too.
            is_same = not end.verdict.failures and (not hosts or hosts == before)
            earlier.append(end.verdict)
            last = launch.run(job, (), folders, earlier)
            end = replace(last, is_written=last.is_written and end.is_written)
            hosts = hosts or started_hosts(end.events)
        return end
    finally:
        clear(folders.segments, hosts, job, launch.parts.mpirun)


def _next(launch: Launch, job: Job, hosts: Sequence[Host]) -> tuple[Job, list[Host], str]:
    """Give the job as it begins again, its hosts as far as they are known before, and say where that is."""
    if job.hostfile is None:
        same = replace(job, kills=(), stops=())
        are_known = (slots_of(hosts) or 0) >= job.world_size
        if are_known and all(is_this_machine(host.name) for host in hosts):
            return same, [], "on this machine"
        if not are_known:
            unknown = may_be_elsewhere(job.mpirun_options, os.environ)
            why = "not all processes had started, so that their hosts are not known"
            return same, [], f"with the same line, since {why}" if unknown else "on this machine"
    left = answering(hosts, job, launch.parts.mpirun)
    gone = [host.name for host in hosts if host not in left]
    where = f"without {', '.join(gone)}" if gone else "on the same hosts, which all answer"
    return fit(job, left, launch.events / "hosts"), left, where


def fit(job: Job, hosts: Sequence[Host], hostfile: Path) -> Job:
    """Return the job on fewer hosts, which are written to a hostfile: the same ranks, as many spares as there is room for.

    Raises
    ------
    MpiError
        If the ranks have no room any more, or stand on a grid; or if the hostfile cannot be written.
    """
    if not hosts:
        raise MpiError("no host answers any more; the job cannot begin again")
    room = slots_of(hosts)
    write_hosts(hostfile, hosts)
    again = replace(job, hostfile=hostfile, kills=(), stops=())
    if room is None or room >= job.world_size:
        return again
    counted = "" if job.hostfile else ", as many as processes had started there; --hostfile gives more"  # fmt: skip
    if job.shape is not None:
        raise MpiError(
            f"the hosts that answer ({len(hosts)}) have {room} slots{counted}, and the grid {job.shape} has {job.world_size} places; "
            "without --shape spares would make up for lost hosts"
        )
    if room < job.ranks:
        raise MpiError(
            f"the hosts that answer ({len(hosts)}) have {room} slots for {job.ranks} ranks{counted}; the job cannot begin again"
        )
    spares = room - job.ranks
    return replace(again, spares=spares, refill=job.refill and spares > 0)
