"""Tables walked a second time, all pairs at once, in numpy: an independent judge of large routings.

Shares nothing with the core but the numbering of `fabric.py`. A packet is a (source node, destination LID); all packets take
a step together until they have arrived, are lost, or have made more steps than there are switches.
"""

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from runflat import Machine, Routing

NOWHERE = -1


def judge(machine: Machine, routing: Routing) -> tuple[str, int]:
    """Walk every pair.

    Returns
    -------
    (str, int)
        `ok`, `deadlock` or `incomplete`, and the number of pairs without a route.
    """
    switches, width = machine.switch_count, 2**routing.lmc
    rows = machine.links().to_rows()
    head = np.full((switches, 256), NOWHERE)
    channel = np.full((switches, 256), NOWHERE)
    far_port = np.zeros((switches, 256), dtype=int)
    node_alive = machine.nodes().column("alive")
    plane_of = planes(switches, rows)
    ends: list[tuple[int, int, int, int, bool]] = []
    for number, row in enumerate(rows):
        a, b = (row["a"], row["a_port"]), (row["b"], row["b_port"])
        for here, there, way in ((a, b, 2 * number), (b, a, 2 * number + 1)):
            if here[0] >= switches:
                if there[0] < switches:
                    ends.append((*here, *there, bool(row["alive"])))
            elif row["alive"]:
                head[here], channel[here], far_port[here] = there[0], way, there[1]
    all_ends = sorted((r[e], r[f"{e}_port"]) for r in rows for e in ("a", "b") if r[e] >= switches)
    number_of = {end: at for at, end in enumerate(all_ends)}
    ends.sort()
    injectors: dict[tuple[int, int], tuple[int, int]] = {}
    members: dict[int, set[int]] = {}
    for node, _, switch, port, alive in ends:
        if node_alive[node - switches]:
            members.setdefault(plane_of[switch], set()).add(node)
            if alive:
                injectors.setdefault((node, plane_of[switch]), (switch, port))
    by_port = routing.sl_to_vl is not None
    starts = {plane: grouped(plane, nodes, injectors, by_port) for plane, nodes in members.items()}
    lost = 0
    packets: list[NDArray[np.int64]] = []
    for node, port, switch, _, _ in ends:
        if not node_alive[node - switches]:
            continue
        plane = plane_of[switch]
        start, count = starts[plane]
        injector = injectors.get((node, plane))
        count = count.copy()
        if injector is not None:
            own = (start[:, 0] == injector[0]) & ((not by_port) | (start[:, 1] == injector[1]))
            count[own] -= 1
        lost += (len(members[plane]) - 1 - int(count.sum())) * width
        for lid in range(number_of[node, port] * width, (number_of[node, port] + 1) * width):
            extra = np.tile([lid, node, port], (len(start), 1))
            packets.append(np.hstack([start, extra, count[:, None]])[count > 0])
    if not packets:
        return ("incomplete" if lost else "ok"), lost
    found, arcs = walk(routing, np.vstack(packets), head, channel, far_port)
    lost += found
    if lost:
        return "incomplete", lost
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(arcs.tolist())
    return ("ok" if nx.is_directed_acyclic_graph(graph) else "deadlock"), 0


def walk(
    routing: Routing,
    packets: NDArray[np.int64],
    head: NDArray[np.int64],
    channel: NDArray[np.int64],
    far_port: NDArray[np.int64],
) -> tuple[int, NDArray[np.int64]]:
    """Move all packets (switch, input port, LID, node, node port, how many); returns the lost ones and the dependencies of buffers."""
    tables, levels, lanes = routing.tables, routing.service_levels, routing.sl_to_vl
    switches = len(tables)
    at, came, lid, node, node_port, count = packets.T
    sl = np.zeros(len(at), dtype=int) if levels is None else levels[at, lid].astype(int)
    before = np.full(len(at), NOWHERE)
    lost, arcs = 0, [np.empty((0, 2), dtype=int)]
    for _ in range(switches + 1):
        port = tables[at, lid].astype(int)
        next_vertex = head[at, port]
        arrived = (next_vertex == node) & (far_port[at, port] == node_port)
        moves = (next_vertex >= 0) & (next_vertex < switches)
        lost += int(count[~arrived & ~moves].sum())
        vl = sl if lanes is None else lane_of(lanes, at, came, port, sl)
        buffer = channel[at, port] * 16 + vl
        steps = moves & (before != NOWHERE)
        arcs.append(np.unique(np.stack([before[steps], buffer[steps]], axis=1), axis=0))
        came, before = far_port[at, port][moves], buffer[moves]
        at = next_vertex[moves]
        lid, node, node_port, sl, count = (a[moves] for a in (lid, node, node_port, sl, count))
        if not len(at):
            break
    return lost + int(count.sum()), np.unique(np.vstack(arcs), axis=0)


def grouped(
    plane: int,
    nodes: set[int],
    injectors: dict[tuple[int, int], tuple[int, int]],
    by_port: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where nodes inject, (switch, port), and how many do; ports are told apart only if lanes depend on them."""
    plugs = [injectors[node, plane] for node in sorted(nodes) if (node, plane) in injectors]
    places = np.array(plugs, dtype=int).reshape(-1, 2)
    if not by_port:
        places[:, 1] = 0
    start, count = np.unique(places, axis=0, return_counts=True)
    return start, count


def lane_of(
    lanes: list[NDArray[np.uint8]],
    at: NDArray[np.int64],
    came: NDArray[np.int64],
    port: NDArray[np.int64],
    sl: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Look up the lane of each packet in its switch's table by input port, output port and service level."""
    found = np.zeros(len(at), dtype=int)
    for switch in np.unique(at):
        here = at == switch
        # A port without a cable may lie beyond the table; its packet is lost anyway.
        out = np.minimum(port[here], lanes[switch].shape[1] - 1)
        found[here] = lanes[switch][came[here], out, sl[here]]
    return found


def planes(switches: int, rows: list[dict[str, int]]) -> dict[int, int]:
    """Return the plane of each switch when nothing is dead."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(switches))
    graph.add_edges_from((r["a"], r["b"]) for r in rows if max(r["a"], r["b"]) < switches)
    parts = nx.connected_components(graph)
    return {switch: at for at, part in enumerate(parts) for switch in part}
