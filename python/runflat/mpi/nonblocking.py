"""Communicators made while the processes that are there go on: shrink, spawn, connect and accept, a request each.

The paper's Figure 2; MPI itself has only calls that wait for them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from runflat.mpi.library import handle_of, library, post, strings

if TYPE_CHECKING:
    from mpi4py import MPI


def shrink_later(comm: MPI.Comm) -> tuple[MPI.Request, Callable[[], MPI.Intracomm]]:
    """Shrink a communicator while its processes go on (`MPIX_Comm_ishrink`).

    Parameters
    ----------
    comm : MPI.Comm
        An intracommunicator, revoked or not.

    Returns
    -------
    request : MPI.Request
        Ends when all live processes have the new one.
    made : callable
        Gives the new communicator, then.

    Raises
    ------
    MpiRecoveryError
        If this MPI cannot.
    """
    from mpi4py import MPI

    return post(library().MPIX_Comm_ishrink, (), comm, (), MPI.Intracomm)


def spawn_later(
    command: str,
    words: Sequence[str] = (),
    count: int = 1,
    info: MPI.Info | None = None,
    root: int = 0,
    *,
    comm: MPI.Comm,
) -> tuple[MPI.Request, Callable[[], MPI.Intercomm]]:
    """Start processes while those that are there go on (`MPIX_Comm_ispawn`).

    Parameters
    ----------
    command, words, count, info, root
        As of `MPI.Intracomm.Spawn`.
    comm : MPI.Comm
        An intracommunicator; all its processes call.

    Returns
    -------
    request : MPI.Request
        Ends when all have the new communicator, or with the same error at all if a process of `comm` dies first.
    made : callable
        Gives the communicator with the new processes, then.

    Raises
    ------
    MpiRecoveryError
        If this MPI cannot.
    """
    from mpi4py import MPI

    wish = (command.encode(), strings(words), count, handle_of(info or MPI.INFO_NULL), root)
    return post(library().MPIX_Comm_ispawn, wish, comm, ((ctypes.c_int * count)(),), MPI.Intercomm)


def spawn_multiple_later(
    commands: Sequence[str],
    words: Sequence[Sequence[str]] | None = None,
    counts: Sequence[int] | None = None,
    infos: Sequence[MPI.Info] | None = None,
    root: int = 0,
    *,
    comm: MPI.Comm,
) -> tuple[MPI.Request, Callable[[], MPI.Intercomm]]:
    """Start processes of several programs at once (`MPIX_Comm_ispawn_multiple`).

    Parameters
    ----------
    commands, words, counts, infos, root
        As of `MPI.Intracomm.Spawn_multiple`, one of each for each command; without `counts` one process of each.
    comm : MPI.Comm
        An intracommunicator; all its processes call.

    Returns
    -------
    request, made
        As those of `spawn_later`.

    Raises
    ------
    ValueError
        If there is no command, or not one of each for each.
    MpiRecoveryError
        If this MPI cannot.
    """
    from mpi4py import MPI

    kinds = len(commands)
    words = [()] * kinds if words is None else words
    counts = [1] * kinds if counts is None else counts
    infos = [MPI.INFO_NULL] * kinds if infos is None else infos
    if not kinds or not kinds == len(words) == len(counts) == len(infos):
        raise ValueError(
            f"each command has words, a count and an info: got {kinds} commands, {len(words)} lists of words, "
            f"{len(counts)} counts, {len(infos)} infos"
        )
    lists = [strings(one) for one in words]
    wish = (
        kinds, strings(commands),
        (ctypes.POINTER(ctypes.c_char_p) * kinds)(*(ctypes.cast(one, ctypes.POINTER(ctypes.c_char_p)) for one in lists)),
        (ctypes.c_int * kinds)(*counts), (ctypes.c_void_p * kinds)(*(one.handle for one in infos)), root,
    )  # fmt: skip
    codes = (ctypes.c_int * max(sum(counts), 1))()
    return post(library().MPIX_Comm_ispawn_multiple, wish, comm, (codes,), MPI.Intercomm)


def connect_later(
    port: str, info: MPI.Info | None = None, root: int = 0, *, comm: MPI.Comm
) -> tuple[MPI.Request, Callable[[], MPI.Intercomm]]:
    """Connect to the processes that accept at a port (`MPIX_Comm_iconnect`).

    Parameters
    ----------
    port : str
        As `MPI.Open_port` gives it.
    info, root, comm
        As in `MPI.Intracomm.Connect`: what counts is `root`'s; all processes of `comm` call.

    Returns
    -------
    request, made
        As those of `spawn_later`.

    Raises
    ------
    MpiRecoveryError
        If this MPI cannot.
    """
    from mpi4py import MPI

    wish = (port.encode(), handle_of(info or MPI.INFO_NULL), root)
    return post(library().MPIX_Comm_iconnect, wish, comm, (), MPI.Intercomm)


def accept_later(
    port: str, info: MPI.Info | None = None, root: int = 0, *, comm: MPI.Comm
) -> tuple[MPI.Request, Callable[[], MPI.Intercomm]]:
    """Accept the processes that connect to a port (`MPIX_Comm_iaccept`); arguments, results and errors as those of `connect_later`."""
    from mpi4py import MPI

    wish = (port.encode(), handle_of(info or MPI.INFO_NULL), root)
    return post(library().MPIX_Comm_iaccept, wish, comm, (), MPI.Intercomm)
