"""SSSP as OpenSM 3.3.23 does it: one Dijkstra run a destination LID, over weights that count the routes so far.

Source: Hoefler, Schneider, Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks", HOTI 2009; the order of
everything found by experiment, and each entry of the tables compared with OpenSM's on trees, grids, dragonflies and random
multigraphs with unequal numbers of nodes, bare switches and nodes with several cables (`tests/test_opensm.py`).

DFSSSP makes the same tables and then assigns lanes.

The rules, in full:

1.  Vertices are the switches that the SM reaches, in map order (GUIDs byte by byte, last byte first). A cable between
    switches is two directed links, one kept at each end. P is the number of LIDs of all node ports and switches (a node port
    has 2**LMC, a switch one). Each link begins with weight P**2.
2.  The *vertex weight* of a switch is the number of LIDs of the node ports on it, plus one for its own.
3.  Destinations, in this order: the node ports named in the compute node file, those in the I/O node file, all others, then
    the switches. Each of the four passes visits the switches by vertex weight, greatest first, equal ones in map order, and
    the ports of a switch ascending; a port already done is skipped. All LIDs of a port follow each other. The order of
    lines in the files does not matter. Switch LIDs count like any other: they raise weights too.
4.  Dijkstra runs *from* the destination. All switches are put in the heap (`heap`) in map order with key 2**31 - 1. For a node
    port one more vertex, the node port, is put in *last*, its key is lowered to 0, it is taken out, and its switch gets
    distance 1. For a switch LID the switch itself gets 0 and there is no further vertex. The odd looking extra vertex is
    needed: it stirs the heap.
5.  The vertex taken out relaxes its links by ascending port: far end v gets distance(u) + weight(u -> v) if this is strictly
    less. Links are those of u, in the direction away from the destination. Nothing is skipped for being done: weights are
    positive, so done vertices do not improve. v remembers the link used last.
6.  The LFT of each switch v other than the destination's gets the port at v's end of the link it remembers; the
    destination's switch gets the port of the node, or 0 for itself.
7.  After *each* destination LID, for every switch v, the vertex weight of v is added to every link remembered on v's way to the
    destination: the link objects of rule 5, with the direction away from the destination.
8.  Keys of the heap are compared with 2**31 - 1 as infinity, weights are wider. A switch whose distance would reach it is
    not reached. Before routing one dry run from the port of the SM is made; if it misses a switch the engine refuses ("AD0C:
    detached and inaccessible switches"). It is the only check: with the SM in the middle of a long fabric, entries
    of switches farther from some destination than from the SM stay empty and nothing is said. With P**2 x hops below
    2**31 it cannot happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from opensm.dumps import NO_PORT
from opensm.reference.heap import Heap

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from opensm.reference.wiring import Wiring

Link = tuple[int, int]
"""A directed link by the switch it leaves and the port there."""


def sssp(
    wiring: Wiring, *, compute: Collection[int] = (), io: Collection[int] = ()
) -> NDArray[np.uint8]:
    """Route a fabric.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    compute, io : collection of int
        Endpoints named in the compute and I/O node files.

    Returns
    -------
    (switches, lids) array of uint8
        Output ports, 255 for none.
    """
    shape = (len(wiring.links), wiring.numbering.lid_count)
    tables = np.full(shape, NO_PORT, dtype=np.uint8)
    weights = {s: lid_weight(wiring, s) for s in wiring.switches}
    start = sum(weights.values()) ** 2
    links = {(s, port): start for s in wiring.switches for port in wiring.links[s]}
    for lid, switch, port in destinations(wiring, compute, io):
        used = shortest(wiring, links, switch, port != 0)
        tables[switch, lid] = port
        for here, (far, far_port) in used.items():
            tables[here, lid] = wiring.links[far][far_port][1]
        for source in wiring.switches:
            here = source
            while here in used:
                links[used[here]] += weights[source]
                here = used[here][0]
    return tables


def lid_weight(wiring: Wiring, switch: int) -> int:
    """Count the LIDs at a switch: those of its nodes and its own.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    switch : int
        The switch.

    Returns
    -------
    int
        The vertex weight.
    """
    return wiring.numbering.width * len(wiring.attached[switch]) + 1


def destinations(
    wiring: Wiring, compute: Collection[int], io: Collection[int]
) -> list[tuple[int, int, int]]:
    """List the LIDs in the order in which SSSP routes them.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    compute, io : collection of int
        Endpoints named in the compute and I/O node files.

    Returns
    -------
    list of (int, int, int)
        Dense LID, its switch, and the port of the switch that leads to it (0 for the switch itself).
    """
    switches = sorted(wiring.switches, key=lambda s: -lid_weight(wiring, s))
    found: dict[int, tuple[int, int, int]] = {}
    for chosen in (compute, io, range(len(wiring.numbering.endpoints))):
        for switch in switches:
            for port, endpoint in wiring.attached[switch].items():
                if endpoint in chosen:
                    for lid in wiring.lids(endpoint):
                        found.setdefault(lid, (lid, switch, port))
    own = [(wiring.own_lid(switch), switch, 0) for switch in switches]
    return [*found.values(), *own]


def shortest(
    wiring: Wiring, links: dict[Link, int], target: int, from_node: bool
) -> dict[int, Link]:
    """Find the lightest ways to a destination.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    links : dict
        Weight of each directed link.
    target : int
        The destination's switch.
    from_node : bool
        Whether the destination is a node port, and not the switch.

    Returns
    -------
    dict
        By switch the link, away from the destination, that ends at it; the destination's switch and switches out of reach are
        absent.
    """
    distance = dict.fromkeys(wiring.switches, INFINITY)
    used: dict[int, Link] = {}
    heap = Heap()
    for switch in wiring.switches:
        heap.insert(INFINITY, switch)
    if from_node:
        heap.insert(INFINITY, NODE)
        heap.lower(0, NODE)
        heap.pop()
    distance[target] = 1 if from_node else 0
    heap.lower(distance[target], target)
    while heap:
        key, here = heap.pop()
        if key == INFINITY:
            break
        for port, (far, _) in wiring.links[here].items():
            through = key + links[here, port]
            if through < distance[far]:
                distance[far] = through
                used[far] = (here, port)
                heap.lower(through, far)
    return used


INFINITY = 2**31 - 1
NODE = -1
