"""Workloads as the core takes them: parameters as text, recorded ones with the content of their file, own ones as phases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runflat import plugins
from runflat._core import WorkloadError, workloads
from runflat.inputs import as_text, read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

RECORDED = frozenset(
    part["name"] for part in workloads() if {"file", "text"} <= {p["name"] for p in part["params"]}
)
"""Workloads that are read from a file."""


def texts(traffic: str, params: Mapping[str, object], folder: Path | None = None) -> dict[str, str]:
    """Write the parameters of a built-in workload as text.

    Parameters
    ----------
    traffic : str
        The workload.
    params : mapping
        Its parameters; with a `file`, its content is added as `text`.
    folder : Path, optional
        Where relative paths begin; default: the current directory.

    Returns
    -------
    dict
        Names and texts.

    Raises
    ------
    WorkloadError, FormatError
        If the workload is read from a file and none is given, or it cannot be read.
    """
    written = {name: as_text(value) for name, value in params.items()}
    name = traffic.partition("(")[0].strip().lower()
    if name in RECORDED and "text" not in written:
        if "file" not in written and "(" in traffic:
            raise WorkloadError(
                f"`{name}` takes no file in brackets, got `{traffic}`: give it as a parameter, "
                "on the command line `--param file=...`"
            )
        if "file" not in written:
            raise WorkloadError(f"`{name}` is read from a file: give the parameter `file`")
        data, _ = read_file(Path(folder or "", written["file"]))
        written["text"] = data.decode("utf-8", errors="replace")
    return written


def own_phases(
    traffic: str, params: Mapping[str, object], ranks: int, seed: int
) -> tuple[list[NDArray[np.uint64]], bool] | None:
    """Work out the phases of a workload that was registered from Python.

    Parameters
    ----------
    traffic : str
        The workload.
    params : mapping
        Its parameters.
    ranks : int
        Number of ranks.
    seed : int
        For what is drawn at random.

    Returns
    -------
    (list of (messages x 3,) arrays of uint64, bool) or None
        By phase, source, target and bytes of each message, one after the other; whether the workload is steady. None if
        no workload of that name was registered.

    Raises
    ------
    WorkloadError
        If a phase has another shape.
    """
    function = plugins.find("workload", traffic)
    if function is None:
        return None
    written = {name: as_text(value) for name, value in params.items()}
    phases = []
    for phase in plugins.call("workload", traffic, ranks, seed=seed, **written):
        array = np.ascontiguousarray(phase, dtype=np.uint64)
        if array.ndim != 2 or array.shape[1] != 3:
            raise WorkloadError(
                f"workload `{traffic}`: a phase is an array of shape (messages, 3) with "
                f"source, target and bytes, got shape {array.shape}"
            )
        phases.append(array.reshape(-1))
    return phases, bool(getattr(function, "steady", False))
