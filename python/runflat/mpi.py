"""Recovery for mpi4py programs: ranks, hot spares and checkpoints of `runflat mpi run`.

    from mpi4py import MPI
    from runflat import mpi

    job = mpi.start()                     # spares sleep in here until they take over
    while job.goes_on:
        with job.recoverable():           # a failure in here is repaired, and the loop begins again
            step = job.restore()          # the last checkpoint; None: there is none
            if step is None:
                step = 0
                first_values(field)
                job.checkpoint(step)
            while step < steps:
                compute(job.comm, field)
                step += 1
                job.checkpoint(step)
            job.end()

Memory that is to be kept is named before the loop: `job.protect(0, field)`. The functions are those of `mpi/include/runflat.h`, called
in the library that the launcher has put before the program; nothing is computed here. Limits: mpi4py 4 or later, Open MPI 5.0.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from runflat._core import RunflatError

if TYPE_CHECKING:
    from mpi4py import MPI

    Made = TypeVar("Made", MPI.Intracomm, MPI.Intercomm)

NO_SPARE, DATA_LOST, NO_CHECKPOINT, UNPROTECTED, ARGUMENT = -101, -102, -103, -104, -105
"""Codes of the library beside MPI's own."""

SPARES_FROM_LAUNCH = -1

MEANINGS = {
    NO_SPARE: "no spare is left for a failed rank, and the job is to stop then",
    DATA_LOST: "a rank's checkpoint went down with all processes that held it",
    NO_CHECKPOINT: "there is no complete checkpoint yet",
    UNPROTECTED: "this MPI cannot recover, or was started without fault tolerance; start with `runflat mpi run`",
    ARGUMENT: "wrong use: see what the library said on stderr, and the docstring",
}


class MpiRecoveryError(RunflatError):
    """What the library cannot do; `code` is its own.

    Attributes
    ----------
    code : int
        One of `NO_SPARE`, `DATA_LOST`, `NO_CHECKPOINT`, `UNPROTECTED`, `ARGUMENT`, or an MPI error class.
    """

    def __init__(self, code: int) -> None:
        super().__init__(MEANINGS.get(code, f"MPI error class {code}"))
        self.code = code


class InterruptedCallError(Exception):
    """A failure interrupted a call of the library; `recoverable` repairs it."""


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

    return _post(_library().MPIX_Comm_ishrink, (), comm, (), MPI.Intracomm)


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

    strings = (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None)
    wish = (command.encode(), strings, count, _handle(info or MPI.INFO_NULL), root)
    return _post(
        _library().MPIX_Comm_ispawn, wish, comm, ((ctypes.c_int * count)(),), MPI.Intercomm
    )


def connect_later(
    port: str, info: MPI.Info | None = None, root: int = 0, *, comm: MPI.Comm
) -> tuple[MPI.Request, Callable[[], MPI.Intercomm]]:
    """Connect to the processes that accept at a port (`MPIX_Comm_iconnect`); arguments and results as those of `spawn_later`."""
    from mpi4py import MPI

    wish = (port.encode(), _handle(info or MPI.INFO_NULL), root)
    return _post(_library().MPIX_Comm_iconnect, wish, comm, (), MPI.Intercomm)


def accept_later(
    port: str, info: MPI.Info | None = None, root: int = 0, *, comm: MPI.Comm
) -> tuple[MPI.Request, Callable[[], MPI.Intercomm]]:
    """Accept the processes that connect to a port (`MPIX_Comm_iaccept`); arguments and results as those of `spawn_later`."""
    from mpi4py import MPI

    wish = (port.encode(), _handle(info or MPI.INFO_NULL), root)
    return _post(_library().MPIX_Comm_iaccept, wish, comm, (), MPI.Intercomm)


