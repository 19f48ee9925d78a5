"""The recovery library in this process: where it comes from, its functions, and how MPI handles cross over.

What programs call of it is named in `runflat.mpi`. Limits: mpi4py 4 or later, Open MPI 5.0.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from runflat._core import RunflatError

if TYPE_CHECKING:
    from mpi4py import MPI

    Made = TypeVar("Made", MPI.Intracomm, MPI.Intercomm)

NO_SPARE, DATA_LOST, NO_CHECKPOINT, UNPROTECTED, ARGUMENT = -101, -102, -103, -104, -105
"""Codes of the library beside MPI's own."""

MEANINGS = {
    NO_SPARE: "no spare is left for a failed rank, and the job is to stop then",
    DATA_LOST: "a rank's checkpoint went down with all processes that held it",
    NO_CHECKPOINT: "there is no complete checkpoint yet",
    UNPROTECTED: "this MPI cannot recover, or was started without fault tolerance; start with `runflat mpi run`",
    ARGUMENT: "wrong use: see what the library said on stderr, and the docstring",
}

NOT_LOADED = "the recovery library is not in this process: start with `runflat mpi run`, or call mpi.preload() before `from mpi4py import MPI`"


class MpiRecoveryError(RunflatError):
    """What the library cannot do; `code` is its own.

    Attributes
    ----------
    code : int
        One of `NO_SPARE`, `DATA_LOST`, `NO_CHECKPOINT`, `UNPROTECTED`, `ARGUMENT`, or an MPI error class.
    """

    def __init__(self, code: int, meaning: str | None = None) -> None:
        super().__init__(meaning or MEANINGS.get(code) or _words_of(code))
        self.code = code


def _words_of(error_class: int) -> str:
    from mpi4py import MPI

    known = MPI.Is_initialized() and not MPI.Is_finalized()
    words = f": {MPI.Get_error_string(error_class)}" if known else ""
    return f"MPI error class {error_class}{words}"


def preload(library: str | Path | None = None) -> None:
    """Put the library before MPI in a program that plain `mpirun --with-ft ulfm` starts; before `from mpi4py import MPI`.

        from runflat import mpi
        mpi.preload()
        from mpi4py import MPI

    Does nothing where the library is there already, as under `runflat mpi run`. Spares are those of `start(spares)`, or of RUNFLAT_SPARES
    (`mpirun -x RUNFLAT_SPARES=1`). `mpi4py.profile("runflat_mpi", path=folder)` loads it alike; after `runflat mpi build -o folder` the policies are there too.

    Parameters
    ----------
    library : str or Path, optional
        `librunflat_mpi.so`; by default the one that `runflat mpi build` has made for the mpicc that it finds here.

    Raises
    ------
    RunflatError
        If MPI is loaded already, so that its own functions would be called, or the library is not there.
    """
    from runflat.mpi_launch.error import MpiError
    from runflat.mpi_launch.installed import find_policy_library
    from runflat.mpi_launch.library import find_built

    if hasattr(ctypes.CDLL(None), "RF_Init"):
        return
    if "/libmpi.so" in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"):
        raise MpiError("MPI is loaded already: call preload() before `from mpi4py import MPI`")
    path = find_built() if library is None else Path(library)
    policies = find_policy_library()
    if policies is not None:
        os.environ.setdefault("RUNFLAT_POLICY_LIBRARY", str(policies))
    try:
        # Its MPI_* come first for all that is loaded after it, and for the libmpi that it brings.
        ctypes.CDLL(str(path.absolute()), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise MpiError(f"{path}: cannot be loaded: {error}") from error


@functools.cache
def library() -> ctypes.CDLL:
    """Find the library in this process, where the launcher has put it; once, but again as long as it is not there.

    Raises
    ------
    MpiRecoveryError
        With `UNPROTECTED` if it is not there.
    """
    found = ctypes.CDLL(None)
    if not hasattr(found, "RF_Init"):
        raise MpiRecoveryError(UNPROTECTED, NOT_LOADED)
    handles = ctypes.POINTER(ctypes.c_void_p)
    found.RF_Init.argtypes = [ctypes.c_int, handles]
    found.RF_Repair.argtypes = found.RF_Refill.argtypes = found.RF_End.argtypes = [handles]
    found.RF_Comm_irepair.argtypes = [ctypes.c_void_p, handles, handles]
    found.RF_Is_failure.argtypes = [ctypes.c_void_p, ctypes.c_int]
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
    found.MPIX_Comm_ispawn_multiple.argtypes = [
        ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p)),
        ctypes.POINTER(ctypes.c_int), handles, ctypes.c_int,
        ctypes.c_void_p, handles, ctypes.POINTER(ctypes.c_int), handles,
    ]  # fmt: skip
    return found


def strings(words: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    """Give words as C has them, with a null pointer at the end."""
    return (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None)


def handle_of(of: MPI.Comm | MPI.Info) -> ctypes.c_void_p:
    """Give the handle that C has.

    Raises
    ------
    TypeError
        If it is no object of MPI.
    """
    if not hasattr(of, "handle"):
        raise TypeError(f"a communicator or an info of mpi4py is needed, got {of!r}")
    return ctypes.c_void_p(of.handle)


def communicator(handle: ctypes.c_void_p) -> MPI.Comm:
    """Give the communicator of a handle."""
    from mpi4py import MPI

    return MPI.Intracomm.fromhandle(handle.value or 0)


_kept: dict[int, Any] = {}
"""What MPI reads or writes until a request has ended, by the address of the new communicator's handle."""


def post(
    function: Any, wish: tuple[Any, ...], comm: MPI.Comm, codes: tuple[Any, ...], kind: type[Made]
) -> tuple[MPI.Request, Callable[[], Made]]:
    """Call a function that posts a request for a new communicator."""
    from mpi4py import MPI

    handle, request = ctypes.c_void_p(), ctypes.c_void_p()
    code = function(*wish, handle_of(comm), ctypes.byref(handle), *codes, ctypes.byref(request))
    if code != MPI.SUCCESS:
        raise MpiRecoveryError(code)
    _kept[ctypes.addressof(handle)] = (handle, wish, codes)

    def take() -> Made:
        _kept.pop(ctypes.addressof(handle), None)
        return cast("Made", kind.fromhandle(handle.value or 0))

    return MPI.Request.fromhandle(request.value or 0), take
