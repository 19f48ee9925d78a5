"""MinHop, DOR and Up*/Down*: least hops, and among equals the port with the fewest routes so far.

The three share one choice of ports and differ in the hop counts (`hops`) and in the candidates. Each switch chooses for
itself; nothing is shared between switches. Compared with OpenSM entry by entry, LMC 0 to 4, with scrambled GUIDs and ports,
unequal numbers of nodes, parallel cables, nodes with several cables, routing order files, ids and shared system GUIDs.

The order of destinations, the same for every switch:

1.  Ports named in the routing order file, in its order, switches among them; each once.
2.  Switches by number of attached node ports, most first, equal ones in map order; the node ports of each by ascending switch
    port. A node port already done is skipped.
3.  All switches not yet done, in map order.
4.  With LMC above 0 the whole list is gone through for LID offset 0, then for offset 1, and so on; switches have offset 0 only.

The choice at a switch:

5.  Candidates are the ports with the least hop count, ascending. The route of a node port on this switch is that port, of the
    switch itself port 0. A destination without any hop count gets no route.
6.  DOR keeps of the candidates those that lead to the same neighbour as the first one does.
7.  The port with the fewest routes wins, the first of equals. Then its number of routes grows by one if the destination is a
    node port. Routes to switches are not counted. Every LID offset counts.
8.  MinHop and Up*/Down*, at LID offsets above 0:
    a.  The scan begins after the port that this destination got at the previous offset, and wraps around.
    b.  If some candidates lead to a *system* (system image GUID) that none of this destination's ports so far leads to,
        only these are candidates. If there are none, those that lead to a *switch* not used so far; if there are none
        either, all.
    c.  `fewest` below: equal numbers of routes are decided by how often this destination already uses the port's neighbour.
9.  DOR, at LID offsets above 0: neither a nor b; c with the *port* in place of the neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from opensm.dumps import NO_PORT
from opensm.reference import hops

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from opensm.reference.wiring import Wiring


@dataclass
class Target:
    """A destination port.

    Attributes
    ----------
    lids : range
        Its dense LIDs.
    switch, port : int
        The switch it is on and the switch's port there; 0 for the switch itself.
    """

    lids: range
    switch: int
    port: int


def minhop(
    wiring: Wiring, *, first: Sequence[int] = (), systems: Mapping[int, int] | None = None
) -> NDArray[np.uint8]:
    """Route by MinHop.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    first : sequence of int
        Dense LIDs, the lowest of their port, in the order of the routing order file.
    systems : mapping, optional
        System image GUID by switch; every switch its own system by default.

    Returns
    -------
    (switches, lids) array of uint8
        Output ports, 255 for none.
    """
    matrix = {target: hops.plain(wiring, target) for target in wiring.switches}
    return choose(wiring, matrix, first, systems)


def dor(wiring: Wiring, *, first: Sequence[int] = ()) -> NDArray[np.uint8]:
    """Route in dimension order; parameters as for `minhop`."""
    matrix = {target: hops.plain(wiring, target) for target in wiring.switches}
    return choose(wiring, matrix, first, one_neighbour=True)


def updn(
    wiring: Wiring,
    *,
    roots: Collection[int] = (),
    ids: Mapping[int, int] | None = None,
    connect_roots: bool = False,
    first: Sequence[int] = (),
    systems: Mapping[int, int] | None = None,
) -> NDArray[np.uint8]:
    """Route by Up*/Down*.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    roots : collection of int
        Root switches; found by rule if empty.
    ids : mapping, optional
        Id by switch, in place of GUIDs.
    connect_roots : bool
        Whether roots are reached from everywhere.
    first, systems
        As for `minhop`.

    Returns
    -------
    (switches, lids) array of uint8
        Output ports, 255 for none.

    Raises
    ------
    ValueError
        If there are no roots.
    """
    roots = roots or hops.find_roots(wiring)
    if not roots:
        raise ValueError("no root switches were found")
    matrix = {
        target: hops.up_down(wiring, target, roots, ids=ids, connect_roots=connect_roots)
        for target in wiring.switches
    }
    return choose(wiring, matrix, first, systems)


def choose(
    wiring: Wiring,
    matrix: Mapping[int, hops.Hops],
    first: Sequence[int] = (),
    systems: Mapping[int, int] | None = None,
    *,
    one_neighbour: bool = False,
) -> NDArray[np.uint8]:
    """Choose ports by hop counts and number of routes.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    matrix : mapping
        Hop counts by destination switch.
    first : sequence of int
        Dense LIDs that are routed first.
    systems : mapping, optional
        System image GUID by switch.
    one_neighbour : bool
        Whether only one neighbour is used, as in DOR.

    Returns
    -------
    (switches, lids) array of uint8
        Output ports, 255 for none.
    """
    shape = (len(wiring.links), wiring.numbering.lid_count)
    tables = np.full(shape, NO_PORT, dtype=np.uint8)
    system = {switch: ("own", switch) for switch in wiring.switches}
    system.update({switch: ("shared", guid) for switch, guid in (systems or {}).items()})
    targets = destinations(wiring, first)
    for switch in wiring.switches:
        links = wiring.links[switch]
        routes = dict.fromkeys([0, *links, *wiring.attached[switch]], 0)
        taken: list[list[int]] = [[] for _ in targets]
        for offset in range(wiring.numbering.width):
            for target, got in zip(targets, taken, strict=True):
                if offset >= len(target.lids):
                    continue
                port = target.port
                if target.switch != switch:
                    counts = matrix[target.switch][switch]
                    least = min(counts.values(), default=0)
                    ports = sorted(port for port, count in counts.items() if count == least)
                    if not ports:
                        continue
                    neighbour = {port: links[port][0] for port in ports}
                    if one_neighbour:
                        ports = [p for p in ports if neighbour[p] == neighbour[ports[0]]]
                        port = fewest(ports, routes, {p: got.count(p) for p in ports})
                    else:
                        used = [links[port][0] for port in got]
                        ports = unused(rotated(ports, got), neighbour, used, system)
                        port = fewest(ports, routes, {p: used.count(neighbour[p]) for p in ports})
                    got.append(port)
                tables[switch, target.lids[offset]] = port
                routes[port] += target.port != 0
    return tables


def destinations(wiring: Wiring, first: Iterable[int]) -> list[Target]:
    """List the destinations in the order in which ports are chosen for them.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    first : iterable of int
        Dense LIDs that are routed first.

    Returns
    -------
    list of Target
        Each port once.
    """
    rest = [
        Target(wiring.lids(endpoint), switch, port)
        for switch in wiring.by_load()
        for port, endpoint in wiring.attached[switch].items()
    ]
    for switch in wiring.switches:
        own = wiring.own_lid(switch)
        rest.append(Target(range(own, own + 1), switch, 0))
    known = {target.lids[0]: target for target in rest}
    order = dict.fromkeys([*first, *known])
    return [known[lid] for lid in order if lid in known]


def rotated(ports: list[int], got: list[int]) -> list[int]:
    """Put the ports after the one that the destination got last first."""
    last = got[-1] if got else 0
    return [port for port in ports if port > last] + [port for port in ports if port <= last]


def unused(
    ports: list[int],
    neighbour: Mapping[int, int],
    used: Collection[int],
    system: Mapping[int, tuple[str, int]],
) -> list[int]:
    """Keep the ports that lead to systems, or else to switches, not used so far; all if there are none."""
    systems = {system[switch] for switch in used}
    other_system = [port for port in ports if system[neighbour[port]] not in systems]
    other_switch = [port for port in ports if neighbour[port] not in used]
    return other_system or other_switch or ports


def fewest(ports: Sequence[int], routes: Mapping[int, int], uses: Mapping[int, int]) -> int:
    """Pick the port with the fewest routes; the odd tie of rule 8c.

    A port replaces the best so far if it has fewer routes, or as many and fewer `uses` than the mark. The mark is the `uses`
    of the first port; it only ever sinks: to the `uses` of each port that becomes best, if these are fewer. So a port with
    fewer routes but more uses leaves the mark of its predecessor standing.

    Parameters
    ----------
    ports : sequence of int
        Candidates in the order of the scan.
    routes : mapping
        Routes over each port so far.
    uses : mapping
        How often this destination already uses what the port leads to.

    Returns
    -------
    int
        The port.
    """
    best, mark = ports[0], uses[ports[0]]
    for port in ports[1:]:
        fewer = routes[port] < routes[best]
        if fewer or (routes[port] == routes[best] and uses[port] < mark):
            best, mark = port, min(mark, uses[port])
    return best