def start(spares: int = SPARES_FROM_LAUNCH) -> Job:
    """Split the processes of the world into ranks and spares; a spare comes back when it takes over, or at the end of the job.

    Parameters
    ----------
    spares : int
        Processes that wait; by default as `runflat mpi run --spares` says.

    Raises
    ------
    MpiRecoveryError
        If there are not more processes than spares, or the program was not started under the library.
    """
    return Job(spares)


class Job:
    """The ranks of a job, with the spares behind them.

    Attributes
    ----------
    comm : MPI.Comm
        Of the ranks; another one after each repair, `MPI.COMM_NULL` at the end.
    """

    comm: MPI.Comm

    def __init__(self, spares: int) -> None:
        from mpi4py import MPI

        self._library = _library()
        self._memory: dict[int, Any] = {}
        self._success = MPI.SUCCESS
        handle = ctypes.c_void_p()
        self._check(self._library.RF_Init(spares, ctypes.byref(handle)))
        self.comm = _communicator(handle)

    @property
    def goes_on(self) -> bool:
        """Whether this process is a rank of a job that has not ended."""
        from mpi4py import MPI

        return bool(self.comm != MPI.COMM_NULL)

    @property
    def is_smaller(self) -> bool:
        """Whether ranks are lost because no spare was left."""
        return bool(self._library.RF_Shape())

    def protect(self, name: int, memory: Any) -> None:
        """Name memory that belongs to the rank.

        Parameters
        ----------
        name : int
            The same at all ranks; naming it again replaces the memory.
        memory : writable buffer
            Contiguous: a bytearray, an array, a NumPy array. It is kept alive.
        """
        view = memoryview(memory)
        if view.readonly or not view.contiguous:
            raise TypeError(
                f"memory {name} is kept and brought back in place: it must be writable and contiguous"
            )
        room = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B")) if view.nbytes else None
        self._memory[name] = (memory, room)
        self._check(self._library.RF_Protect(name, room, view.nbytes))

    def checkpoint(self, version: int) -> None:
        """Keep the protected memory of all ranks as a version; collective.

        Parameters
        ----------
        version : int
            0 or more, and more than the last one.
        """
        self._check(self._library.RF_Checkpoint(_handle(self.comm), version))

    def checkpoint_later(self, version: int) -> MPI.Request:
        """Keep the protected memory of all ranks as a version, beside the computation; collective.

        The memory is copied in this call and may change afterwards. There is one at a time: the next checkpoint, `restore` and
        `end` wait for its end, a repair gives it up.

        Parameters
        ----------
        version : int
            0 or more, and more than the last one.

        Returns
        -------
        request : MPI.Request
            Its `wait` ends when the version counts, or raises what a failure raises.
        """
        from mpi4py import MPI

        request = ctypes.c_void_p()
        self._check(
            self._library.RF_Icheckpoint(_handle(self.comm), version, ctypes.byref(request))
        )
        return MPI.Request.fromhandle(request.value or 0)

    def restore(self) -> int | None:
        """Bring back the last complete version at all ranks; collective.

        Returns
        -------
        int or None
            The version that memory has now; None, at all ranks alike, if there is none yet, or if it went down with all
            processes that held a rank's part of it: begin with the first values then.
        """
        version = ctypes.c_int64()
        code = self._library.RF_Restore(_handle(self.comm), ctypes.byref(version))
        if code in (NO_CHECKPOINT, DATA_LOST):
            return None
        self._check(code)
        return version.value

    def end(self) -> None:
        """End the protected part: all ranks are done, spares are released; collective."""
        from mpi4py import MPI

        handle = _handle(self.comm)
        self._check(self._library.RF_End(ctypes.byref(handle)))
        self.comm = MPI.COMM_NULL

    def repair(self) -> None:
        """Make the communicator whole again after a failure: all live ranks come here.

        Raises
        ------
        MpiRecoveryError
            With `NO_SPARE` at all ranks alike, if the job is to stop when spares run out.
        """
        handle = _handle(self.comm)
        self._check(self._library.RF_Repair(ctypes.byref(handle)))
        self.comm = _communicator(handle)

    @property
    def spares(self) -> int:
        """How many spares are left."""
        return int(self._library.RF_Spares())

    def refill(self) -> None:
        """Start new processes as spares, one for each that has died; about half a second each, collective.

        The communicator is another one afterwards; what is protected stays as it is. A new process runs the program from its
        beginning, alone in `MPI.COMM_WORLD`, and sleeps in `begin`.

        Raises
        ------
        MpiRecoveryError
            With `ARGUMENT` in a job that began without spares, with `UNPROTECTED` unless it was started with `--refill`.
        """
        handle = _handle(self.comm)
        self._check(self._library.RF_Refill(ctypes.byref(handle)))
        self.comm = _communicator(handle)

    @contextmanager
    def recoverable(self) -> Iterator[None]:
        """Repair what fails in the block; it is left then, and the loop around it begins again.

        Other errors, also those of MPI that are no failures of processes, pass through.
        """
        from mpi4py import MPI

        try:
            yield
        except InterruptedCallError:
            self.repair()
        except MPI.Exception as error:
            if error.Get_error_class() not in _failures():
                raise
            self.repair()

    def _check(self, code: int) -> None:
        if code == self._success:
            return
        raise InterruptedCallError if code in _failures() else MpiRecoveryError(code)


