"""Compares two sets of forwarding tables entry by entry, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from opensm.dumps import NO_PORT
from opensm.numbering import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from runflat import Machine


def differences(
    machine: Machine,
    ours: NDArray[np.uint8],
    theirs: NDArray[np.uint8],
    *,
    lmc: int = 0,
    most: int = 20,
) -> list[str]:
    """Say where two sets of tables differ.

    Parameters
    ----------
    machine : Machine
        The machine.
    ours, theirs : (switches, lids) array of uint8
        Output ports in dense order, 255 for none.
    lmc : int
        Base-2 logarithm of the number of LIDs of an endpoint.
    most : int
        Greatest number of entries that are listed.

    Returns
    -------
    list of str
        Empty if they are the same; otherwise how many entries differ, then a sentence for each of the first.

    Raises
    ------
    ValueError
        If a shape is not that of the machine.
    """
    numbering = Numbering.of(machine, lmc)
    shape = (machine.switch_count, numbering.lid_count)
    for name, tables in (("ours", ours), ("theirs", theirs)):
        if tables.shape != shape:
            raise ValueError(f"{name} has shape {tables.shape}, {machine.name} needs {shape}")
    found = np.argwhere(ours != theirs)
    if not len(found):
        return []
    names: list[str] = [*machine.switches().column("name"), *machine.nodes().column("name")]
    far: dict[tuple[int, int], str] = {}
    for row in machine.links().to_rows():
        far[row["a"], row["a_port"]] = names[row["b"]]
        far[row["b"], row["b_port"]] = names[row["a"]]

    def leads(switch: int, port: int) -> str:
        if port == NO_PORT:
            return "nowhere"
        return f"to port {port} ({far.get((switch, port), 'itself' if port == 0 else 'no cable')})"

    def target(lid: int) -> str:
        at, offset = divmod(lid, numbering.width)
        if at < len(numbering.endpoints):
            end = numbering.endpoints[at]
            return f"{names[end.node]}[{end.port}]" + (f" + {offset}" if lmc else "")
        return names[lid - len(numbering.endpoints) * numbering.width]

    sentences = [
        f"{names[s]} sends {target(lid)} {leads(s, ours[s, lid])}, theirs {leads(s, theirs[s, lid])}"
        for s, lid in found[:most].tolist()
    ]
    return [f"{len(found)} of {ours.size} entries differ", *sentences]
