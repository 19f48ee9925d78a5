"""Our dense LIDs and the port GUIDs by which OpenSM knows the same ports.

Dense LIDs are node ports that have a cable, by (node, port), then switches; with an LMC above 0 a node port has 2**LMC of them
in a row and a switch still one. ibsim does not take port GUIDs from its file: port p of a node has the node's GUID plus p,
port 0 of a switch the switch's GUID. So they are computed here, not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runflat import Machine


@dataclass(frozen=True)
class Endpoint:
    """A node port with a cable.

    Attributes
    ----------
    node, port : int
        The node's index among switches, then nodes, and the port's number.
    guid : int
        GUID of the port as ibsim makes it.
    """

    node: int
    port: int
    guid: int


@dataclass(frozen=True)
class Numbering:
    """Which dense LIDs a port GUID has.

    Attributes
    ----------
    endpoints : list of Endpoint
        Node ports in the order of their dense LIDs, dead ones included.
    switches : list of int
        GUID of each switch, dead ones included.
    lmc : int
        Each endpoint has 2**lmc dense LIDs.
    """

    endpoints: list[Endpoint]
    switches: list[int]
    lmc: int = 0

    @classmethod
    def of(cls, machine: Machine, lmc: int = 0) -> Numbering:
        """Number the ports of a machine.

        Parameters
        ----------
        machine : Machine
            The machine.
        lmc : int
            Base-2 logarithm of the number of LIDs of an endpoint, 0 to 7.

        Returns
        -------
        Numbering
            The numbering.
        """
        nodes = [int(guid, 16) for guid in machine.nodes().column("guid")]
        first = machine.switch_count
        plugs = {
            (row[end], row[f"{end}_port"])
            for row in machine.links().to_rows()
            for end in ("a", "b")
            if row[end] >= first
        }
        endpoints = [
            Endpoint(node, port, nodes[node - first] + port) for node, port in sorted(plugs)
        ]
        switches = [int(guid, 16) for guid in machine.switches().column("guid")]
        return cls(endpoints, switches, lmc)

    @property
    def width(self) -> int:
        """Number of LIDs of an endpoint."""
        return 1 << self.lmc

    @property
    def lid_count(self) -> int:
        """Number of dense LIDs."""
        return len(self.endpoints) * self.width + len(self.switches)

    def dense(self) -> dict[int, range]:
        """Return the dense LIDs of each port GUID, port 0 of switches included."""
        found = {
            endpoint.guid: range(at * self.width, (at + 1) * self.width)
            for at, endpoint in enumerate(self.endpoints)
        }
        first = len(self.endpoints) * self.width
        for at, guid in enumerate(self.switches):
            found[guid] = range(first + at, first + at + 1)
        return found
