"""What OpenSM answered, as a routing of the package: to be checked like any other, lanes included.

The tables are read from OpenSM's own dump; service levels and SL-to-VL tables, for which OpenSM has no dump that can be read
back or none at all, go through the package's CSV files.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from opensm.dumps import NO_PORT
from runflat import Routing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from opensm.subnet import Answer
    from runflat import Machine


def routing(machine: Machine, answer: Answer) -> Routing:
    """Read an answer with the package.

    Parameters
    ----------
    machine : Machine
        The machine that was asked about, broken or not.
    answer : Answer
        An answer with tables.

    Returns
    -------
    Routing
        Its tables, with its path SLs if the probe has asked for them, and its SL-to-VL tables if QoS was on.
    """
    folder = answer.folder
    levels = mapping = None
    if answer.lanes is not None:
        levels = folder / "sl.csv"
        levels.write_text(levels_csv(machine, answer.lanes.of_nodes, answer.lids), encoding="ascii")
    if answer.sl2vl:
        mapping = folder / "sl2vl.csv"
        mapping.write_text(mapping_csv(machine, answer.sl2vl), encoding="ascii")
    dump = folder / "opensm-lfts.dump"
    return Routing.read(
        machine, dump, guid2lid=folder / "guid2lid", sl=levels, sl2vl=mapping,
        lmc=answer.numbering.lmc,
    )  # fmt: skip


def levels_csv(machine: Machine, levels: NDArray[np.uint8], lids: NDArray[np.int32]) -> str:
    """Write the service level of every (switch, LID) that was asked for.

    Parameters
    ----------
    machine : Machine
        The machine.
    levels : (switches, lids) array of uint8
        Levels in dense order, 255 where none was asked for.
    lids : (lids,) array of int32
        Real LIDs.

    Returns
    -------
    str
        The text.
    """
    lines = ["switch_guid,sl,lids"]
    for guid, row in zip(machine.switches().column("guid"), levels, strict=True):
        for level in np.unique(row[row != NO_PORT]):
            real = lids[(row == level) & (lids > 0)]
            lines.append(f"{guid},{level},{' '.join(map(str, sorted(real.tolist())))}")
    return "\n".join(lines) + "\n"


def mapping_csv(machine: Machine, tables: dict[int, NDArray[np.uint8]]) -> str:
    """Write SL-to-VL tables, a row for each pair of ports.

    Parameters
    ----------
    machine : Machine
        The machine.
    tables : dict
        `Answer.sl2vl`.

    Returns
    -------
    str
        The text.
    """
    guids = machine.switches().column("guid")
    lanes = ",".join(f"vl{sl}" for sl in range(16))
    lines = [f"switch_guid,in_ports,out_ports,{lanes}"]
    for switch, table in sorted(tables.items()):
        for into, out in np.argwhere((table != NO_PORT).all(axis=2)).tolist():
            lines.append(f"{guids[switch]},{into},{out},{','.join(map(str, table[into, out]))}")
    return "\n".join(lines) + "\n"


def hops(machine: Machine, tables: NDArray[np.uint8], lmc: int = 0) -> NDArray[np.int64]:
    """Walk every switch to every node LID.

    Parameters
    ----------
    machine : Machine
        The machine, broken or not.
    tables : (switches, lids) array of uint8
        Output ports in dense order, 255 for none.
    lmc : int
        Base-2 logarithm of the number of LIDs of an endpoint.

    Returns
    -------
    (switches, node lids) array of int64
        Switch-switch cables on the way; -1 where there is none.
    """
    switches, columns = machine.switch_count, machine.endpoint_count << lmc
    vertex = np.full((switches, 256), -1)
    for row in machine.links().to_rows():
        for end, other in (("a", "b"), ("b", "a")):
            if row["alive"] and row[end] < switches:
                vertex[row[end], row[f"{end}_port"]] = row[other]
    plugs = sorted(
        (row[end], row[f"{end}_port"])
        for row in machine.links().to_rows()
        for end in ("a", "b")
        if row[end] >= switches
    )
    owner = np.repeat(np.array([node for node, _ in plugs], dtype=np.int64), 1 << lmc)
    ahead = np.take_along_axis(vertex, tables[:, :columns].astype(np.int64), axis=1)
    found = np.where(ahead == owner, 0, -1)
    for length in range(1, switches + 1):
        inside = (ahead >= 0) & (ahead < switches)
        behind = np.where(inside, ahead, 0)
        before = np.take_along_axis(found, behind, axis=0)
        step = (found < 0) & inside & (before == length - 1)
        if not step.any():
            break
        found[step] = length
    return found


def histogram(machine: Machine, tables: NDArray[np.uint8]) -> Counter[int]:
    """Count the switch-switch cables of the ways from every switch with nodes to every node LID.

    Parameters
    ----------
    machine : Machine
        The machine.
    tables : (switches, lids) array of uint8
        Output ports in dense order.

    Returns
    -------
    Counter
        How many ways have each length; -1 for none.
    """
    return Counter(hops(machine, tables)[with_nodes(machine)].ravel().tolist())


def with_nodes(machine: Machine) -> NDArray[np.bool_]:
    """Say which switches have nodes.

    Parameters
    ----------
    machine : Machine
        The machine.

    Returns
    -------
    (switches,) array of bool
        Those with a node at a living cable.
    """
    found = np.zeros(machine.switch_count, dtype=bool)
    for row in machine.links().to_rows():
        low, high = sorted((row["a"], row["b"]))
        if row["alive"] and low < machine.switch_count <= high:
            found[low] = True
    return found
