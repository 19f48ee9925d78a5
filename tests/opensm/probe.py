"""Builds `probe.c` and reads what it recorded inside a running OpenSM: times of the routing steps, and path SLs."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from opensm.dumps import NO_PORT
from opensm.missing import Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from opensm.numbering import Numbering

NAME = "runflat_probe"
HEADERS = Path("/usr/include/infiniband")


@dataclass(frozen=True)
class Step:
    """One call of a step of a routing engine.

    Attributes
    ----------
    engine, step : str
        OpenSM's names: `build_lid_matrices` or `ucast_build_fwd_tables`.
    cpu_s, wall_s : float
        CPU time of its thread and wall time, in seconds.
    status : int
        What it returned; 0 if it worked.
    """

    engine: str
    step: str
    cpu_s: float
    wall_s: float
    status: int


@dataclass(frozen=True)
class Lanes:
    """Service levels that an engine gives to paths; 255 where it was not asked.

    Attributes
    ----------
    of_nodes : (switches, lids) array of uint8
        From the nodes on a switch to a dense LID.
    of_switches : (switches, lids) array of uint8
        From the switch itself.
    disagreeing : int
        Number of (switch, LID) where the nodes on a switch do not agree; `of_nodes` then has the one of the lowest source.
    """

    of_nodes: NDArray[np.uint8]
    of_switches: NDArray[np.uint8]
    disagreeing: int


def build(folder: Path) -> Path:
    """Compile the plugin.

    Parameters
    ----------
    folder : Path
        Where the library goes.

    Returns
    -------
    Path
        The library, for `Options.probe`.

    Raises
    ------
    Missing
        If there is no gcc or no OpenSM headers.
    """
    compiler = shutil.which("gcc")
    if compiler is None:
        raise Missing("gcc is not installed: apt install gcc")
    if not (HEADERS / "opensm" / "osm_event_plugin.h").exists():
        raise Missing("OpenSM's headers are not installed: apt install libopensm-dev")
    folder.mkdir(parents=True, exist_ok=True)
    library = folder.resolve() / f"lib{NAME}.so"
    subprocess.run(
        [
            compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
            f"-isystem{HEADERS}", f"-Wl,-soname,lib{NAME}.so", "-o", str(library),
            str(Path(__file__).with_name("probe.c")), "-ldl",
        ],
        check=True,
    )  # fmt: skip
    return library


def steps(folder: Path) -> list[Step]:
    """Read the times of the routing steps.

    Parameters
    ----------
    folder : Path
        The folder of the run.

    Returns
    -------
    list of Step
        In the order of the calls; empty if none was made.
    """
    path = folder / "steps"
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="ascii").splitlines():
        engine, step, cpu, wall, status = line.split()
        found.append(Step(engine, step, int(cpu) / 1e9, int(wall) / 1e9, int(status)))
    return found


def lanes(
    folder: Path, numbering: Numbering, lids: NDArray[np.int32], homes: list[int | None]
) -> Lanes | None:
    """Read the path SLs.

    Parameters
    ----------
    folder : Path
        The folder of the run.
    numbering : Numbering
        Our numbers.
    lids : (lids,) array of int32
        Real LID of each dense LID.
    homes : list of int or None
        Switch of each endpoint.

    Returns
    -------
    Lanes or None
        None if the engine gives no path SLs.
    """
    path = folder / "path_sl"
    if not path.exists():
        return None
    raw = path.read_bytes()
    count = int(np.frombuffer(raw, "<u4", 1)[0])
    real = np.frombuffer(raw, "<u2", count, 4)
    matrix = np.frombuffer(raw, np.uint8, count * count, 4 + 2 * count).reshape(count, count)
    dense = np.full(1 << 16, -1, dtype=np.int64)
    dense[lids[lids > 0]] = np.flatnonzero(lids)
    at = dense[real]
    shape = (len(numbering.switches), numbering.lid_count)
    of_nodes = np.full(shape, NO_PORT, dtype=np.uint8)
    of_switches = of_nodes.copy()
    first_switch = len(numbering.endpoints) * numbering.width
    sources: dict[int, list[int]] = {}
    for row, lid in enumerate(at.tolist()):
        if lid >= first_switch:
            of_switches[lid - first_switch, at] = matrix[row]
        elif (home := homes[lid // numbering.width]) is not None:
            sources.setdefault(home, []).append(row)
    disagreeing = 0
    for switch, rows in sources.items():
        # A source is asked about itself by no one.
        asked = np.array(rows)[:, None] != np.arange(count)
        given = matrix[rows]
        lowest = np.where(asked, given, NO_PORT).min(axis=0)
        highest = np.where(asked, given, 0).max(axis=0)
        known = asked.any(axis=0)
        disagreeing += int((known & (lowest != highest)).sum())
        first = given[asked.argmax(axis=0), np.arange(count)]
        of_nodes[switch, at] = np.where(known, first, NO_PORT)
    return Lanes(of_nodes, of_switches, disagreeing)
