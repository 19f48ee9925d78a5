"""A machine read a second time, through its public tables alone: what the tests compare the core with.

Plain dictionaries and networkx; nothing here is shared with the code under test but the numbering: vertices are switches,
then nodes; LIDs are cabled node ports by (node, port), then switches; channels 2 i and 2 i + 1 are the two directions of
cable i.
"""

import itertools
from collections import Counter
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from runflat import Machine

Plug = tuple[int, int]


class Fabric:
    """Cables, planes and what is alive of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.switch_count = machine.switch_count
        rows = machine.links().to_rows()
        ends = [((row["a"], row["a_port"]), (row["b"], row["b_port"])) for row in rows]
        self.tail: list[Plug] = [plug for pair in ends for plug in pair]
        self.head: list[Plug] = [plug for a, b in ends for plug in (b, a)]
        self.at: dict[Plug, int] = {plug: channel for channel, plug in enumerate(self.tail)}
        self.usable = [bool(row["alive"]) for row in rows for _ in range(2)]
        self.names = [
            " -> ".join(order)
            for row in rows
            for order in (row["name"].split(" <-> "), row["name"].split(" <-> ")[::-1])
        ]
        self.node_alive: list[bool] = machine.nodes().column("alive")
        self.switch_alive: list[bool] = machine.switches().column("alive")
        self.endpoints = sorted(plug for plug in self.tail if plug[0] >= self.switch_count)
        self.alive = self._switches(self.usable)
        self.intact = self._switches([True] * len(self.tail))
        groups = list(nx.connected_components(self.intact))
        self.plane = {switch: at for at, group in enumerate(groups) for switch in group}

    def _switches(self, usable: list[bool]) -> "nx.MultiGraph[int]":
        graph: nx.MultiGraph[int] = nx.MultiGraph()
        graph.add_nodes_from(range(self.switch_count))
        for channel in range(0, len(self.tail), 2):
            a, b = self.tail[channel][0], self.head[channel][0]
            if a < self.switch_count and b < self.switch_count and usable[channel]:
                graph.add_edge(a, b, key=channel)
        return graph

    def switch_of(self, endpoint: Plug) -> int | None:
        """Return the switch a node port is attached to by a usable cable."""
        channel = self.at[endpoint]
        head = self.head[channel][0]
        return head if self.usable[channel] and head < self.switch_count else None

    def is_switched(self, endpoint: Plug) -> bool:
        """Say whether the cable of a node port leads to a switch, not to another node."""
        return self.head[self.at[endpoint]][0] < self.switch_count

    def plane_of(self, endpoint: Plug) -> int:
        """Return the plane a node port was cabled into when all was well."""
        return self.plane[self.head[self.at[endpoint]][0]]

    def injector(self, node: int, plane: int) -> Plug | None:
        """Return the port by which a node sends into a plane: its lowest attached one."""
        own = (e for e in self.endpoints if e[0] == node and self.is_switched(e))
        ports = (e for e in own if self.plane_of(e) == plane)
        return next((port for port in ports if self.switch_of(port) is not None), None)

    def nodes_in(self, plane: int) -> list[int]:
        """Return the nodes that are alive and have a port in a plane."""
        switched = filter(self.is_switched, self.endpoints)
        own = {endpoint[0] for endpoint in switched if self.plane_of(endpoint) == plane}
        return [node for node in sorted(own) if self.node_alive[node - self.switch_count]]

    def is_switch_channel(self, channel: int) -> bool:
        """Say whether a channel joins two switches."""
        return max(self.tail[channel][0], self.head[channel][0]) < self.switch_count

    def pairs(self) -> list[tuple[int, Plug]]:
        """Return all (source node, destination port) that should have a route; not to nodes back to back."""
        found = []
        for target in self.endpoints:
            if self.is_switched(target) and self.node_alive[target[0] - self.switch_count]:
                plane = self.plane_of(target)
                found += [(n, target) for n in self.nodes_in(plane) if n != target[0]]
        return found

    def distance(self, source: int, target: Plug) -> int | None:
        """Return the fewest switch-switch hops from a node to a port, by networkx."""
        injector = self.injector(source, self.plane_of(target))
        start = None if injector is None else self.switch_of(injector)
        end = self.switch_of(target)
        if start is None or end is None or not nx.has_path(self.alive, start, end):
            return None
        return nx.shortest_path_length(self.alive, start, end)


class LoopError(Exception):
    """A packet came back to a switch where it had been."""


@dataclass
class Walk:
    """What walking every pair of a fabric through tables found."""

    pairs: int = 0
    unreachable: int = 0
    cut: int = 0
    looping: int = 0
    nonminimal: int = 0
    hops: list[int] = field(default_factory=list)
    index: Counter[int] = field(default_factory=Counter)
    dependencies: "nx.DiGraph[int]" = field(default_factory=nx.DiGraph)


def route(fabric: Fabric, tables: NDArray[np.uint8], start: int, target: Plug) -> list[int] | None:
    """Follow the tables from a switch to a node port: switch-switch channels, or None if dropped."""
    lid = fabric.endpoints.index(target)
    seen, channels, switch = {start}, [], start
    while True:
        port = int(tables[switch, lid])
        channel = fabric.at.get((switch, port))
        if port in (0, 255) or channel is None or not fabric.usable[channel]:
            return None
        head = fabric.head[channel]
        if head[0] >= fabric.switch_count:
            return channels if head == target else None
        channels.append(channel)
        switch = head[0]
        if switch in seen:
            raise LoopError
        seen.add(switch)


def walk(fabric: Fabric, tables: NDArray[np.uint8]) -> Walk:
    """Walk every pair."""
    found = Walk()
    for source, target in fabric.pairs():
        found.pairs += 1
        shortest = fabric.distance(source, target)
        found.cut += shortest is None
        injector = fabric.injector(source, fabric.plane_of(target))
        start = None if injector is None else fabric.switch_of(injector)
        try:
            channels = None if start is None else route(fabric, tables, start, target)
        except LoopError:
            found.looping += 1
            channels = None
        if channels is None:
            found.unreachable += 1
            continue
        assert shortest is not None, "tables lead where no cable does"
        found.hops.append(len(channels))
        found.nonminimal += len(channels) > shortest
        found.index.update(channels)
        found.dependencies.add_edges_from(itertools.pairwise(channels))
    return found


@st.composite
def machines(draw: st.DrawFn, *, most_switches: int = 9) -> Machine:
    """Draw a machine of any shape: parallel cables, several planes, bare switches, nodes with up to three cables."""
    switches = [f"s{i}" for i in range(draw(st.integers(1, most_switches)))]
    pairs = st.tuples(st.sampled_from(switches), st.sampled_from(switches))
    different = pairs.filter(lambda pair: pair[0] != pair[1])
    cables = draw(st.lists(different, max_size=2 * most_switches)) if len(switches) > 1 else []
    nodes = [f"n{i}" for i in range(draw(st.integers(1, 12)))]
    for node in nodes:
        homes = draw(st.lists(st.sampled_from(switches), min_size=1, max_size=3))
        cables += [(node, home) for home in homes]
    order = draw(st.permutations(cables))
    return Machine.build("drawn", switches=switches, nodes=nodes, cables=order)


@st.composite
def broken_machines(draw: st.DrawFn) -> Machine:
    """Draw a machine with some cables, switches and nodes failed."""
    machine = draw(machines())
    seed = draw(st.integers(0, 2**32))
    shares = {
        "links": draw(st.sampled_from(["0%", "20%", "50%"])),
        "switches": draw(st.sampled_from(["0%", "25%"])),
        "nodes": draw(st.sampled_from(["0%", "25%"])),
    }
    return machine.fail(seed=seed, link_class=draw(st.sampled_from(["switch", "all"])), **shares)
