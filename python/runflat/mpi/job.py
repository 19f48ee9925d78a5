"""The ranks of a job, with the spares behind them: begun, checkpointed, repaired, ended.

`RF_Init` to `RF_End` of `mpi/include/runflat.h`; here is what Python adds: a failure is an exception, and an exception that nobody
catches is a failure of its process.
"""

from __future__ import annotations

import ctypes
import operator
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex

from runflat._core import RunflatError
from runflat.mpi.library import (
    DATA_LOST,
    NO_CHECKPOINT,
    UNPROTECTED,
    MpiRecoveryError,
    communicator,
    handle_of,
    library,
    post,
)

if TYPE_CHECKING:
    from mpi4py import MPI

SPARES_FROM_LAUNCH = -1

NO_REFILL = "the launch does not let new processes die alone: start with `runflat mpi run --refill`"


def _die() -> None:
    """End this process so that the others see it: mpi4py's MPI_Finalize at the end of the program would wait for them."""
    try:
        for stream in (sys.stdout, sys.stderr):
            # They may be closed, or on a full disk.
            with suppress(AttributeError, OSError, ValueError):
                stream.flush()
    finally:
        os.kill(os.getpid(), signal.SIGKILL)


def _die_of_exceptions() -> None:
    """Let an exception that nobody catches be a failure of this process."""
    tell = sys.excepthook

    def told(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        from mpi4py import MPI

        try:
            tell(kind, value, trace)
        finally:
            if MPI.Is_initialized() and not MPI.Is_finalized():
                _die()

    sys.excepthook = told


class InterruptedCallError(RunflatError):
    """A failure interrupted a call of the library; `recoverable` repairs it."""

    def __init__(self) -> None:
        super().__init__(
            "a process has failed, or another one repairs: make the call inside `with job.recoverable():`, or repair with `job.repair()`"
        )


def start(spares: int = SPARES_FROM_LAUNCH) -> Job:
    """Split the processes of the world into ranks and spares; a spare comes back when it takes over, or at the end of the job.

    From here on a process that ends with an exception, or in `recoverable` with `sys.exit` and a status, has failed: the others repair.

    Parameters
    ----------
    spares : int
        Processes that wait; by default as `runflat mpi run --spares` says.

    Raises
    ------
    MpiRecoveryError
        If there are not more processes than spares, or the program was not started under the library; with `NO_SPARE` if ranks died
        meanwhile, no spare is left and the job is to stop then.
    """
    job = Job(spares)
    _die_of_exceptions()
    return job


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

        self._library = library()
        self._memory: dict[int, tuple[Any, ctypes.Array[ctypes.c_char] | None]] = {}
        self._has_warned = False
        self._success = MPI.SUCCESS
        handle = ctypes.c_void_p()
        wished = _whole_number("how many spares", spares, 32)
        self._check(self._library.RF_Init(wished, ctypes.byref(handle)))
        self.comm = communicator(handle)

    @property
    def goes_on(self) -> bool:
        """Whether this process is a rank of a job that has not ended."""
        from mpi4py import MPI

        return bool(self.comm != MPI.COMM_NULL)

    @property
    def is_smaller(self) -> bool:
        """Whether ranks are lost because no spare was left."""
        return bool(self._library.RF_Shape())

    def protect(self, name: SupportsIndex, memory: Any) -> None:
        """Name memory that belongs to the rank.

        Parameters
        ----------
        name : int
            Any number; ranks may use different ones, and who takes over a rank uses that rank's. Naming it again replaces the memory.
        memory : writable buffer
            Contiguous, in C order: a bytearray, an array, a NumPy array. It is kept alive. An array in Fortran's
            order is the same memory as its transpose in C order: `job.protect(0, field.T)`. What is protected is the memory, not the
            variable: after `field = field + 1` that is another array, of which no checkpoint knows. Write into it (`field += 1`,
            `field[:] = ...`), or name it again when it is bound anew or swapped.

        Raises
        ------
        TypeError
            If the name is no whole number, or the memory is none of these.
        ValueError
            If the name has more than 32 bits.
        MpiRecoveryError
            If the library does not take it.
        """
        own = _whole_number("the name of memory", name, 32)
        _, room = held = _hold(own, memory)
        self._memory[own] = held
        self._check(self._library.RF_Protect(own, room, 0 if room is None else len(room)))

    def checkpoint(self, version: SupportsIndex) -> None:
        """Keep the protected memory of all ranks as a version; collective.

        Parameters
        ----------
        version : int
            0 or more, and more than the last one.

        Raises
        ------
        InterruptedCallError
            If a process has failed: the version before is still there.
        MpiRecoveryError
            With `ARGUMENT` if at any rank the version is too low or other than at the others; with MPI's class if there is no memory,
            or files cannot be written.
        TypeError, ValueError
            If the version is no whole number of 64 bits.
        """
        own = _whole_number("the version", version, 64)
        self._warn_of_forgotten()
        self._check(self._library.RF_Checkpoint(handle_of(self.comm), own))

    def checkpoint_later(self, version: SupportsIndex) -> MPI.Request:
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

        Raises
        ------
        InterruptedCallError, MpiRecoveryError, TypeError, ValueError
            As `checkpoint`; of a version or names that are wrong the `wait` tells (`MPI.ERR_ARG`).
        """
        from mpi4py import MPI

        request = ctypes.c_void_p()
        own = _whole_number("the version", version, 64)
        self._warn_of_forgotten()
        self._check(self._library.RF_Icheckpoint(handle_of(self.comm), own, ctypes.byref(request)))
        return MPI.Request.fromhandle(request.value or 0)

    def restore(self) -> int | None:
        """Bring back the last complete version at all ranks; collective.

        Returns
        -------
        int or None
            The version that memory has now; None, at all ranks alike, if there is none yet, or if it went down with all
            processes that held a rank's part of it: begin with the first values then. (Version 0 is one: compare with None.)

        Raises
        ------
        InterruptedCallError
            If a process has failed.
        MpiRecoveryError
            With `ARGUMENT` if other memory is protected at any rank than was at the checkpoint.
        """
        version = ctypes.c_int64()
        code = self._library.RF_Restore(handle_of(self.comm), ctypes.byref(version))
        if code in (NO_CHECKPOINT, DATA_LOST):
            return None
        self._check(code)
        return version.value

    def end(self) -> None:
        """End the protected part: all ranks are done, spares are released; collective.

        Raises
        ------
        InterruptedCallError
            If a process has failed: the spares are still there.
        MpiRecoveryError
            With `ARGUMENT` in a job that has ended.
        """
        from mpi4py import MPI

        handle = handle_of(self.comm)
        self._check(self._library.RF_End(ctypes.byref(handle)))
        self.comm = MPI.COMM_NULL

    def repair(self) -> None:
        """Make the communicator whole again after a failure: all live ranks come here.

        Raises
        ------
        MpiRecoveryError
            With `NO_SPARE` at all ranks alike, if the job is to stop when spares run out.
        """
        handle = handle_of(self.comm)
        code = self._library.RF_Repair(ctypes.byref(handle))
        self.comm = communicator(handle)
        self._check(code)

    def repair_later(self) -> tuple[MPI.Request, Callable[[], None]]:
        """Repair while this process goes on with other work (`RF_Comm_irepair`); the other ranks repair so, or wait.

        Returns
        -------
        request : MPI.Request
            Ends when the ranks have a communicator again; the work goes on in calls of MPI.
        take : callable
            Makes it `comm`, then; raises `MpiRecoveryError` with `NO_SPARE` if the job is to stop. A process that has no rank
            any more, since the policy has moved it, is a spare and sleeps in there, as in `start`.

        Raises
        ------
        MpiRecoveryError
            With `ARGUMENT` in a job that has ended.
        """
        from mpi4py import MPI

        request, made = post(self._library.RF_Comm_irepair, (), self.comm, (), MPI.Intracomm)

        def take() -> None:
            self.comm = made()
            if self.comm == MPI.COMM_NULL:
                self.repair()

        return request, take

    @property
    def spares(self) -> int:
        """How many spares are left."""
        return int(self._library.RF_Spares())

    def refill(self) -> None:
        """Start new processes as spares, one for each that has died; about half a second each, collective.

        The communicator is another one afterwards; what is protected stays as it is. A new process runs the program from its
        beginning, alone in `MPI.COMM_WORLD`, and sleeps in `start`.

        Raises
        ------
        InterruptedCallError
            If a process has failed, or others repair; new ones may have been started all the same.
        MpiRecoveryError
            With `ARGUMENT` in a job that began without spares, with `UNPROTECTED` unless it was started with `--refill`.
        """
        handle = handle_of(self.comm)
        code = self._library.RF_Refill(ctypes.byref(handle))
        if code == UNPROTECTED:
            raise MpiRecoveryError(code, NO_REFILL)
        # A failure in the midst is repaired in there: the communicator is another one then too.
        self.comm = communicator(handle)
        self._check(code)

    @contextmanager
    def recoverable(self) -> Iterator[None]:
        """Repair what fails in the block; it is left then, and the loop around it begins again.

        Other errors, also those of MPI that are no failures of processes, pass through. Calls that complete several requests only say
        that one of them went wrong (`MPI.ERR_IN_STATUS`), and some calls that something did (`MPI.ERR_OTHER`, `MPI.ERR_UNKNOWN`,
        `MPI.ERR_INTERN`): that is a failure where a rank has failed or `comm` is given up.
        """
        from mpi4py import MPI

        try:
            yield
            return
        except InterruptedCallError:
            pass
        except SystemExit as ended:
            if ended.code not in (None, 0):
                try:
                    if not isinstance(ended.code, int):
                        print(ended.code, file=sys.stderr)
                finally:
                    _die()
            raise
        except MPI.Exception as error:
            if not self._is_failure(error):
                raise
        # Not in the handlers: what a repair raises does not come of the failure that it repairs.
        self.repair()

    def _warn_of_forgotten(self) -> None:
        """Say once of memory to which nobody but this job refers any more: the program computes with something else."""
        if self._has_warned or self.comm.Get_rank() != 0:
            return
        alone = _references({0: _hold(0, bytearray(1))}, 0)
        for name in self._memory:
            if _is_whole(*self._memory[name]) and _references(self._memory, name) <= alone:
                self._has_warned = True
                warnings.warn(
                    f"nothing but its protection refers to memory {name} any more: was its variable bound anew (`field = field + 1`)? "
                    "Write into it (`field[:] = ...`), or protect what it is now",
                    RuntimeWarning, stacklevel=3,
                )  # fmt: skip

    def _is_failure(self, error: MPI.Exception) -> bool:
        return bool(self._library.RF_Is_failure(handle_of(self.comm), error.Get_error_code()))

    def _check(self, code: int) -> None:
        if code == self._success:
            return
        raise InterruptedCallError if code in _failures() else MpiRecoveryError(code)


def _whole_number(what: str, given: Any, bits: int) -> int:
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{what} is a whole number; got {given!r}") from None
    if isinstance(given, bool):
        raise TypeError(f"{what} is a whole number; got {given!r}")
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise ValueError(f"{what} is a whole number of {bits} bits; got {number}")
    return number


def _hold(name: int, memory: Any) -> tuple[Any, ctypes.Array[ctypes.c_char] | None]:
    """Give memory and its bytes, at a place that stays."""
    view = _bytes_in_place(name, memory)
    return memory, (ctypes.c_char * view.nbytes).from_buffer(view) if view.nbytes else None


def _references(memory: Mapping[int, tuple[Any, object]], name: int) -> int:
    return sys.getrefcount(memory[name][0])


def _is_whole(memory: Any, room: object) -> bool:
    """Say whether memory is there, and its own: of a part of an array the program may hold the whole."""
    is_own = isinstance(memory, bytearray) or getattr(memory, "base", memory) is None
    return room is not None and is_own


def _bytes_in_place(name: int, memory: Any) -> memoryview:
    """Give memory as bytes that a copy can be made of, and that one can be put back into."""
    try:
        view = memoryview(memory)
    except (TypeError, ValueError) as error:
        what = f"{type(memory).__name__} ({error})"
        if getattr(getattr(memory, "dtype", None), "kind", "") in ("m", "M"):
            what += "; times are numbers as field.view('i8')"
        raise TypeError(
            f"memory {name} is a writable buffer: a bytearray, an array, a NumPy array of numbers; got {what}"
        ) from None
    # As in `T{i:number:O:any:}`: between colons are the fields' names.
    if "O" in re.sub(":[^:]*:", "", view.format):
        raise TypeError(
            f"memory {name} is an array of Python objects, which are worth nothing to another process: protect numbers or bytes"
        )
    if view.readonly:
        raise TypeError(f"memory {name} can only be read: nothing could be brought back into it")
    if not view.contiguous:
        raise TypeError(
            f"memory {name} is not contiguous: protect the whole array, or a copy (array.copy())"
        )
    if not view.c_contiguous:
        raise TypeError(
            f"memory {name} is an array in Fortran's order: protect its transpose (array.T), which is the same memory"
        )
    return view.cast("B") if view.nbytes else view


def _failures() -> tuple[int, ...]:
    """Return the error classes that say that processes failed or that somebody gave up a communicator."""
    from mpi4py import MPI

    return (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED)
