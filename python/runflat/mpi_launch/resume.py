"""What an earlier job has left in the folder of `--store`, and whether a job can go on from it.

Each host has a folder of its name in there, on a disk of its own or on one that all see, and a file `rank-N.VERSION` in it for each copy
that it has written. The library reads the folders of the hosts that it runs on. So a job that begins on others, as the next one of a
batch queue does, is given the files that it needs: those that it sees are moved to folders of its hosts.

Limits: a folder is for one job and those that go on from it. Files are told apart by their names, so what is damaged is found by the
library alone, which leaves it out; and where all files of a job's last ranks are lost, the others look like those of a smaller one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.hosts import Host
from runflat.mpi_launch.job import Job
from runflat.mpi_launch.probe import listed
from runflat.mpi_launch.verdict import named

ANEW = "leave --resume out to begin anew"


@dataclass(frozen=True, order=True)
class Copy:
    """A file.

    Attributes
    ----------
    version : int
        What the program called the checkpoint.
    rank : int
        Whose data it has.
    host : str
        Whose folder it is in.
    """

    version: int
    rank: int
    host: str

    @property
    def path(self) -> Path:
        """Where it is, in the folder of the store."""
        return Path(self.host, f"rank-{self.rank}.{self.version:020}")


COPY = re.compile(r"(?P<host>[^/]+)/rank-(?P<rank>\d+)\.(?P<version>\d{20})")


def read_copies(names: Iterable[str]) -> set[Copy]:
    """Read the names of files, as HOST/FILE; others are left out."""
    found = (COPY.fullmatch(name) for name in names)
    return {Copy(int(one["version"]), int(one["rank"]), one["host"]) for one in found if one}


def whole_versions(copies: Iterable[Copy], ranks: int) -> set[int]:
    """Give the versions of which all ranks have left a copy."""
    of: dict[int, set[int]] = {}
    for copy in copies:
        of.setdefault(copy.version, set()).add(copy.rank)
    return {version for version, there in of.items() if there >= set(range(ranks))}


def check_left(copies: Collection[Copy], ranks: int, store: Path) -> None:
    """Refuse to go on from files that do not make up a whole version of as many ranks.

    Raises
    ------
    MpiError
        If there are none, if some are of ranks that the job has not, or if there is no version of which all have one.
    """
    if not copies:
        raise MpiError(
            f"--resume: no job has left checkpoints in {store}: name another folder, or {ANEW}"
        )
    last = max(one.rank for one in copies)
    if last >= ranks:
        raise MpiError(
            f"--resume: in {store} there are checkpoints of ranks up to {last}, and this job has {ranks} ranks: give -n {last + 1}, or "
            f"as many as that job had, or {ANEW}"
        )
    if not whole_versions(copies, ranks):
        raise MpiError(
            f"--resume: there is no version in {store} of which all {ranks} ranks have left a checkpoint "
            f"({named(sorted({one.rank for one in copies}))} have some): give as many ranks as that job had, or {ANEW}"
        )


def moves(views: Mapping[str, Collection[Copy]], ranks: int, store: Path) -> dict[Copy, Copy]:
    """Say which files are to be moved to which, so that the hosts of a job have a whole version in their own folders.

    Parameters
    ----------
    views : mapping of str to collection of Copy
        What each host of the job sees.
    ranks : int
        Of the job.
    store : Path
        Where they lie.

    Raises
    ------
    MpiError
        As `check_left`.
    """
    own = {one for host, seen in views.items() for one in seen if one.host == host}
    every = {one for seen in views.values() for one in seen}
    check_left(every, ranks, store)
    if whole_versions(own, ranks):
        return {}
    # Of several versions the newest that hosts of the job have had a part in.
    begun = {one.version for one in own}
    version = max(whole_versions(every, ranks), key=lambda one: (one in begun, one))
    there = {one.rank for one in own if one.version == version}
    given = dict.fromkeys(views, 0)
    moved: dict[Copy, Copy] = {}
    for copy in sorted(one for one in every - own if one.version == version):
        if copy.rank not in there:
            there.add(copy.rank)
            host = min(
                (one for one in views if copy in views[one]), key=lambda one: (given[one], one)
            )
            given[host] += 1
            moved[copy] = Copy(version, copy.rank, host)
    return moved


def take_over(store: Path, hosts: Sequence[Host], job: Job, mpirun: Path, into: Path) -> list[str]:
    """Look on all hosts for what an earlier job has left, put it where the library looks, and say from whose folders it is.

    Parameters
    ----------
    store : Path
        Folder of each host.
    hosts : sequence of Host
        Of the job; empty: all that mpirun would start it on.
    job, mpirun
        What is to run, and the launcher.
    into : Path
        A folder that all hosts see, for their answers.

    Raises
    ------
    MpiError
        If there is nothing to go on from (`check_left`), or files cannot be moved.
    Interrupted
        If a signal ends the program meanwhile.
    """
    answers = listed(store, hosts, job, mpirun, into)
    moved = moves({host: read_copies(names) for host, names in answers.items()}, job.ranks, store)
    try:
        for copy, new in moved.items():
            (store / new.host).mkdir(exist_ok=True)
            (store / copy.path).replace(store / new.path)
    except OSError as error:
        raise MpiError(
            f"--resume: {store / copy.path} cannot be moved to the folder of {new.host}, a host of this job: {error.strerror}"
        ) from error
    return sorted({copy.host for copy in moved})
