"""A fabric in the order in which OpenSM walks it.

OpenSM keeps its objects in maps keyed by GUID in network byte order, compared as little-endian integers: the *last* byte of
the GUID counts most. Switches go by node GUID, end ports by port GUID. LIDs play no part in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from opensm.numbering import Numbering

if TYPE_CHECKING:
    from runflat import Machine


def map_key(guid: int) -> int:
    """Return the number by which OpenSM sorts a GUID: its bytes reversed.

    Parameters
    ----------
    guid : int
        The GUID as it is written.

    Returns
    -------
    int
        The sort key.
    """
    return int.from_bytes(guid.to_bytes(8, "big"), "little")


@dataclass(frozen=True)
class Wiring:
    """The part of a machine that OpenSM can reach from where it runs.

    Attributes
    ----------
    numbering : Numbering
        Our dense LIDs.
    switches : list of int
        Indices of the reachable switches, in map order.
    links : list of dict
        By switch: (neighbour, port there) of each port that leads to a switch, ports ascending.
    attached : list of dict
        By switch: endpoint of each port that leads to a node, ports ascending.
    """

    numbering: Numbering
    switches: list[int]
    links: list[dict[int, tuple[int, int]]]
    attached: list[dict[int, int]]

    @classmethod
    def of(cls, machine: Machine, *, lmc: int = 0, start: int | None = None) -> Wiring:
        """Read what is alive in a machine.

        Parameters
        ----------
        machine : Machine
            The machine.
        lmc : int
            Base-2 logarithm of the number of LIDs of an endpoint.
        start : int, optional
            A switch of the subnet that is meant; by default that of the first endpoint alive.

        Returns
        -------
        Wiring
            The subnet.
        """
        numbering = Numbering.of(machine, lmc)
        endpoints = {(end.node, end.port): at for at, end in enumerate(numbering.endpoints)}
        first = machine.switch_count
        links: list[dict[int, tuple[int, int]]] = [{} for _ in range(first)]
        attached: list[dict[int, int]] = [{} for _ in range(first)]
        for row in machine.links().to_rows():
            a, b = (row["a"], row["a_port"]), (row["b"], row["b_port"])
            for (switch, port), far in ((a, b), (b, a)):
                if not row["alive"] or switch >= first:
                    continue
                if far[0] < first:
                    links[switch][port] = far
                else:
                    attached[switch][port] = endpoints[far]
        links = [dict(sorted(ports.items())) for ports in links]
        attached = [dict(sorted(ports.items())) for ports in attached]
        if start is None:
            homes = {end: switch for switch, ends in enumerate(attached) for end in ends.values()}
            start = homes[min(homes)] if homes else 0
        reached, todo = {start}, [start]
        while todo:
            for neighbour, _ in links[todo.pop()].values():
                if neighbour not in reached:
                    reached.add(neighbour)
                    todo.append(neighbour)
        order = sorted(reached, key=lambda switch: map_key(numbering.switches[switch]))
        return cls(numbering, order, links, attached)

    def by_load(self) -> list[int]:
        """Return the switches by the number of attached node ports, most first; equal ones in map order."""
        return sorted(self.switches, key=lambda switch: -len(self.attached[switch]))

    def lids(self, endpoint: int) -> range:
        """Return the dense LIDs of an endpoint."""
        width = self.numbering.width
        return range(endpoint * width, (endpoint + 1) * width)

    def own_lid(self, switch: int) -> int:
        """Return the dense LID of a switch."""
        return len(self.numbering.endpoints) * self.numbering.width + switch
