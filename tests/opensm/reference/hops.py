"""Hop counts for each switch, destination switch and output port, free or under the rule of Up*/Down*.

Compared with OpenSM's own in `opensm-lid-matrix.dump`, entry by entry.

MinHop and DOR use the plain matrix: one more than the neighbour's least, for every port that leads to a switch. Up*/Down*
uses one that it makes like this, for each destination switch by itself:

1.  The *rank* of a switch is its distance from the nearest root. The *id* is its node GUID as a number, most significant byte
    first (not the map order!), or its line in the file of ids.
2.  A step from a to b is *up* if b has the smaller rank. Between equal ranks it is up if a has the greater id, but between two
    roots (both of rank 0) always.
3.  Begin with the destination in a queue, at distance 0 and heading up. Take a switch a from the front. By ascending port: a
    step up is left out if a is heading down. Otherwise the hop count of the far end's port towards a becomes one more than the
    *least* hop count a has now, if this improves it. If it did, and the far end is not in the queue, it heads the way of this
    step and joins the queue. If it is in the queue already, it keeps its heading.
4.  A switch may join the queue more than once. The destination too gets counts for its ports and may join again; they are
    not used.
5.  With `connect_roots` the destinations that are roots, with all nodes on them, have the plain hop counts at *every* switch,
    not only between roots.

A consequence of 3: the heading is that of the step that put a switch in the queue, while the distance may come from another
step. So routes need not be legal on irregular fabrics, and the channel dependency graph has to be checked.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from opensm.reference.wiring import Wiring

Hops = dict[int, dict[int, int]]
"""Towards one destination switch: hop count by switch and port; ports without a way are absent."""


def distances(wiring: Wiring, starts: Collection[int]) -> dict[int, int]:
    """Find how far each switch is from the nearest of some.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    starts : collection of int
        Switches at distance 0.

    Returns
    -------
    dict
        Distance by switch.
    """
    found = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        here = queue.popleft()
        for far, _ in wiring.links[here].values():
            if far not in found:
                found[far] = found[here] + 1
                queue.append(far)
    return found


def plain(wiring: Wiring, target: int) -> Hops:
    """Count hops to a switch over any path.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    target : int
        The destination switch.

    Returns
    -------
    dict
        Hop counts.
    """
    away = distances(wiring, [target])
    return {
        switch: {port: away[far] + 1 for port, (far, _) in wiring.links[switch].items()}
        for switch in wiring.switches
    }


def up_down(
    wiring: Wiring,
    target: int,
    roots: Collection[int],
    *,
    ids: Mapping[int, int] | None = None,
    connect_roots: bool = False,
) -> Hops:
    """Count hops to a switch over paths that go up, then down.

    Parameters
    ----------
    wiring : Wiring
        The fabric.
    target : int
        The destination switch.
    roots : collection of int
        Switches of rank 0.
    ids : mapping, optional
        Id by switch.
    connect_roots : bool
        Whether destinations that are roots are exempt.

    Returns
    -------
    dict
        Hop counts.
    """
    if connect_roots and target in roots:
        return plain(wiring, target)
    rank = distances(wiring, roots)
    named = dict(enumerate(wiring.numbering.switches)) if ids is None else ids

    def up(a: int, b: int) -> bool:
        if rank[a] == rank[b]:
            return rank[a] == 0 or named[a] > named[b]
        return rank[b] < rank[a]

    hops: Hops = {switch: {} for switch in wiring.switches}
    least = {target: 0}
    heading_up = {target: True}
    queue, queued = deque([target]), {target}
    while queue:
        here = queue.popleft()
        queued.remove(here)
        for far, far_port in wiring.links[here].values():
            rises = up(here, far)
            if rises and not heading_up[here]:
                continue
            count = least[here] + 1
            if count >= hops[far].get(far_port, count + 1):
                continue
            hops[far][far_port] = count
            least[far] = min(count, least.get(far, count))
            if far not in queued:
                heading_up[far] = rises
                queue.append(far)
                queued.add(far)
    return hops


def find_roots(wiring: Wiring) -> list[int]:
    """Find the roots as OpenSM does when it is given none.

    A switch is a root if, of the numbers of node ports at each hop count from it, exactly one is more than 90 % of all node
    ports and no other is more than 5 %; both comparisons are strict. Node ports are counted, not nodes.

    Parameters
    ----------
    wiring : Wiring
        The fabric.

    Returns
    -------
    list of int
        Root switches in map order. If there are none OpenSM refuses.
    """
    total = sum(len(wiring.attached[switch]) for switch in wiring.switches)
    roots = []
    for switch in wiring.switches:
        bars: dict[int, int] = {}
        for far, hops in distances(wiring, [switch]).items():
            bars[hops] = bars.get(hops, 0) + len(wiring.attached[far])
        high = sum(bar > 0.9 * total for bar in bars.values())
        seen = sum(bar > 0.05 * total for bar in bars.values())
        if high == seen == 1:
            roots.append(switch)
    return roots
