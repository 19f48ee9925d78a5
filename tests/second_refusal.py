"""Refusals looked at a second time, in networkx: does the machine really have a flaw that the engine's rules name?

Shares nothing with the core but the numbering of `fabric.py`. Knows Up*/Down*, Fat-tree and Torus-2QoS; refusals for want of
lanes are confirmed in `test_refusals.py`.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import networkx as nx

from fabric import Fabric
from runflat import Machine

Graph = nx.MultiGraph  # of switches; parallel cables are parallel edges


def flaws(machine: Machine, engine: str, roots: Sequence[int] = ()) -> set[str]:
    """Return every flaw for which an engine must refuse a machine, in words of its refusals; none if it may not.

    Parameters
    ----------
    machine : Machine
        The machine, broken or not.
    engine : str
        `updn` (by OpenSM's rules), `ftree` or `torus-2QoS` (with the coordinates of a generated machine).
    roots : sequence of int
        The given root switches, dead ones too.

    Returns
    -------
    set of str
        The flaws of all parts.
    """
    if engine == "torus-2QoS" and machine.coordinates() is None:
        return {"no coordinates"}
    found: set[str] = set()
    for graph, nodes in parts(machine):
        if engine == "updn":
            found |= rootless(graph, nodes, roots)
        elif engine == "ftree" and len(graph) > 1 and nodes.total() > 1:
            found |= no_tree(graph, nodes, roots)
        elif engine == "torus-2QoS" and len(graph) > 1:
            found |= no_torus(machine, graph)
    return found


def parts(machine: Machine) -> Iterator[tuple[Graph, Counter[int]]]:
    """Return the joined living switches that have nodes, with the number of node ports at each."""
    fabric = Fabric(machine)
    homes = [fabric.switch_of(end) for end in fabric.endpoints]
    attached = Counter(home for home in homes if home is not None)
    for members in nx.connected_components(fabric.alive):
        nodes = Counter({switch: attached[switch] for switch in members if attached[switch]})
        if nodes and any(fabric.switch_alive[switch] for switch in members):
            yield fabric.alive.subgraph(members), nodes


def ranks(graph: Graph, starts: Iterable[int]) -> dict[int, int]:
    """Return the hops from the nearest start."""
    return dict(nx.multi_source_dijkstra_path_length(graph, set(starts), weight=None))


def rootless(graph: Graph, nodes: Counter[int], roots: Sequence[int]) -> set[str]:
    """Look for a root: a given one, or one by OpenSM's rule."""
    if roots:
        return set() if set(roots) & set(graph) else {"none of the given roots is alive"}
    for switch in graph:
        away: Counter[int] = Counter()
        for other, hops in nx.single_source_shortest_path_length(graph, switch).items():
            away[hops] += nodes[other]
        shares = sorted((count / nodes.total() for count in away.values()), reverse=True)
        if shares[0] > 0.9 and all(share <= 0.05 for share in shares[1:]):
            return set()
    return {"no switch is a root"}


def no_tree(graph: Graph, nodes: Counter[int], roots: Sequence[int]) -> set[str]:
    """Look for what keeps a part from being a fat-tree; with roots it need not be even."""
    given, height = bool(roots), ranks(graph, nodes)
    if not given:
        if not any(height.values()):
            return {"nodes are attached to every switch"}
        roots = [switch for switch in graph if height[switch] == max(height.values())]
    if not set(roots) & set(graph):
        return {"none of the given roots is alive"}
    rank = ranks(graph, set(roots) & set(graph))
    if not 2 <= max(rank.values()) + 1 <= 8:
        return {"levels"}
    if len({rank[switch] for switch in nodes}) > 1:
        return {"compute nodes are attached at rank"}
    if given:
        return set()
    # An even tree: within a rank all have as many neighbours on each side, with as many cables to each.
    looks: dict[tuple[int, int], set[tuple[int, ...]]] = {}
    for switch in graph:
        for side in (-1, 1):
            cables = [
                graph.number_of_edges(switch, other)
                for other in graph[switch]
                if rank[other] == rank[switch] + side
            ]
            if side < 0 or switch not in nodes:
                looks.setdefault((rank[switch], side), set()).add(tuple(sorted(cables)))
    even = all(len(look) == 1 and len(set(*look)) <= 1 for look in looks.values())
    return set() if even else {"not even"}


def no_torus(machine: Machine, graph: Graph) -> set[str]:
    """Look for lines in pieces, and for missing switches that are not in one line along the last dimension."""
    shape, places = machine.coordinates() or ([], [])
    at = {tuple(places[switch]): switch for switch in graph}
    found = set()
    for axis, size in enumerate(shape):
        across = [range(length) for other, length in enumerate(shape) if other != axis]
        for rest in itertools.product(*across):
            line = [at.get((*rest[:axis], step, *rest[axis:])) for step in range(size)]
            # Pieces of what is left, counted by their ends; the ends of a mesh are not joined anyway.
            ends = sum(
                here is not None and (ahead is None or not graph.has_edge(here, ahead))
                for here, ahead in zip(line, [*line[1:], line[0]], strict=True)
            )
            if ends > 1:
                found.add("in pieces")
    missing = [place for place in itertools.product(*map(range, shape)) if place not in at]
    if len({place[:-1] for place in missing}) > 1:
        found.add("do not stand side by side")
    return found


def is_joined_up_and_down(machine: Machine, roots: Sequence[int]) -> bool:
    """Say whether all switches with nodes that cables join are joined by ways up, then down.

    Up is to a smaller rank, within a rank to the larger index. The search is on (switch, whether it went down yet).
    """
    for graph, nodes in parts(machine):
        rank = ranks(graph, set(roots) & set(graph))
        ways: nx.DiGraph[tuple[int, bool]] = nx.DiGraph()
        for here, there in itertools.permutations(graph, 2):
            if not graph.has_edge(here, there):
                continue
            if (rank[there], -there) < (rank[here], -here):
                ways.add_edge((here, False), (there, False))
            else:
                ways.add_edges_from(((here, down), (there, True)) for down in (False, True))
        for start in nodes:
            if (start, False) not in ways:
                continue
            reached = {switch for switch, _ in nx.descendants(ways, (start, False))} | {start}
            if not set(nodes) <= reached:
                return False
    return True
