"""Readers of the files that OpenSM leaves behind: forwarding tables, LIDs, SL to VL tables and the log.

They read what OpenSM 3.3.23 writes and raise ValueError on anything else; `samples/` holds an example of each. They are not
the importers of the package, which have to put up with older versions and with what people edit by hand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from opensm.numbering import Numbering

NO_PORT = 255
"""What an entry of a forwarding table holds when there is no route."""


def guid2lid(path: Path) -> dict[int, range]:
    """Read the LIDs that OpenSM gave to each port.

    Parameters
    ----------
    path : Path
        The file `guid2lid` of OSM_CACHE_DIR.

    Returns
    -------
    dict
        LIDs by port GUID.
    """
    found = {}
    for line in path.read_text(encoding="ascii").splitlines():
        if line:
            guid, low, high = (int(word, 16) for word in line.split())
            found[guid] = range(low, high + 1)
    return found


def real_lids(numbering: Numbering, given: dict[int, range]) -> NDArray[np.int32]:
    """Put real LIDs in dense order.

    Parameters
    ----------
    numbering : Numbering
        Our numbers.
    given : dict
        Real LIDs by port GUID.

    Returns
    -------
    (lids,) array of int32
        Real LID of each dense LID; 0 where a port has none.
    """
    lids = np.zeros(numbering.lid_count, dtype=np.int32)
    for guid, dense in numbering.dense().items():
        for at, lid in zip(dense, given.get(guid, ()), strict=False):
            lids[at] = lid
    return lids


def tables(path: Path, numbering: Numbering, lids: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Read `opensm-lfts.dump` in our numbers.

    Parameters
    ----------
    path : Path
        The file.
    numbering : Numbering
        Our numbers.
    lids : (lids,) array of int32
        Real LID of each dense LID.

    Returns
    -------
    (switches, lids) array of uint8
        Output port, 255 for none.

    Raises
    ------
    ValueError
        If the file has a line of another form, a switch or a LID that the machine does not have, or an entry whose port GUID
        contradicts `lids`.
    """
    column = np.full(1 << 16, -1, dtype=np.int64)
    column[lids[lids > 0]] = np.flatnonzero(lids)
    found = np.full((len(numbering.switches), numbering.lid_count), NO_PORT, dtype=np.uint8)
    rows = {guid: at for at, guid in enumerate(numbering.switches)}
    for guid, entries in sections(path):
        real, ports = entries[:, 0], entries[:, 1]
        known = column[real] >= 0
        if not known.all():
            raise ValueError(f"{path}: no port has LID {real[~known][0]}")
        found[rows[guid], column[real]] = ports
    return found


def sections(path: Path) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each switch of `opensm-lfts.dump` with its entries.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    guid : int
        GUID of the switch.
    entries : (entries, 2) array of int64
        LID and port of each line; lines without a route are left out.
    """
    guid, entries = -1, [(0, 0)]
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("0x"):
                if line[7:10] != "255":
                    entries.append((int(line[2:6], 16), int(line[7:10])))
            elif head := HEAD.match(line):
                guid, entries = int(head[1], 16), []
            elif FOOT.match(line):
                yield guid, np.array(entries, dtype=np.int64).reshape(-1, 2)
            else:
                raise ValueError(f"{path}: neither entry nor switch: {line!r}")


def sl2vl(path: Path) -> dict[int, NDArray[np.uint8]]:
    """Read `opensm-sl2vl.dump`, which OpenSM writes when QoS is on.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
        By node GUID of each switch a (ports + 1, ports + 1, 16) array: virtual lane for (in port, out port, service level);
        255 where the file has no line.
    """
    found: dict[int, NDArray[np.uint8]] = {}
    lines: list[tuple[int, int, list[int]]] = []
    guid: int | None = None

    def close() -> None:
        if guid is not None and lines:
            size = 1 + max(max(into, out) for into, out, _ in lines)
            table = np.full((size, size, 16), NO_PORT, dtype=np.uint8)
            for into, out, lanes in lines:
                table[into, out] = lanes
            found[guid] = table

    for line in path.read_text(encoding="utf-8").splitlines():
        if head := SL2VL_HEAD.match(line):
            close()
            guid, lines = (int(head[2], 16) if head[1] == "Switch" else None), []
        elif row := SL2VL_ROW.match(line):
            lines.append((int(row[1]), int(row[2]), [int(lane) for lane in row[3].split()]))
    close()
    return found


def log_lines(text: str) -> list[tuple[int, str]]:
    """Split OpenSM's log.

    Parameters
    ----------
    text : str
        The log.

    Returns
    -------
    list of (int, str)
        Level (1 error, 2 information, 128 system) and sentence of each line.
    """
    return [(int(line[1], 16), line[2]) for line in LOG.finditer(text)]


HEAD = re.compile(r"Unicast lids \[0-\d+\] of switch Lid \d+ guid 0x([0-9a-f]+) \('.*'\):$")
FOOT = re.compile(r"\d+ lids dumped")
SL2VL_HEAD = re.compile(r"(\w+) 0x([0-9a-f]+), base LID")
SL2VL_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s*:\s*([0-9 ]+)$")
LOG = re.compile(r"^\w+ \d+ [\d:]+ \d+ \[[0-9A-F]+\] 0x([0-9a-f]+) -> (.*)$", re.MULTILINE)