def _failures() -> tuple[int, ...]:
    """Return the error classes that say that processes failed or that somebody gave up a communicator."""
    from mpi4py import MPI

    return (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED)


def _library() -> ctypes.CDLL:
    """Find the library in this process, where the launcher has put it."""
    found = ctypes.CDLL(None)
    if not hasattr(found, "RF_Init"):
        raise MpiRecoveryError(UNPROTECTED)
    handles = ctypes.POINTER(ctypes.c_void_p)
    found.RF_Init.argtypes = [ctypes.c_int, handles]
    found.RF_Repair.argtypes = found.RF_Refill.argtypes = found.RF_End.argtypes = [handles]
    found.RF_Protect.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    found.RF_Checkpoint.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    found.RF_Icheckpoint.argtypes = [ctypes.c_void_p, ctypes.c_int64, handles]
    found.RF_Restore.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)]
    found.MPIX_Comm_ishrink.argtypes = [ctypes.c_void_p, handles, handles]
    port: list[Any] = [
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_void_p,
        handles,
        handles,
    ]
    found.MPIX_Comm_iconnect.argtypes = found.MPIX_Comm_iaccept.argtypes = port
    found.MPIX_Comm_ispawn.argtypes = [
        ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
        ctypes.c_void_p, handles, ctypes.POINTER(ctypes.c_int), handles,
    ]  # fmt: skip
    return found


def _handle(of: MPI.Comm | MPI.Info) -> ctypes.c_void_p:
    return ctypes.c_void_p(of.handle)


def _communicator(handle: ctypes.c_void_p) -> MPI.Comm:
    from mpi4py import MPI

    return MPI.Intracomm.fromhandle(handle.value or 0)


_kept: dict[int, Any] = {}
"""What MPI reads or writes until a request has ended, by the address of the new communicator's handle."""


def _post(
    function: Any, wish: tuple[Any, ...], comm: MPI.Comm, codes: tuple[Any, ...], kind: type[Made]
) -> tuple[MPI.Request, Callable[[], Made]]:
    """Call a function that posts a request for a new communicator."""
    from mpi4py import MPI

    handle, request = ctypes.c_void_p(), ctypes.c_void_p()
    code = function(*wish, _handle(comm), ctypes.byref(handle), *codes, ctypes.byref(request))
    if code != MPI.SUCCESS:
        raise MpiRecoveryError(code)
    _kept[ctypes.addressof(handle)] = (handle, wish, codes)

    def take() -> Made:
        _kept.pop(ctypes.addressof(handle), None)
        return cast("Made", kind.fromhandle(handle.value or 0))

    return MPI.Request.fromhandle(request.value or 0), take
